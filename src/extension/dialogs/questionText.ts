import path from 'node:path';
import { amount, type Sentence, t } from '../../protocol/l10n.ts';
import { proseLine, shortened, visible, visibleLine } from '../../protocol/visible.ts';
import type { ApprovalRequest, Plan } from '../../tools/tool.ts';
import { changeWords } from './changeWords.ts';
import { excerpt, excerptLine } from './excerpt.ts';

/** The words of a native question. Plain text: dialogs show it as it is, and nothing in it is hidden. */
export interface QuestionText {
  message: string;
  detail: string;
}

/**
 * @param edited what the person has made of it in a review; `reviewed`: it was opened in one
 * @param run the title of the run that asks, when it is not the one that is shown
 */
export function questionText(request: ApprovalRequest, edited?: string, reviewed = false, run?: string): QuestionText {
  const { plan, note } = request;
  const text = textOf(request, edited);
  const changed = edited === undefined ? '' : t('You changed it: what runs is what {0} shows.', t(labels.review));
  const unseen = needsReview(request, edited) && !reviewed;
  const shown = text && excerpt(text).text;
  const read = unseen ? readFirst() : shown && isLong(shown) ? readThere() : '';
  const parts = [note, shown, changeOf(plan, edited), plan.where, limitOf(plan), plan.why, changed];
  return {
    message: titled(excerptLine(visibleLine(plan.what), longestLine).text, run),
    detail: [visible(parts.filter(Boolean).join('\n\n')), read].filter(Boolean).join('\n\n'),
  };
}

/** The title of a dialog; `run` is the title of its run, when that is not the shown one. */
const titled = (what: string, run: string | undefined): string =>
  run === undefined ? what : t('{0} (run “{1}”)', what, nameOfRun(run));

/** A title is text of a model or the user: it must not imitate its own end. */
export const nameOfRun = (title: string): string => shortened(proseLine(title).replaceAll('”', '"'), longestTitle);
const longestTitle = 60;

/**
 * The editor's own dialogs are as narrow as their longest word and never scroll: a long text would push the buttons out of the
 * window. A sentence that cannot be broken makes them wider.
 */
const unbroken = (sentence: string) => sentence.replaceAll(' ', '\u00a0');
const readFirst = () =>
  unbroken(
    t(
      'It can be allowed once you have reviewed it. {0} opens it in an editor, where it is easier to read; the buttons are above it.',
      t(labels.review),
    ),
  );
const readThere = () =>
  unbroken(
    t(
      '{0} opens it in an editor, where it is easier to read and can be changed; the buttons to allow it are above it, too.',
      t(labels.review),
    ),
  );

/** Characters of a line of a narrow dialog, and its lines that leave room for everything else. */
const isLong = (text: string) =>
  text.split('\n').reduce((rows, line) => rows + Math.max(1, Math.ceil(line.length / 55)), 0) > 10;

/** A dialog cannot show all of what it asks, so that it is no place to allow it from. */
export function needsReview(request: ApprovalRequest, edited?: string): boolean {
  const text = textOf(request, edited);
  const whole = excerptLine(visibleLine(request.plan.what), longestLine).whole;
  return !whole || (text !== undefined && !excerpt(text).whole);
}

/** The command or the arguments, as they would run. */
function textOf({ plan }: ApprovalRequest, edited: string | undefined): string | undefined {
  const proposed = plan.command ?? plan.details;
  return proposed === undefined ? undefined : (edited ?? proposed);
}

function changeOf({ change }: Plan, edited: string | undefined): string {
  if (!change) return '';
  const { size, lines } = changeWords({ ...change, after: edited ?? change.after });
  return [begun(size), ...lines].join('\n');
}

/** As a line begins. */
const begun = (words: string) => words[0]!.toUpperCase() + words.slice(1);

function limitOf({ timeLimit, background }: Plan): string {
  const limit = timeLimit === undefined ? undefined : timeWords(timeLimit);
  if (background)
    return limit
      ? t('It goes on in the background for {0} at most.', limit)
      : t('It goes on in the background until it is stopped.');
  return limit ? t('It may take {0}.', limit) : '';
}

/** @param seconds whole ones */
function timeWords(seconds: number): Sentence {
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
  /** Questions of the same reply that still wait, this one included. */
  waiting: number;
  /** The person chose to answer them one by one. */
  oneByOne: boolean;
}

