import type { ApprovalBasis } from '../content/approvalBasis.ts';
import type { ErrorInfo } from '../content/messages.ts';
import type { AbortReason, OutcomeReason } from '../text/codes.ts';
import type { MessageLinks } from '../text/links.ts';

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

export const formerCommandEndForms = [
  'went on without its window',
  'was ended: it wrote more than 100 MiB',
  'was ended: its time was over',
  'ended with {0}',
  'Not there any more: {0}. What stood there does not hold now.',
  'Files of this workspace that speak to agents have changed. They say now:',
];

export const formerMentionNoteForms = [
  'its beginning',
  'no problem any more',
  'Its beginning did not fit.',
  'What is named up to line {0} did not fit.',
  'What this message names is more than can go with it.',
  'What is selected is in no file of the open folders.',
];

export const formerMentionReasons = ['no room', 'not a text that can be read', 'asked about'];
