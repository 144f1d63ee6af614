import type { ApprovalBasis } from '../content/approvalBasis.ts';
import type { ErrorInfo, SystemNote } from '../content/messages.ts';
import type { AbortReason, OutcomeReason } from '../text/codes.ts';
import { type LocalizedMessage, message } from '../text/l10n.ts';
import type { MessageLinks } from '../text/links.ts';
import { joinLocalizableTexts, type LocalizableText } from '../text/localized.ts';

/*
 * Codes of English text that earlier versions stored without a code. Texts and patterns in this file are literal copies of stored text:
 * never reword them, and never add any. New text is stored with its code.
 */

/** Returns the reason of a failed call, also from records of earlier versions; undefined: the code is sufficient. */
export function outcomeReasonOf({ code, message, details }: ErrorInfo): OutcomeReason | undefined {
  const { reason } = Object(details) as { reason?: unknown };
  if (typeof reason === 'string') return reason as OutcomeReason;
  return formerOutcomes.find(([of, begins]) => of === code && message.startsWith(begins))?.[2];
}

const formerOutcomes: readonly [code: string, begins: string, reason: OutcomeReason][] = [
  ['TOOL_DENIED', 'Too many calls in one answer: only the first ', 'TOO_MANY_CALLS'],
  ['TOOL_DENIED', 'The run ended before this was answered.', 'RUN_ENDED'],
  ['TOOL_INTERRUPTED', 'The run ended ', 'RUN_ENDED'],
  ['TOOL_INTERRUPTED', 'This run was imported from a file.', 'IMPORTED'],
  ['TOOL_EXEC_FAILED', 'It wrote more than ', 'OUTPUT_LIMIT'],
  ['TOOL_ARGS_INVALID', 'pattern: ', 'PATTERN_INVALID'],
];

/** Returns the abort reason of a run, also from records of earlier versions; undefined: the user stopped the run. */
export function abortReasonOf({ code, message, reason }: ErrorInfo): AbortReason | undefined {
  if (code !== 'ENGINE_ABORTED') return undefined;
  return reason === 'closed' || message === formerClosed ? 'closed' : undefined;
}

const formerClosed =
  'The editor closed while this run was at work. Nothing was lost; what had not been answered did not run.';

export function linksOfEarlierVersionMessage(message: string): MessageLinks {
  const titles = [...message.matchAll(/\*Towpath: ([^*\n]{1,60})\*/g)];
  const commands = titles.flatMap(([, title]) => formerCommands.get(title!) ?? []);
  return { commands, setting: /\btowpath(\.\w+)+/.exec(message)?.[0] };
}

const formerCommands: ReadonlyMap<string, string> = new Map([
  ['Set API Key', 'towpath.setKey'],
  ['Set Secret of a Header', 'towpath.setSecret'],
  ['Forget API Key', 'towpath.deleteKey'],
  ['Use an Endpoint', 'towpath.useEndpoint'],
  ['Pick Model…', 'towpath.pickModel'],
  ['Manage Models…', 'towpath.manageModels'],
  ['Add GPU Engine…', 'towpath.addGpuEngine'],
  ['Show Log', 'towpath.showLog'],
]);

/** Returns the basis of a decision that an earlier version stored as a sentence only; undefined: unknown sentence. */
export function approvalBasisOfFormerText(automatic: string): ApprovalBasis | undefined {
  const known = formerBases.find(([sentence]) => sentence === automatic);
  if (known) return known[1];
  const grant = /^Allowed earlier in this run: (.*)\.$/s.exec(automatic)?.[1];
  if (grant !== undefined) return { by: 'grant', grant };
  const named = /^(?:Allowed|Denied) by (.*)\.$/s.exec(automatic)?.[1] ?? '';
  const rules = named.split(/ and (?=your rule(?: for this workspace)? “)/).flatMap((rule) => {
    const [, here, what] = /^your rule( for this workspace)? “(.*)”$/s.exec(rule) ?? [];
    return what === undefined ? [] : [{ scope: here ? 'workspace' : 'user', what }];
  });
  return rules.length > 0 ? { by: 'rules', rules } : undefined;
}

const formerBases: readonly [sentence: string, basis: ApprovalBasis][] = [
  ['Allowed because this command only reads.', { by: 'read-only-command' }],
  ['Allowed because reads are free.', { by: 'preset', preset: 'reads-free' }],
  ['Allowed because edits are free.', { by: 'preset', preset: 'edits-free' }],
  ['Allowed because autopilot is on.', { by: 'preset', preset: 'autopilot' }],
  ['It ends a command of this run.', { by: 'command-of-run' }],
  ["The run's own.", { by: 'of-run' }],
];

