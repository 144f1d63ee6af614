import {
  escapeInvisible,
  escapeInvisibleInLine,
  escapeInvisibleInProseLine,
} from '../../protocol/text/escapeInvisible.ts';
import { type LocalizedMessage, localizedCount, t } from '../../protocol/text/l10n.ts';
import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';
import type { ApprovalRequest, ApprovalRequestPlan, ToolCallPlan } from '../../tools/core/tool.ts';
import { fileChangeText } from './changeText.ts';
import { excerptForDialog, excerptLineForDialog } from './dialogExcerpt.ts';

/** Text of a native dialog: plain text without hidden characters. */
export interface ApprovalText {
  message: string;
  detail: string;
}

/** Titles that name the origin of a request: of its run, if not the shown one, and of its task, if not the run's own. */
export interface ApprovalOrigin {
  run?: string;
  task?: string;
}

/**
 * Returns a title, the text to allow and up to four further lines if applicable: location, loss, reason, and the model's own reason.
 * @param edited the user's version from a review; `reviewed`: the review was opened
 */
export function approvalText(
  request: ApprovalRequest,
  edited?: string,
  reviewed = false,
  origin?: ApprovalOrigin,
): ApprovalText {
  const { plan, note } = request;
  const text = textOf(request, edited);
  const changed = edited === undefined ? '' : t('You changed it. {0} shows what runs.', t(approvalButtonLabels.review));
  const reasons = [note, changed, plan.why].filter(Boolean).map((one) => escapeInvisibleInLine(one!));
  const unseen = needsReviewEditor(request, edited) && !reviewed;
  const allowed = [text && excerptForDialog(text).text, escapeInvisible(changeOf(plan, edited))]
    .filter(Boolean)
    .join('\n\n');
  const lines = [
    locationLine(plan),
    plan.loss && escapeInvisibleInLine(plan.loss.text),
    unseen ? [...reasons, readFirst()].join(' ') : reasons.join(' '),
    plan.sandbox === 'outside' && plan.modelReason !== undefined && t('“{0}”', safeModelReason(plan.modelReason)),
  ];
  return {
    message: titled(excerptLineForDialog(escapeInvisibleInLine(titleOf(plan)), longestLine).text, origin),
    detail: [allowed, lines.filter(Boolean).join('\n')].filter(Boolean).join('\n\n'),
  };
}

function locationLine(plan: ApprovalRequestPlan): string {
  const [location, limit] = [locationOf(plan), limitOf(plan)];
  return location === undefined ? begun(limit) : [location, limit].filter(Boolean).join(' · ');
}

function titleOf({ what, command, background, sandbox }: ApprovalRequestPlan): string {
  if (command === undefined) return what;
  if (sandbox === 'outside') return t('Run this command outside the sandbox?');
  return background ? t('Run this command in the background?') : t('Run this command?');
}

// Returns the location; undefined for the workspace root, and for files named in the title.
function locationOf({ what, command, folder, where, paths = [], change }: ApprovalRequestPlan): string | undefined {
  if (command !== undefined) {
    const location = folder ?? where;
    return location === '.' ? undefined : t('In {0}', escapeInvisibleInLine(location));
  }
  const named = [...paths, ...(change ? [change.path] : [])];
  const isNamed = (line: string) => {
    if (what.includes(line)) return true;
    const location = line.replace(/^→ /, '').replaceAll('\\', '/');
    return named.some((one) => location === one || location.endsWith(`/${one}`));
  };
  return where.split('\n').every(isNamed) ? undefined : escapeInvisibleInLine(where);
}

function titled(what: string, { run, task }: ApprovalOrigin = {}): string {
  if (task === undefined) return run === undefined ? what : t('{0} (run “{1}”)', what, safeRunTitle(run));
  if (run === undefined) return t('{0} (task “{1}”)', what, safeRunTitle(task));
  const [ofTask, ofRun] = [task, run].map((title) => quotable(title, longestOfTwoTitles));
  return t('{0} (task “{1}” of run “{2}”)', what, ofTask!, ofRun!);
}

/** Formats the title of a run or a task: text of a model or a user must not imitate the end of the title. */
export const safeRunTitle = (title: string): string => quotable(title, longestTitle);
const [longestTitle, longestOfTwoTitles] = [60, 40];

const safeModelReason = (reason: string): string => quotable(reason, longestModelReason);
const longestModelReason = 200;

/** Shortens text for “ ”, whose end it must not imitate. */
const quotable = (text: string, longest: number): string =>
  truncateWithEllipsis(escapeInvisibleInProseLine(text).replaceAll(/[“”„]/g, '"'), longest);

/**
 * Prevents line breaks: the editor's dialogs are as narrow as their longest word and never scroll, so long text would push the buttons out
 * of the window. A sentence without breaks widens the dialog.
 */
const unbroken = (sentence: string) => sentence.replaceAll(' ', '\u00a0');
const readFirst = () =>
  unbroken(t('It does not fit here. {0} shows all of it and can allow it.', t(approvalButtonLabels.review)));
/** Tests if a dialog is too small for the whole request and therefore must not offer *Allow*. */
export function needsReviewEditor(request: ApprovalRequest, edited?: string): boolean {
  const text = textOf(request, edited);
  const whole = excerptLineForDialog(escapeInvisibleInLine(titleOf(request.plan)), longestLine).whole;
  return !whole || (text !== undefined && !excerptForDialog(text).whole);
}

