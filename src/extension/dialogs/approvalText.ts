import { proseLine, truncateVisible, visible, visibleLine } from '../../protocol/text/escapeInvisible.ts';
import { amount, type LocalizedMessage, t } from '../../protocol/text/l10n.ts';
import type { ApprovalRequest, AskedPlan, CallPlan } from '../../tools/core/tool.ts';
import { changeText } from './changeText.ts';
import { dialogExcerpt, excerptLine } from './dialogExcerpt.ts';

/** The words of a native question. Plain text: dialogs show it as it is, and nothing in it is hidden. */
export interface QuestionText {
  message: string;
  detail: string;
}

/**
 * Returns a title, the text that is allowed and at most three further lines, each only if it applies: where it happens, what would be
 * lost, and why it asks.
 * @param edited what the person has made of it in a review; `reviewed`: it was opened in one
 * @param run the title of the run that asks, when it is not the one that is shown
 */
export function questionText(request: ApprovalRequest, edited?: string, reviewed = false, run?: string): QuestionText {
  const { plan, note } = request;
  const text = textOf(request, edited);
  const changed = edited === undefined ? '' : t('You changed it. {0} shows what runs.', t(labels.review));
  const reasons = [note, changed, plan.why].filter(Boolean).map((one) => visibleLine(one!));
  const unseen = needsReview(request, edited) && !reviewed;
  const allowed = [text && dialogExcerpt(text).text, visible(changeOf(plan, edited))].filter(Boolean).join('\n\n');
  const lines = [
    placeOf(plan),
    plan.loss && visibleLine(plan.loss.text),
    unseen ? [...reasons, readFirst()].join(' ') : reasons.join(' '),
  ];
  return {
    message: titled(excerptLine(visibleLine(titleOf(plan)), longestLine).text, run),
    detail: [allowed, lines.filter(Boolean).join('\n')].filter(Boolean).join('\n\n'),
  };
}

/** The line that says where it happens, and for how long it may. */
function placeOf(plan: AskedPlan): string {
  const [location, limit] = [locationOf(plan), limitOf(plan)];
  return location === undefined ? begun(limit) : [location, limit].filter(Boolean).join(' · ');
}

function titleOf({ what, command, background }: CallPlan & { what: string }): string {
  if (command === undefined) return what;
  return background ? t('Run this command in the background?') : t('Run this command?');
}

/** The line that says where it happens; undefined for the root of the workspace, and for files that the title names. */
function locationOf({ command, folder, where, paths = [], change }: AskedPlan): string | undefined {
  if (command !== undefined) {
    const place = folder ?? where;
    return place === '.' ? undefined : t('In {0}', visibleLine(place));
  }
  const named = [...paths, ...(change ? [change.path] : [])];
  const isNamed = (line: string) => {
    const place = line.replace(/^→ /, '').replaceAll('\\', '/');
    return named.some((one) => place === one || place.endsWith(`/${one}`));
  };
  return where.split('\n').every(isNamed) ? undefined : visibleLine(where);
}

/** The title of a dialog; `run` is the title of its run, when that is not the shown one. */
const titled = (what: string, run: string | undefined): string =>
  run === undefined ? what : t('{0} (run “{1}”)', what, nameOfRun(run));

/** A title is text of a model or the user: it must not imitate its own end. */
export const nameOfRun = (title: string): string =>
  truncateVisible(proseLine(title).replaceAll('”', '"'), longestTitle);
const longestTitle = 60;

/**
 * The editor's own dialogs are as narrow as their longest word and never scroll: a long text would push the buttons out of the
 * window. A sentence that cannot be broken makes them wider.
 */
const unbroken = (sentence: string) => sentence.replaceAll(' ', '\u00a0');
const readFirst = () => unbroken(t('It does not fit here. {0} shows all of it and can allow it.', t(labels.review)));
/** A dialog cannot show all of what it asks, so that it is no place to allow it from. */
export function needsReview(request: ApprovalRequest, edited?: string): boolean {
  const text = textOf(request, edited);
  const whole = excerptLine(visibleLine(titleOf(request.plan)), longestLine).whole;
  return !whole || (text !== undefined && !dialogExcerpt(text).whole);
}

/** The command or the arguments, as they would run. */
function textOf({ plan }: ApprovalRequest, edited: string | undefined): string | undefined {
  const proposed = plan.command ?? plan.details;
  return proposed === undefined ? undefined : (edited ?? proposed);
}

function changeOf({ change }: CallPlan, edited: string | undefined): string {
  if (!change) return '';
  const { size, lines } = changeText({ ...change, after: edited ?? change.after });
  return [begun(size), ...lines].join('\n');
}

