import type { Message, TokenUsage } from '../content/messages.ts';
import type { RepositoryChange } from '../content/repositoryChange.ts';
import { escapeInvisibleInLine } from '../text/escapeInvisible.ts';
import type { RunEvent, StoredFileChange } from './events.ts';

export type AuditEntry = { kind: 'run' | 'task' | 'question' | 'answer' | 'effect' | 'model-call' } & Record<
  string,
  unknown
>;

/** Text filters for audit lines: `hide` removes keys; `sha256` returns hexadecimal digits. */
export interface AuditTextFilters {
  hide(text: string): string;
  sha256(text: string): string;
}

type Of<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;
type Entries = {
  [Type in RunEvent['type']]: (event: Of<Type>, filters: AuditTextFilters) => AuditEntry | undefined;
};

/**
 * Returns the audit record of an event; undefined: none. The record contains no message or file content: files appear as paths and content
 * hashes, commands as the first line and a hash of the full text, without keys.
 */
export function auditEntryOf(event: RunEvent, filters: AuditTextFilters): AuditEntry | undefined {
  return (entries[event.type] as (event: RunEvent, filters: AuditTextFilters) => AuditEntry | undefined)(
    event,
    filters,
  );
}

const none = () => undefined;

function replyEntry(message: Message, filters: AuditTextFilters, callPrefix = ''): AuditEntry | undefined {
  if (message.role !== 'assistant') return undefined;
  const calls = (message.toolCalls ?? []).map(({ id, name, arguments: given }) => ({
    call: callPrefix + id,
    tool: name,
    ...pathsIn(given, filters),
  }));
  return { kind: 'model-call', status: message.incomplete ? 'broken-off' : 'answered', calls };
}