/** The buttons of a single question; with the Cancel that the editor adds, never more than five. Enter presses the first. */
export function buttonsOf(request: ApprovalRequest, offers: Offers): string[] {
  const { edited, reviewed, always, waiting, oneByOne } = offers;
  const all = waiting > 1 ? [denyAll(waiting)] : [];
  const review = t(labels.review);
  if (needsReview(request, edited) && !reviewed) return [review, ...all];
  if (edited !== undefined) return [review, t(labels.allowChanged), ...all];
  const { grant, once } = request.plan;
  const yeses = [t(labels.allow), ...(grant === undefined || once ? [] : [t(labels.allowRun)])];
  const lasting = always && !(oneByOne && all.length > 0) ? [t(labels.allowAlways)] : [];
  return [review, ...yeses, ...lasting, ...all].slice(0, 4);
}

/**
 * Buttons as they are given to the editor, which puts the first at one end, with the focus, and elsewhere than on Windows Cancel beside it.
 * There the yes goes to the other end, where Tab leads to: Enter alone never allows, and two keys do. On Windows it stands beside the first.
 */
export const inReach = ([first, yes, ...others]: string[], platform: NodeJS.Platform = process.platform): string[] =>
  [first, ...(platform === 'win32' ? [yes, ...others] : [...others, yes])].filter((one) => one !== undefined);

export const denyAll = (waiting: number): string => t('Deny All ({0})', waiting);

/** Each is told by `t`. */
export const labels = {
  review: 'Review…',
  allow: 'Allow',
  allowChanged: 'Allow As Changed',
  allowRun: 'Allow for This Run',
  allowAlways: 'Always Allow…',
  oneByOne: 'One by One',
  denyWithWords: 'Deny With Words…',
} as const;

/** Questions that one dialog lists; more would not fit on a small screen. */
export const listLimit = 12;

/**
 * It can be allowed with others: nothing about it is left out in a list of one line each, and no place is concerned that is
 * always asked about by itself.
 */
export function isListable({ plan, note }: ApprovalRequest): boolean {
  const whole =
    plan.what.length <= longestLine &&
    (plan.command === undefined || (plan.command.length <= 160 && !plan.command.includes('\n')));
  return plan.grant !== undefined && note === undefined && whole && plan.details === undefined;
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
  const whys = new Set(requests.map(({ plan }) => plan.why));
  const lines = requests.map((request, index) => {
    const { plan } = request;
    const about = visibleLine(plan.command === undefined ? plan.what : t('Run: {0}', plan.command));
    const size = plan.change ? changeWords(plan.change).size : limitOf(plan);
    const what = size === '' || changed.has(request) ? about : `${about} · ${size}`;
    const why = whys.size > 1 ? ` (${visibleLine(plan.why)})` : '';
    return `${index + 1}. ${changed.has(request) ? t('{0} – as you changed it', what + why) : what + why}`;
  });
  const rest = waiting - requests.length;
  const parts = [
    lines.join('\n'),
    t('In {0}', visible(commonFolder(requests))),
    whys.size === 1 && visible([...whys][0]!),
    rest > 0 && t('{0} more will be asked about after this. Cancel says no to all {1}.', rest, waiting),
  ];
  const commands = requests.filter(({ plan }) => plan.command !== undefined).length;
  const changes = requests.length - commands;
  return { message: titled(countWords(changes, commands), run), detail: parts.filter(Boolean).join('\n\n') };
}

function countWords(changes: number, commands: number): string {
  if (commands === 0) return t(amount(changes, 'change'));
  if (changes === 0) return t(amount(commands, 'command'));
  return t('{0} and {1}', amount(changes, 'change'), amount(commands, 'command'));
}

/**
 * For a notification, its progress or an input box's prompt, in which the editor makes links of `[text](command:…)`, and a
 * click runs that command: text from a model, a file or a server must not become one.
 */
export const withoutLinks = (text: string): string => visibleLine(text).replaceAll('](', '] (');

/** The deepest folder that holds everything that is asked about. */
function commonFolder(requests: readonly ApprovalRequest[]): string {
  const folders = requests.map(({ plan }) => (plan.command === undefined ? path.dirname(plan.where) : plan.where));
  let common = folders[0]!;
  while (folders.some((folder) => folder !== common && !folder.startsWith(withEnd(common)))) {
    const outer = path.dirname(common);
    if (outer === common) break;
    common = outer;
  }
  return common;
}

const withEnd = (folder: string) => (folder.endsWith(path.sep) ? folder : folder + path.sep);

/** Characters of the line that a dialog begins with: more of a stranger's words would push everything else out of it. */
const longestLine = 300;
