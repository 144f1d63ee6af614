import path from 'node:path';
import { visible, visibleLine } from '../protocol/visible.ts';
import type { ApprovalRequest } from '../tools/tool.ts';

/** The words of a native question. Plain text: dialogs show it as it is, and nothing in it is hidden. */
export interface QuestionText {
  message: string;
  detail: string;
}

/** @param edited what the person has made of it in a review */
export function questionText({ plan, note }: ApprovalRequest, edited?: string): QuestionText {
  const proposed = plan.command ?? plan.details;
  const shown = proposed === undefined ? undefined : (edited ?? proposed);
  const changed = edited === undefined ? '' : 'You changed it: what runs is what Review… shows.';
  const parts = [note, shown && shorten(shown), plan.where, plan.why, changed];
  return { message: shortLine(plan.what), detail: visible(parts.filter(Boolean).join('\n\n')) };
}

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
): QuestionText {
  const whys = new Set(requests.map(({ plan }) => plan.why));
  const lines = requests.map((request, index) => {
    const { plan } = request;
    const what = visibleLine(plan.command === undefined ? plan.what : `Run: ${plan.command}`);
    const why = whys.size > 1 ? ` (${visibleLine(plan.why)})` : '';
    return `${index + 1}. ${what}${why}${changed.has(request) ? ' – as you changed it' : ''}`;
  });
  const rest = waiting - requests.length;
  const parts = [
    lines.join('\n'),
    `In ${visible(commonFolder(requests))}`,
    whys.size === 1 && visible([...whys][0]!),
    rest > 0 && `${rest} more will be asked about after this. Cancel says no to all ${waiting}.`,
  ];
  const commands = requests.filter(({ plan }) => plan.command !== undefined).length;
  const kinds = [count(requests.length - commands, 'change'), count(commands, 'command')];
  return { message: kinds.filter(Boolean).join(' and '), detail: parts.filter(Boolean).join('\n\n') };
}

/**
 * For a notification, its progress or an input box's prompt, in which the editor makes links of `[text](command:…)`, and a
 * click runs that command: text from a model, a file or a server must not become one.
 */
export const withoutLinks = (text: string): string => visibleLine(text).replaceAll('](', '] (');

const count = (number: number, noun: string) => (number > 0 ? `${number} ${noun}${number > 1 ? 's' : ''}` : '');

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

function shortLine(text: string): string {
  const line = visibleLine(text);
  return line.length > longestLine
    ? `${line.slice(0, longestLine)}… (${line.length - longestLine} more characters)`
    : line;
}

/** A dialog shows about 20 lines; a longer command is for *Review…*, and the dialog says so. */
function shorten(command: string): string {
  const lines = command.split('\n');
  const text = lines.slice(0, 12).join('\n').slice(0, 1200);
  return text.length < command.length
    ? `${text}\n… (${command.length - text.length} more characters: Review… shows all)`
    : text;
}
