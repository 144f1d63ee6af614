import { createHash } from 'node:crypto';
import type { KeptChange, RunEvent } from './events.ts';
import type { TokenUsage } from './messages.ts';
import { visibleLine } from './visible.ts';

/** What the audit says of one event, beside when and in which run it was. */
export type AuditEntry = { kind: 'run' | 'question' | 'answer' | 'effect' | 'model-call' } & Record<string, unknown>;

type Of<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;
type Entries = {
  [Type in RunEvent['type']]: (event: Of<Type>, hide: (text: string) => string) => AuditEntry | undefined;
};

/**
 * The audit's line for an event; undefined: none. Nothing of what is said, read or written is in it: of files their paths and the
 * hashes of what they held, of commands their first line and the hash of all of it. `hide` takes keys out of those words.
 */
export function auditOf(event: RunEvent, hide: (text: string) => string): AuditEntry | undefined {
  return (entries[event.type] as (event: RunEvent, hide: (text: string) => string) => AuditEntry | undefined)(
    event,
    hide,
  );
}

const none = () => undefined;

/** A new type of event does not compile before it is decided here. */
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

  request: ({ model, asked = model, host, node, sent }) => ({
    kind: 'model-call',
    status: 'begins',
    model: asked,
    ...(host && { host }),
    ...(node !== undefined && { node }),
    ...(sent && { sent }),
  }),
  message: ({ message }, hide) => {
    if (message.role !== 'assistant') return undefined;
    const calls = (message.toolCalls ?? []).map(({ id, name, arguments: given }) => ({
      call: id,
      tool: name,
      ...placesIn(given, hide),
    }));
    return { kind: 'model-call', status: message.incomplete ? 'broken-off' : 'answered', calls };
  },
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

  question: ({ toolCallId, question: { what, where, command } }, hide) => ({
    kind: 'question',
    of: 'gate',
    call: toolCallId,
    what: shown(what, hide),
    where: shown(where, hide),
    ...commandOf(command, hide),
  }),
  ask: ({ toolCallId, questions }) => ({
    kind: 'question',
    of: 'model',
    call: toolCallId,
    questions: questions.length,
  }),
  approval: ({ toolCallId, name, decision, waitedMs, words, edited, automatic }, hide) => ({
    kind: 'answer',
    to: 'gate',
    call: toolCallId,
    ...(name !== undefined && { tool: name }),
    decision,
    by: automatic === undefined ? 'person' : 'rule',
    ...(automatic === undefined ? { waitedMs } : { why: shown(automatic, hide) }),
    ...(edited && { edited }),
    ...(words && { withWords: true }),
  }),
  answer: ({ toolCallId, choices, said }) => ({
    kind: 'answer',
    to: 'model',
    call: toolCallId,
    by: 'person',
    choices: choices.length,
    ...(said && { withWords: true }),
  }),

  'tool-start': ({ toolCallId, name, changes, moved, command, reads }, hide) => ({
    kind: 'effect',
    status: 'begins',
    call: toolCallId,
    tool: name,
    ...changesOf(changes, hide),
    ...movedOf(moved, hide),
    ...commandOf(command?.line ?? reads, hide),
    ...(command && { folder: shown(command.folder, hide) }),
  }),
  'tool-end': ({ toolCallId, name, ok, ms, code, changes, moved, exitCode, background }, hide) => ({
    kind: 'effect',
    status: background ? 'goes-on' : ok ? 'done' : 'failed',
    call: toolCallId,
    tool: name,
    ms,
    ...(code !== undefined && { code }),
    ...(exitCode !== undefined && { exitCode }),
    ...changesOf(changes, hide),
    ...movedOf(moved, hide),
  }),
  'command-end': ({ toolCallId, by, exitCode, signal }) => ({
    kind: 'effect',
    status: 'command-ended',
    call: toolCallId,
    by,
    ...(exitCode !== undefined && { exitCode }),
    ...(signal !== undefined && { signal }),
  }),
  undo: ({ toolCallIds, changes }, hide) => ({
    kind: 'effect',
    status: 'undone',
    by: 'person',
    calls: toolCallIds,
    ...changesOf(changes, hide),
  }),

  queued: none,
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

/** Characters of a text that is no more than named. */
const mostText = 300;

/** Keys are looked for in all of it: what is cut in two is found no more. */
function shown(text: string, hide: (text: string) => string): string {
  const [first = ''] = hide(text)
    .trim()
    .split(/[\r\n\u2028\u2029]/, 1);
  return visibleLine([...first].slice(0, mostText).join(''));
}

/** Its first line: what a here-document writes to a file comes after it. */
const commandOf = (line: string | undefined, hide: (text: string) => string) =>
  line !== undefined && { command: shown(line, hide), commandSha256: createHash('sha256').update(line).digest('hex') };

/** The contents are hashes already; null: no file. */
const changesOf = (changes: readonly KeptChange[] | undefined, hide: (text: string) => string) =>
  changes && {
    changes: changes.map(({ path, before, after }) => ({ path: shown(path, hide), before, after })),
  };

const movedOf = (moved: { from: string; to: string } | undefined, hide: (text: string) => string) =>
  moved && { moved: { from: shown(moved.from, hide), to: shown(moved.to, hide) } };

/** What says where, by the names that our tools have for it; other arguments may be contents. */
const placeNames = ['path', 'from', 'to', 'url', 'folder'];

function placesIn(given: Record<string, unknown>, hide: (text: string) => string): Record<string, string> {
  const places = placeNames.flatMap((name) => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    return typeof value === 'string' ? [[name, shown(value, hide)] as const] : [];
  });
  return Object.fromEntries(places);
}

const countsOf = ({ promptTokens, completionTokens, cachedTokens, cost }: TokenUsage) => ({
  promptTokens,
  completionTokens,
  ...(cachedTokens !== undefined && { cachedTokens }),
  ...(cost !== undefined && { cost }),
});