/** As a line begins. */
const begun = (words: string) => words.slice(0, 1).toUpperCase() + words.slice(1);

function limitOf({ timeLimit }: CallPlan): string {
  return timeLimit === undefined ? '' : t('for {0} at most', timeWords(timeLimit));
}

/** @param seconds whole ones */
function timeWords(seconds: number): LocalizedMessage {
  if (seconds % 3600 === 0) return amount(seconds / 3600, 'hour');
  return seconds % 60 === 0 ? amount(seconds / 60, 'minute') : amount(seconds, 'second');
}

/** What the buttons of a question depend on besides its plan. */
export interface Offers {
  /** What the person has made of it in a review. */
  edited?: string;
  /** The person has seen all of it in a review. */
  reviewed: boolean;
  /** There is a rule that *Always Allow…* could make. */
  always: boolean;
}

/** The buttons of a single question; with the Cancel that the editor adds, never more than five. Enter presses the first. */
export function buttonsOf(request: ApprovalRequest, { edited, reviewed, always }: Offers): string[] {
  const review = t(labels.review);
  if (needsReview(request, edited) && !reviewed) return [review];
  if (edited !== undefined) return [review, t(labels.allowChanged)];
  const { grant, once } = request.plan;
  const forRun = grant === undefined || once ? [] : [t(labels.allowRun)];
  return [review, t(labels.allow), ...forRun, ...(always ? [t(labels.allowAlways)] : [])];
}

/**
 * Buttons as they are given to the editor, which puts the first at one end, with the focus, and elsewhere than on Windows Cancel beside it.
 * There the yes goes to the other end, where Tab leads to: Enter alone never allows, and two keys do. On Windows it stands beside the first.
 */
export const inReach = ([first, yes, ...others]: string[], platform: NodeJS.Platform = process.platform): string[] =>
  [first, ...(platform === 'win32' ? [yes, ...others] : [...others, yes])].filter((one) => one !== undefined);

/** Each is told by `t`. */
export const labels = {
  review: 'Review…',
  allow: 'Allow',
  allowChanged: 'Allow as Changed',
  allowRun: 'Allow for This Run',
  allowAlways: 'Always Allow…',
  oneByOne: 'One by One',
} as const;

/** Questions that one dialog lists; more would not fit on a small screen. */
export const listLimit = 12;

/**
 * It can be allowed with others: nothing about it is left out in a list of one line each, and no place is concerned that is
 * always asked about by itself.
 */
export function isListable({ plan, note }: ApprovalRequest): boolean {
  const { command, details, grant, loss, outputs = [] } = plan;
  if (grant === undefined || note !== undefined || details !== undefined || loss || outputs.length > 0) return false;
  if (command === undefined) return plan.what.length <= longestLine && locationOf(plan) === undefined;
  return command.length <= 160 && /^\S+(?: \S+)*$/.test(command);
}

/**
 * Several questions in one dialog, each with a line of its own.
 * @param waiting how many wait in all; `changed`: those that the person has changed in a review
 */
export function batchText(
  requests: readonly ApprovalRequest[],
  waiting: number,
  changed: ReadonlySet<ApprovalRequest> = new Set(),
  run?: string,
): QuestionText {
  const lines = requests.map((request, index) => {
    const { plan } = request;
    const { command } = plan;
    const about = command === undefined ? visibleLine(plan.what) : runWords(plan, visibleLine(command));
    const size = plan.change ? changeText(plan.change).size : limitOf(plan);
    const folder = command === undefined ? undefined : plan.folder;
    const place = folder === undefined || folder === '.' ? '' : t('in {0}', visibleLine(folder));
    const what = [about, ...(changed.has(request) ? [] : [size]), place].filter(Boolean).join(' · ');
    return `${index + 1}. ${changed.has(request) ? t('{0} – as changed by you', what) : what}`;
  });
  const rest = waiting - requests.length;
  const more = rest > 0 && t('{0} more after this. Cancel denies all {1}.', rest, waiting);
  return {
    message: titled(t('Allow {0} calls?', requests.length), run),
    detail: [lines.join('\n'), more].filter(Boolean).join('\n\n'),
  };
}

const runWords = ({ background }: CallPlan, command: string): string =>
  background ? t('Run {0} in the background', command) : t('Run {0}', command);

/**
 * For a notification, its progress or an input box's prompt, in which the editor makes links of `[text](command:…)`, and a
 * click runs that command: text from a model, a file or a server must not become one.
 */
export const withoutLinks = (text: string): string => visibleLine(text).replaceAll('](', '] (');

/** Characters of the line that a dialog begins with: more of a stranger's words would push everything else out of it. */
const longestLine = 300;