/** Returns the note of a system message that has none; unknown text is a note about its first line. */
export function noteOfFormerText(content: string): SystemNote {
  const [, way, paths = ''] =
    /^The (?:person|user) has (un|re)done your changes of: ([\s\S]*)\. Read again before you edit\.$/.exec(content) ??
    [];
  if (way)
    return {
      line: message(way === 'un' ? 'You undid the changes in {0}' : 'You redid the changes in {0}', paths),
      whole: true,
    };
  const first = content.trim().split('\n', 1)[0]!;
  const end = /^The command "(.*)" \([^()]*\) in the background (.*?)\.(?: What it wrote: output\.read .*)?$/.exec(
    first,
  );
  if (end) return { line: commandEndLine(end[1]!.replace(/\\(["\\])/g, '$1'), end[2]!.replace('the person', 'you')) };
  if (first.startsWith('Of files that you have come to,'))
    return { line: message('Instructions of this workspace for the files that the model has opened') };
  const edit = /^The person( \(or a command\))? has (.*)$/.exec(first);
  if (!edit) return { line: message('The model is informed: {0}', formerNoteText(first)) };
  const did = formerNoteText(`have ${inUserView(edit[2]!)}`);
  const english = edit[1] ? 'The model is informed: you (or a command) {0}' : 'The model is informed: you {0}';
  return { line: message(english, did) };
}

function commandEndLine(command: string, how: string): LocalizedMessage {
  const [, ended = '', left] = /^(.*?)(?:\. Still (?:running|at work of it): (.*))?$/.exec(how) ?? [];
  const line = message('The model is informed: the background command “{0}” {1}', command, formerNoteText(ended));
  return left === undefined ? line : { english: '{0}. {1}', values: [line, message('Still running: {0}', left)] };
}

// Converts a change by the user from the model's view (“your” work) to `formerNoteForms`, with the model as “it”.
const inUserView = (text: string): string =>
  text
    .replace(
      /^taken back (all|\d+) of your (changes|\d+ changes?) of /,
      (_, some, of) => `undone ${some} of its ${of} to `,
    )
    .replace(/\. Of yours, this is gone:$/, '')
    .replace(/, and changed it otherwise, too$/, ', and made other changes')
    .replace(/, which you changed\.$/, ', which it had changed')
    .replace(/ since you did\.$/, ' since then')
    .replace(/^put back, as they are in this conversation: /, 'restored, as in this conversation: ')
    .replace(/\.$/, '');

function formerNoteText(text: string): LocalizableText {
  const found = matchSentenceForm<string>([...formerNoteForms, ...formerCommandEndForms], text);
  return found ? message(found.form as (typeof formerNoteForms)[number], ...found.values) : text;
}

// Sentences of `former.json`, translated by the bundle.
const formerCommandEndForms = [
  'went on without its window',
  'was ended: it wrote more than 100 MiB',
  'was ended: its time was over',
  'ended with {0}',
  'Not there any more: {0}. What stood there does not hold now.',
  'Files of this workspace that speak to agents have changed. They say now:',
];

const formerNoteForms = [
  'continued without its window',
  'ended after its window',
  'ended with its window or its run',
  'was stopped: it wrote more than 100 MiB',
  'timed out',
  'was stopped by you',
  'was stopped',
  'was killed ({0})',
  'exited with code {0}',
  'have undone all of its changes to {0}',
  'have undone {0} of its {1} changes to {2}, and made other changes',
  'have undone {0} of its {1} changes to {2}',
  'have undone {0} of its {1} change to {2}, and made other changes',
  'have undone {0} of its {1} change to {2}',
  'have deleted {0}, which it had changed',
  'have changed {0} since then',
  'have restored, as in this conversation: {0}. Read again before you edit',
  'No longer there: {0}. Its instructions no longer apply.',
  'Instruction files of this workspace have changed. They now contain:',
  'A part of the record of this conversation was damaged: {0}. What came after it is not in this conversation. This much of it could be read, as data:',
  'Part of the record of this conversation is damaged: {0}. Its contents are lost. Calls that are missing from it may have run: check the current state before you change or run anything again.',
] as const;

export const isUnreadMention = ({ unread, note }: { unread?: true | undefined; note?: string | undefined }): boolean =>
  unread ?? note === 'not read';

/** Returns the localizable form of a note beside an attachment; unknown text stays. */
export function mentionNoteOfFormerText(text: string): LocalizableText {
  const found = matchSentenceForm<string>([...formerMentionNotes, ...formerMentionForms], text);
  if (!found) return text;
  const form = found.form as (typeof formerMentionNotes)[number];
  if (form !== 'Not read: {0}.') return message(form, ...found.values);
  return message(form, joinLocalizableTexts(found.values[0]!.split(/( \([a-z ]+\))/).map(formerReason), ''));
}

const formerReason = (part: string): LocalizableText => {
  const reason = part.slice(2, -1) as (typeof mentionReasons)[number];
  const isKnown = part.startsWith(' (') && [...mentionReasons, ...formerMentionReasons].includes(reason);
  return isKnown ? { english: ' ({0})', values: [message(reason)] } : part;
};

const formerMentionNotes = [
  'not read',
  'none',
  'its start',
  'its end',
  'no longer a problem',
  'error',
  'warning',
  'info',
  '{0} file',
  '{0} of more than {1} files',
  '{0} of {1} files',
  '{0} files',
  'lines {0}-{1} of {2}',
  'lines {0}-{1}',
  '{0} error, {1} warning',
  '{0} error, {1} warnings',
  '{0} errors, {1} warning',
  '{0} errors, {1} warnings',
  'It took too long.',
  'Its start did not fit.',
  'The rest did not fit.',
  'Not all of them fit.',
  'The rest of {0} is not read.',
  'Mentions up to line {0} did not fit.',
  'The mentions of this message are larger than it can carry.',
  'The selection is in no file of the open folders.',
  'Nothing is selected in the editor.',
  'Not read: {0}.',
] as const;

const formerMentionForms = [
  'its beginning',
  'no problem any more',
  'Its beginning did not fit.',
  'What is named up to line {0} did not fit.',
  'What this message names is more than can go with it.',
  'What is selected is in no file of the open folders.',
];

const mentionReasons = ['too many', 'no space', 'a picture', 'not readable text', 'needs approval', 'denied'] as const;
const formerMentionReasons = ['no room', 'not a text that can be read', 'asked about'];

// Returns the first form that the English text has, with its values.
function matchSentenceForm<Form extends string>(
  forms: readonly Form[],
  text: string,
): { form: Form; values: string[] } | undefined {
  for (const form of forms) {
    const values = patternOf(form).exec(text)?.slice(1);
    if (values) return { form, values };
  }
  return undefined;
}

function patternOf(form: string): RegExp {
  const parts = form.split(/\{\d\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('(.+?)')}$`, 's');
}
