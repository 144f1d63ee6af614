import type { Message, TokenUsage } from '../content/messages.ts';
import { escapeInvisibleInLine } from '../text/escapeInvisible.ts';
import type { RunEvent, StoredChange } from './events.ts';

export type AuditEntry = { kind: 'run' | 'question' | 'answer' | 'effect' | 'model-call' } & Record<string, unknown>;

/** Text filters for audit lines: `hide` removes keys; `sha256` returns hexadecimal digits. */
export interface AuditTextFilters {
  hide(text: string): string;
  sha256(text: string): string;
}

type Of<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;
type Entries = {
  [Type in RunEvent['type']]: (event: Of<Type>, words: AuditTextFilters) => AuditEntry | undefined;
};

/**
 * Returns the audit record of an event; undefined: none. The record contains no message or file content: files appear as paths and content
 * hashes, commands as the first line and a hash of the full text, without keys.
 */
export function auditEntryOf(event: RunEvent, words: AuditTextFilters): AuditEntry | undefined {
  return (entries[event.type] as (event: RunEvent, words: AuditTextFilters) => AuditEntry | undefined)(event, words);
}

const none = () => undefined;

function replyEntry(message: Message, words: AuditTextFilters, callPrefix = ''): AuditEntry | undefined {
  if (message.role !== 'assistant') return undefined;
  const calls = (message.toolCalls ?? []).map(({ id, name, arguments: given }) => ({
    call: callPrefix + id,
    tool: name,
    ...pathsIn(given, words),
  }));
  return { kind: 'model-call', status: message.incomplete ? 'broken-off' : 'answered', calls };
}

// Exhaustive by type: a new event type does not compile without a row.
const entries: Entries = {
  'run-start': ({ workflowId, agentId, model }) => ({
    kind: 'run',
    status: 'begins',
    workflow: workflowId,
    ...(agentId && { agent: agentId }),
    ...(model && { model }),
  }),
  phase: ({ phase, error }) => ({ kind: 'run', status: phases[phase], ...(error && { code: error.code }) }),
  model: ({ model }) => ({ kind: 'run', status: 'model', model }),
  agent: ({ agentId }) => ({ kind: 'run', status: 'agent', agent: agentId }),

  request: ({ model, asked = model, host, node, sent }) => ({
    kind: 'model-call',
    status: 'begins',
    model: asked,
    ...(host && { host }),
    ...(node !== undefined && { node }),
    ...(sent && { sent }),
  }),
  message: ({ message }, words) => replyEntry(message, words),
  'node-message': ({ message, callPrefix, given }, words) =>
    given ? undefined : replyEntry(message, words, callPrefix),
  usage: ({ usage, model, asked = model, ms, attempts, node }) => ({
    kind: 'model-call',
    status: 'counted',
    model: asked,
    ...(node !== undefined && { node }),
    ms,
    tries: attempts,
    ...countsOf(usage),
  }),
  title: ({ usage, asked }) => usage && { kind: 'model-call', status: 'counted', model: asked, ...countsOf(usage) },
  attempt: ({ attempt, code, waitMs, model, asked = model, node }) => ({
    kind: 'model-call',
    status: 'failed',
    model: asked,
    ...(node !== undefined && { node }),
    try: attempt,
    code,
    ...(waitMs !== undefined && { waitMs }),
  }),

  question: ({ toolCallId, question: { command, ...said } }, words) => {
    const { what, where } = said.english ?? said;
    return {
      kind: 'question',
      of: 'gate',
      call: toolCallId,
      what: shown(what, words),
      where: shown(where, words),
      ...commandOf(command, words),
    };
  },
  ask: ({ toolCallId, questions }) => ({
    kind: 'question',
    of: 'model',
    call: toolCallId,
    questions: questions.length,
  }),
  approval: ({ toolCallId, name, decision, waitedMs, words: said, edited, automatic }, words) => ({
    kind: 'answer',
    to: 'gate',
    call: toolCallId,
    ...(name !== undefined && { tool: name }),
    decision,
    by: automatic === undefined ? 'person' : 'rule',
    ...(automatic === undefined ? { waitedMs } : { why: shown(automatic, words) }),
    ...(edited && { edited }),
    ...(said && { withWords: true }),
  }),
  answer: ({ toolCallId, choices, said }) => ({
    kind: 'answer',
    to: 'model',
    call: toolCallId,
    by: 'person',
    choices: choices.length,
    ...(said && { withWords: true }),
  }),

  'interruption-choice': ({ toolCallIds, choice }) => ({
    kind: 'answer',
    to: 'interruption',
    by: 'person',
    calls: toolCallIds,
    choice,
  }),

  'hold-end': () => undefined, // nothing is decided: the denial stands

  'limit-raise': ({ of, more, to }) => ({ kind: 'answer', to: 'limit', of, by: 'person', more, most: to }),

  'tool-start': ({ toolCallId, name, changes, moved, command, reads }, words) => ({
    kind: 'effect',
    status: 'begins',
    call: toolCallId,
    tool: name,
    ...changesOf(changes, words),
    ...movedOf(moved, words),
    ...commandOf(command?.line ?? reads, words),
    ...(command && { folder: shown(command.folder, words) }),
  }),
  'tool-end': ({ toolCallId, name, ok, ms, code, changes, moved, exitCode, background }, words) => ({
    kind: 'effect',
    status: background ? 'goes-on' : ok ? 'done' : 'failed',
    call: toolCallId,
    tool: name,
    ms,
    ...(code !== undefined && { code }),
    ...(exitCode !== undefined && { exitCode }),
    ...changesOf(changes, words),
    ...movedOf(moved, words),
  }),
  'command-end': ({ toolCallId, by, exitCode, signal }) => ({
    kind: 'effect',
    status: 'command-ended',
    call: toolCallId,
    by,
    ...(exitCode !== undefined && { exitCode }),
    ...(signal !== undefined && { signal }),
  }),
  undo: ({ toolCallIds, changes }, words) => ({
    kind: 'effect',
    status: toolCallIds.length > 0 ? 'undone' : 'restored',
    by: 'person',
    calls: toolCallIds,
    ...changesOf(changes, words),
  }),
  redo: ({ toolCallIds, changes }, words) => ({
    kind: 'effect',
    status: 'redone',
    by: 'person',
    calls: toolCallIds,
    ...changesOf(changes, words),
  }),

  instructions: none,
  pin: none,
  queued: none,
  'queued-change': none,
  'queued-remove': none,
  'call-arguments': ({ toolCallId, arguments: given }, words) => ({
    kind: 'model-call',
    status: 'understood',
    calls: [{ call: toolCallId, ...pathsIn(given, words) }],
  }),
  'approval-request': none, // the `question` event contains the request
  'command-start': none,
  outline: none,
  node: none,
  compaction: none,
  mended: none,
  chunk: none,
  progress: none,
  pausing: none,
  'tool-output': none,
};