// Exhaustive by type: a new event type does not compile without a row.
const entries: Entries = {
  'run-start': ({ workflowId, agentId, model, effort }) => ({
    kind: 'run',
    status: 'begins',
    workflow: workflowId,
    ...(agentId && { agent: agentId }),
    ...(model && { model }),
    ...(effort && { effort }),
  }),
  phase: ({ phase, error }) => ({ kind: 'run', status: phases[phase], ...(error && { code: error.code }) }),
  model: ({ model, effort }) => ({ kind: 'run', status: 'model', model, ...(effort && { effort }) }),
  agent: ({ agentId }) => ({ kind: 'run', status: 'agent', agent: agentId }),

  'task-start': ({ task, agent, name, mayChange }) => ({
    kind: 'task',
    status: 'begins',
    call: task,
    agent: agent || name,
    ...(mayChange && { mayChange }),
  }),
  'task-message': ({ task, message }, filters) => replyEntry(message, filters, `${task}:`),
  'task-end': ({ task, status, limit, error }) => ({
    kind: 'task',
    status,
    call: task,
    ...(limit && { limit }),
    ...(error && { code: error.code }),
  }),
  request: ({ model, asked = model, host, node, task, sent }) => ({
    kind: 'model-call',
    status: 'begins',
    model: asked,
    ...(host && { host }),
    ...(node !== undefined && { node }),
    ...(task !== undefined && { task }),
    ...(sent && { sent }),
  }),
  message: ({ message }, filters) => replyEntry(message, filters),
  'node-message': ({ message, callPrefix, given }, filters) =>
    given ? undefined : replyEntry(message, filters, callPrefix),
  usage: ({ usage, model, asked = model, ms, attempts, node, task }) => ({
    kind: 'model-call',
    status: 'counted',
    model: asked,
    ...(node !== undefined && { node }),
    ...(task !== undefined && { task }),
    ms,
    tries: attempts,
    ...countsOf(usage),
  }),
  title: ({ usage, asked }) => usage && { kind: 'model-call', status: 'counted', model: asked, ...countsOf(usage) },
  attempt: ({ attempt, code, waitMs, model, asked = model, node, task }) => ({
    kind: 'model-call',
    status: 'failed',
    model: asked,
    ...(node !== undefined && { node }),
    ...(task !== undefined && { task }),
    try: attempt,
    code,
    ...(waitMs !== undefined && { waitMs }),
  }),

  question: ({ toolCallId, question: { command, ...said }, isOver }, filters) => {
    if (isOver) return undefined;
    const { what, where } = said.english ?? said;
    return {
      kind: 'question',
      of: 'gate',
      call: toolCallId,
      what: shown(what, filters),
      where: shown(where, filters),
      ...commandOf(command, filters),
    };
  },
  ask: ({ toolCallId, questions }) => ({
    kind: 'question',
    of: 'model',
    call: toolCallId,
    questions: questions.length,
  }),
  approval: ({ toolCallId, name, decision, waitedMs, words: said, edited, automatic }, filters) => ({
    kind: 'answer',
    to: 'gate',
    call: toolCallId,
    ...(name !== undefined && { tool: name }),
    decision,
    by: automatic === undefined ? 'person' : 'rule',
    ...(automatic === undefined ? { waitedMs } : { why: shown(automatic, filters) }),
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

  access: ({ toolCallId, name, target, decision, waitedMs, automatic }, filters) => ({
    kind: 'answer',
    to: 'gate',
    call: toolCallId,
    tool: name,
    decision,
    ...(target.host !== undefined && { host: `${target.host}:${target.port}` }),
    ...(target.paths && { paths: target.paths.map((path) => shown(path, filters)) }),
    by: automatic === undefined ? 'person' : 'rule',
    ...(automatic === undefined ? { waitedMs } : { why: shown(automatic, filters) }),
  }),
  'hold-end': () => undefined, // nothing is decided: the denial stands

  'limit-raise': ({ of, more, to }) => ({ kind: 'answer', to: 'limit', of, by: 'person', more, most: to }),

  'tool-start': ({ toolCallId, name, changes, moved, command, reads, sandbox }, filters) => ({
    kind: 'effect',
    status: 'begins',
    call: toolCallId,
    tool: name,
    ...changesOf(changes, filters),
    ...movedOf(moved, filters),
    ...commandOf(command?.line ?? reads, filters),
    ...(command && { folder: shown(command.folder, filters) }),
    ...(sandbox && { sandbox }),
  }),
  'tool-end': ({ toolCallId, name, ok, ms, code, moved, exitCode, background, ...record }, filters) => ({
    kind: 'effect',
    status: background ? 'goes-on' : ok ? 'done' : 'failed',
    call: toolCallId,
    tool: name,
    ms,
    ...(code !== undefined && { code }),
    ...(exitCode !== undefined && { exitCode }),
    ...recordOf(record, filters),
    ...movedOf(moved, filters),
  }),
  'command-changes': ({ toolCallId, changes, unrecorded, lost, repositories }, filters) => ({
    kind: 'effect',
    status: 'command-changed',
    call: toolCallId,
    ...changesOf(changes, filters),
    ...(unrecorded !== undefined && { unrecorded }),
    ...(lost !== undefined && { lost: lost.map((path) => shown(path, filters)) }),
    ...repositoriesOf(repositories, filters),
  }),
  'command-end': ({ toolCallId, by, exitCode, signal }) => ({
    kind: 'effect',
    status: 'command-ended',
    call: toolCallId,
    by,
    ...(exitCode !== undefined && { exitCode }),
    ...(signal !== undefined && { signal }),
  }),
  undo: ({ toolCallIds, changes, repositories }, filters) => ({
    kind: 'effect',
    status: toolCallIds.length > 0 ? 'undone' : 'restored',
    by: 'person',
    calls: toolCallIds,
    ...changesOf(changes, filters),
    ...repositoriesOf(repositories, filters),
  }),
  redo: ({ toolCallIds, changes, repositories }, filters) => ({
    kind: 'effect',
    status: 'redone',
    by: 'person',
    calls: toolCallIds,
    ...changesOf(changes, filters),
    ...repositoriesOf(repositories, filters),
  }),

  instructions: none,
  pin: none,
  queued: none,
  'queued-change': none,
  'queued-remove': none,
  'call-arguments': ({ toolCallId, arguments: given }, filters) => ({
    kind: 'model-call',
    status: 'understood',
    calls: [{ call: toolCallId, ...pathsIn(given, filters) }],
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

function shown(text: string, filters: AuditTextFilters): string {
  const [first = ''] = filters
    .hide(text)
    .trim()
    .split(/[\r\n\u2028\u2029]/, 1);
  return escapeInvisibleInLine([...first].slice(0, maxText).join(''));
}

const commandOf = (line: string | undefined, filters: AuditTextFilters) =>
  line !== undefined && { command: shown(line, filters), commandSha256: filters.sha256(line) };

const changesOf = (changes: readonly StoredFileChange[] | undefined, filters: AuditTextFilters) =>
  changes && {
    changes: changes.map(({ path, before, after, mixed }) => ({
      path: shown(path, filters),
      before,
      after,
      ...(mixed && { mixed }),
    })),
  };

const recordOf = (
  {
    changes,
    unrecorded,
    lost,
    lostCount,
    repositories,
  }: Omit<Partial<Extract<RunEvent, { type: 'tool-end' }>>, 'type'>,
  filters: AuditTextFilters,
) => ({
  ...changesOf(changes, filters),
  ...(unrecorded !== undefined && { unrecorded }),
  ...(lost !== undefined && { lost: lost.map((path) => shown(path, filters)) }),
  ...(lostCount !== undefined && { lostCount }),
  ...repositoriesOf(repositories, filters),
});

const repositoriesOf = (repositories: readonly RepositoryChange[] | undefined, filters: AuditTextFilters) =>
  repositories && {
    repositories: repositories.map(({ path, refs, files }) => ({
      path: shown(path, filters),
      refs: refs.map(({ name, before, after }) => ({ name: shown(name, filters), before, after })),
      files: files.map(({ name, before, after }) => ({ name: shown(name, filters), before, after })),
    })),
  };

const movedOf = (moved: { from: string; to: string } | undefined, filters: AuditTextFilters) =>
  moved && { moved: { from: shown(moved.from, filters), to: shown(moved.to, filters) } };

// Arguments that contain locations; other arguments may be contents.
const pathArguments = ['path', 'from', 'to', 'url', 'folder'];

function pathsIn(given: Record<string, unknown>, filters: AuditTextFilters): Record<string, string> {
  const paths = pathArguments.flatMap((name) => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    return typeof value === 'string' ? [[name, shown(value, filters)] as const] : [];
  });
  return Object.fromEntries(paths);
}

const countsOf = ({ promptTokens, completionTokens, cachedTokens, cost }: TokenUsage) => ({
  promptTokens,
  completionTokens,
  ...(cachedTokens !== undefined && { cachedTokens }),
  ...(cost !== undefined && { cost }),
});