function textOf({ plan }: ApprovalRequest, edited: string | undefined): string | undefined {
  const proposed = plan.command ?? plan.details;
  return proposed === undefined ? undefined : (edited ?? proposed);
}

function changeOf({ change }: ToolCallPlan, edited: string | undefined): string {
  if (!change) return '';
  const { size, lines } = fileChangeText({ ...change, after: edited ?? change.after });
  return [begun(size), ...lines].join('\n');
}

const begun = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);

function limitOf({ timeLimit }: ToolCallPlan): string {
  return timeLimit === undefined ? '' : t('for {0} at most', durationText(timeLimit));
}

/** @param seconds integer */
function durationText(seconds: number): LocalizedMessage {
  if (seconds % 3600 === 0) return localizedCount(seconds / 3600, 'hour');
  return seconds % 60 === 0 ? localizedCount(seconds / 60, 'minute') : localizedCount(seconds, 'second');
}

interface ApprovalButtonInputs {
  edited?: string;
  reviewed: boolean;
  always: boolean;
}

/** Returns the buttons of a single approval; with the editor's Cancel at most five. Enter presses the first. */
export function approvalButtons(
  request: ApprovalRequest,
  { edited, reviewed, always }: ApprovalButtonInputs,
): string[] {
  const review = t(approvalButtonLabels.review);
  if (needsReviewEditor(request, edited) && !reviewed) return [review];
  if (edited !== undefined) return [review, t(approvalButtonLabels.allowChanged)];
  const { grant, once, sandbox, allowableFolder } = request.plan;
  if (sandbox === 'outside' && allowableFolder !== undefined)
    return [
      review,
      ...[t(approvalButtonLabels.allowFolder), t(approvalButtonLabels.runOutside)],
      ...(always ? [t(approvalButtonLabels.allowAlways)] : []),
    ];
  const forRun = grant === undefined || once ? [] : [t(approvalButtonLabels.allowRun)];
  const allow = t(sandbox === 'outside' ? approvalButtonLabels.runOutside : approvalButtonLabels.allow);
  return [review, allow, ...forRun, ...(always ? [t(approvalButtonLabels.allowAlways)] : [])];
}

/**
 * Orders buttons for the editor, which puts the first button at the end with the focus, and Cancel next to it (except on Windows). *Allow*
 * goes to the other end, reached by one Tab: Enter alone never allows. On Windows *Allow* is next to the first button.
 */
export const orderDialogButtons = (
  [first, yes, ...others]: string[],
  platform: NodeJS.Platform = process.platform,
): string[] =>
  [first, ...(platform === 'win32' ? [yes, ...others] : [...others, yes])].filter((one) => one !== undefined);

export const approvalButtonLabels = {
  review: 'Review…',
  allow: 'Allow',
  allowFolder: 'Allow This Folder',
  runOutside: 'Run Outside Sandbox',
  allowChanged: 'Allow as Changed',
  allowRun: 'Allow for This Run',
  allowAlways: 'Always Allow…',
  oneByOne: 'One by One',
} as const;

export const maxListedApprovals = 12;

/** Tests if an approval fits on a single line of a list: nothing is omitted, no protected path is concerned, and no command leaves the sandbox. */
export function fitsApprovalList({ plan, note }: ApprovalRequest): boolean {
  const { command, details, grant, loss, outputs = [], sandbox } = plan;
  if (
    sandbox === 'outside' ||
    grant === undefined ||
    note !== undefined ||
    details !== undefined ||
    loss ||
    outputs.length > 0
  )
    return false;
  if (command === undefined) return plan.what.length <= longestLine && locationOf(plan) === undefined;
  return command.length <= 160 && /^\S+(?: \S+)*$/.test(command);
}

/**
 * Returns the text for several approvals, a line for each.
 * @param waiting total number of waiting approvals; `changed`: approvals edited in a review
 */
export function approvalBatchText(
  requests: readonly ApprovalRequest[],
  waiting: number,
  changed: ReadonlySet<ApprovalRequest> = new Set(),
  origin?: ApprovalOrigin,
): ApprovalText {
  const lines = requests.map((request, index) => {
    const { plan } = request;
    const { command } = plan;
    const subject =
      command === undefined ? escapeInvisibleInLine(plan.what) : runText(plan, escapeInvisibleInLine(command));
    const size = plan.change ? fileChangeText(plan.change).size : limitOf(plan);
    const folder = command === undefined ? undefined : plan.folder;
    const location = folder === undefined || folder === '.' ? '' : t('in {0}', escapeInvisibleInLine(folder));
    const what = [subject, ...(changed.has(request) ? [] : [size]), location].filter(Boolean).join(' · ');
    return `${index + 1}. ${changed.has(request) ? t('{0} – as changed by you', what) : what}`;
  });
  const rest = waiting - requests.length;
  const more = rest > 0 && t('{0} more after this. Cancel denies all {1}.', rest, waiting);
  return {
    message: titled(t('Allow {0} calls?', requests.length), origin),
    detail: [lines.join('\n'), more].filter(Boolean).join('\n\n'),
  };
}

const runText = ({ background }: ToolCallPlan, command: string): string =>
  background ? t('Run {0} in the background', command) : t('Run {0}', command);

/**
 * Disables command links `[text](command:…)` for notifications, progress texts and prompts of input boxes: text of a model, a file or a
 * server must not become a link.
 */
export const disableCommandLinks = (text: string): string => escapeInvisibleInLine(text).replaceAll('](', '] (');

/** Maximum characters of the first line: longer third-party text would push out the rest. */
const longestLine = 300;