const phases = { Running: 'at-work', WaitingUser: 'rests', Completed: 'done', Failed: 'failed' };

const maxText = 300;

function shown(text: string, words: AuditTextFilters): string {
  const [first = ''] = words
    .hide(text)
    .trim()
    .split(/[\r\n\u2028\u2029]/, 1);
  return escapeInvisibleInLine([...first].slice(0, maxText).join(''));
}

const commandOf = (line: string | undefined, words: AuditTextFilters) =>
  line !== undefined && { command: shown(line, words), commandSha256: words.sha256(line) };

const changesOf = (changes: readonly StoredChange[] | undefined, words: AuditTextFilters) =>
  changes && {
    changes: changes.map(({ path, before, after }) => ({ path: shown(path, words), before, after })),
  };

const movedOf = (moved: { from: string; to: string } | undefined, words: AuditTextFilters) =>
  moved && { moved: { from: shown(moved.from, words), to: shown(moved.to, words) } };

// Arguments that contain locations; other arguments may be contents.
const pathArguments = ['path', 'from', 'to', 'url', 'folder'];

function pathsIn(given: Record<string, unknown>, words: AuditTextFilters): Record<string, string> {
  const paths = pathArguments.flatMap((name) => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    return typeof value === 'string' ? [[name, shown(value, words)] as const] : [];
  });
  return Object.fromEntries(paths);
}

const countsOf = ({ promptTokens, completionTokens, cachedTokens, cost }: TokenUsage) => ({
  promptTokens,
  completionTokens,
  ...(cachedTokens !== undefined && { cachedTokens }),
  ...(cost !== undefined && { cost }),
});
