import path from 'node:path';
import { counted } from '../../protocol/counted.ts';
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
  const changed = edited === undefined ? '' : 'You changed it: what runs is what Review… shows.';
  const unseen = needsReview(request, edited) && !reviewed;
  const shown = text && excerpt(text).text;
  const read = unseen ? readFirst : shown && isLong(shown) ? readThere : '';
  const parts = [inRun(run), note, shown, changeOf(plan, edited), plan.where, limitOf(plan), plan.why, changed];
  return {
    message: excerptLine(visibleLine(plan.what), longestLine).text,
    detail: [visible(parts.filter(Boolean).join('\n\n')), read].filter(Boolean).join('\n\n'),
  };
}

/** A title is a model's or a person's words: it ends where it is said to end. */
export function inRun(title: string | undefined): string | undefined {
  if (title === undefined) return undefined;
  const line = proseLine(title).replaceAll('”', '"');
  return `Asked in another run: “${shortened(line, longestTitle)}”`;
}
const longestTitle = 60;

/**
 * The editor's own dialogs are as narrow as their longest word and never scroll: a long text would push the buttons out of the
 * window. A sentence that cannot be broken makes them wider.
 */
const unbroken = (sentence: string) => sentence.replaceAll(' ', '\u00a0');
const readFirst = unbroken(
  'It can be allowed once you have reviewed it. Review… opens it in an editor, where it is easier to read; the buttons are above it.',
);
const readThere = unbroken(
  'Review… opens it in an editor, where it is easier to read and can be changed; the buttons to allow it are above it, too.',
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
  return [sentence(size), ...lines].join('\n');
}

const sentence = (words: string) => words[0]!.toUpperCase() + words.slice(1);

function limitOf({ timeLimit, background }: Plan): string {
  const limit = timeLimit === undefined ? undefined : timeWords(timeLimit);
  if (background) return `It goes on in the background ${limit ? `for ${limit} at most` : 'until it is stopped'}.`;
  return limit ? `It may take ${limit}.` : '';
}

/** @param seconds whole ones */
function timeWords(seconds: number): string {
  if (seconds % 3600 === 0) return counted(seconds / 3600, 'hour');
  return seconds % 60 === 0 ? counted(seconds / 60, 'minute') : counted(seconds, 'second');
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
  const all = waiting > 1 ? [`Deny All (${waiting})`] : [];
  if (needsReview(request, edited) && !reviewed) return [labels.review, ...all];
  if (edited !== undefined) return [labels.review, labels.allowChanged, ...all];
  const { grant, once } = request.plan;
  const yeses = [labels.allow, ...(grant === undefined || once ? [] : [labels.allowRun])];
  const lasting = always && !(oneByOne && all.length > 0) ? [labels.allowAlways] : [];
  return [labels.review, ...yeses, ...lasting, ...all].slice(0, 4);
}

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
    const about = visibleLine(plan.command === undefined ? plan.what : `Run: ${plan.command}`);
    const size = plan.change ? changeWords(plan.change).size : limitOf(plan);
    const what = size === '' || changed.has(request) ? about : `${about} · ${size}`;
    const why = whys.size > 1 ? ` (${visibleLine(plan.why)})` : '';
    return `${index + 1}. ${what}${why}${changed.has(request) ? ' – as you changed it' : ''}`;
  });
  const rest = waiting - requests.length;
  const parts = [
    inRun(run),
    lines.join('\n'),
    `In ${visible(commonFolder(requests))}`,
    whys.size === 1 && visible([...whys][0]!),
    rest > 0 && `${rest} more will be asked about after this. Cancel says no to all ${waiting}.`,
  ];
  const commands = requests.filter(({ plan }) => plan.command !== undefined).length;
  const kinds = [some(requests.length - commands, 'change'), some(commands, 'command')];
  return { message: kinds.filter(Boolean).join(' and '), detail: parts.filter(Boolean).join('\n\n') };
}

/**
 * For a notification, its progress or an input box's prompt, in which the editor makes links of `[text](command:…)`, and a
 * click runs that command: text from a model, a file or a server must not become one.
 */
export const withoutLinks = (text: string): string => visibleLine(text).replaceAll('](', '] (');

const some = (number: number, noun: string) => (number > 0 ? counted(number, noun) : '');

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
