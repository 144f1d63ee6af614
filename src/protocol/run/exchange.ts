import * as z from 'zod';
import type { Attachment, Message, ToolResult } from '../content/messages.ts';
import { failedToolOutcome, outcomeDetails, toToolResult } from '../content/tools.ts';
import { message } from '../text/l10n.ts';
import { UserFacingError } from '../text/localized.ts';
import { type StoredEvent, storedEventSchema } from './events.ts';
import { applyEvent } from './fold.ts';
import { pendingCalls } from './pending.ts';
import { newRun, type Run } from './run.ts';
import { openTasks } from './tasks.ts';

/** File format of exported runs: a run with its branches, with the event numbers of the journals. `shown` is the exported run. */
export interface ExportedRunsFile {
  'towpath-runs': 1;
  shown: string;
  runs: { id: string; events: StoredEvent[] }[];
}

export type HideSecrets = (text: string) => string;

/**
 * Filters the events of a run for export and import: messages and ends of calls. Removed are all data with an effect or owner: approvals,
 * open requests, queued messages, changes to undo, processes, costs, provider metadata, and system notes (about another workspace, and
 * weighted more than user text by models). The conversation ends at the first damage, because later messages may not belong to it.
 */
export function exportableEvents(events: readonly StoredEvent[], hide: HideSecrets): StoredEvent[] {
  const damaged = events.findIndex(({ type }) => type === 'mended');
  const whole = damaged < 0 ? events : events.slice(0, damaged);
  return whole.flatMap((event) => {
    const data = (exporters[event.type] as (event: StoredEvent, hide: HideSecrets) => StoredEvent | undefined)(
      event,
      hide,
    );
    return data ? [data] : [];
  });
}

type Of<Type extends StoredEvent['type']> = Extract<StoredEvent, { type: Type }>;
const positionOf = ({ runId, seq, at }: Pick<StoredEvent, 'runId' | 'seq' | 'at'>) => ({ runId, seq, at });
const nothing = () => undefined;

// Exhaustive by type: a new event type does not compile without a row.
const exporters: { [Type in StoredEvent['type']]: (event: Of<Type>, hide: HideSecrets) => StoredEvent | undefined } = {
  'run-start': ({ imported: _, effort: __, ...event }) => event,
  title: ({ title, ...event }, hide) =>
    title ? { ...positionOf(event), type: 'title', title: hide(title) } : undefined,
  model: ({ model, ...event }) => ({ ...positionOf(event), type: 'model', model }),
  agent: ({ agentId, ...event }) => ({ ...positionOf(event), type: 'agent', agentId }),
  message: ({ message, branch, ...event }, hide) => ({
    ...positionOf(event),
    type: 'message',
    message: messageData(message, hide),
    ...(branch !== undefined && { branch }),
  }),
  'node-message': ({ message, ...event }, hide) => ({ ...event, message: messageData(message, hide) }),
  'task-start': (event, hide) => hidden(event, hide),
  'task-message': ({ message, queued: _, ...event }, hide) => ({ ...event, message: messageData(message, hide) }),
  'task-end': (event, hide) => hidden(event, hide),
  'interruption-choice': nothing,
  access: nothing,
  'hold-end': nothing,
  'command-changes': nothing,
  'tool-end': ({ toolCallId, name, ok, ms, code, exitCode, ...event }) => ({
    ...positionOf(event),
    type: 'tool-end',
    toolCallId,
    name,
    ok,
    ms,
    ...(code !== undefined && { code }),
    ...(exitCode !== undefined && { exitCode }),
  }),
  outline: (event, hide) => hidden(event, hide),
  node: (event, hide) => hidden(event, hide),
  compaction: (event, hide) => hidden(event, hide),
  phase: ({ phase, error, ...event }, hide) => ({
    ...positionOf(event),
    type: 'phase',
    phase,
    ...(error && { error: hidden(error, hide) }),
  }),
  instructions: nothing,
  pin: nothing,
  'limit-raise': nothing,
  queued: nothing,
  'queued-change': nothing,
  'queued-remove': nothing,
  'call-arguments': (event, hide) => hidden(event, hide),
  'approval-request': nothing,
  approval: nothing,
  'tool-start': nothing,
  'command-start': nothing,
  ask: nothing,
  answer: nothing,
  'command-end': nothing,
  undo: nothing,
  redo: nothing,
  usage: nothing,
  attempt: nothing,
  mended: nothing,
};

const noteGone = 'A note stood here, about the workspace that this was said in.';

function messageData(message: Message, hide: HideSecrets): Message {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: noteGone }; // retains the index, which summaries refer to
    case 'user': {
      const { attachments, content } = message;
      return { role: 'user', content: hide(content), ...attachmentsData(attachments, hide) };
    }
    case 'assistant': {
      const { native: _, ...said } = message;
      return hidden(said, hide);
    }
    case 'tool':
      return { ...message, toolResults: message.toolResults.map((result) => resultData(result, hide)) };
  }
}

function resultData({ toolCallId, content, error, attachments }: ToolResult, hide: HideSecrets): ToolResult {
  const result = { toolCallId, ...(error !== undefined && { error }), ...attachmentsData(attachments, hide) };
  try {
    return { ...result, content: JSON.stringify(hidden(JSON.parse(content), hide)) };
  } catch {
    return { ...result, content: hide(content) };
  }
}

// Retains images. Other files are removed if any part is hidden, because the remainder is unpredictable.
function attachmentsData(attachments: readonly Attachment[] = [], hide: HideSecrets): { attachments?: Attachment[] } {
  const whole = attachments.filter(({ mediaType, data }) => {
    if (/^(image|audio|video)\//.test(mediaType)) return true;
    const text = Buffer.from(data, 'base64').toString('utf8');
    return hide(text) === text;
  });
  if (whole.length === 0) return {};
  return {
    attachments: whole.map(({ name, mention, ...file }) => ({
      ...file,
      ...(name !== undefined && { name: hide(name) }),
      ...(mention && { mention: hidden(mention, hide) }),
    })),
  };
}

function hidden<Value>(value: Value, hide: HideSecrets): Value {
  if (typeof value === 'string') return hide(value) as Value;
  if (Array.isArray(value)) return value.map((one) => hidden(one, hide)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [hide(name), hidden(one, hide)])) as Value;
}

const fileSchema = z.object({
  'towpath-runs': z.number(),
  shown: z.string(),
  runs: z.array(z.object({ id: z.string(), events: z.array(z.unknown()) })).min(1),
});

export interface ImportedRun {
  id: string;
  events: StoredEvent[];
  shown: boolean;
}

/**
 * Parses the runs of an untrusted file. Throws `UserFacingError`.
 *
 * @param content parsed JSON of the file
 * @param newId creates a run id
 */
export function parseExportedRuns(content: unknown, newId: () => string): ImportedRun[] {
  const file = fileSchema.safeParse(content).data;
  if (!file) throw new UserFacingError(message('This is not a file of exported runs.'));
  if (file['towpath-runs'] !== 1)
    throw new UserFacingError(
      message('This file was written by a newer version of Towpath. Update Towpath to import it.'),
    );
  const ids = new Map(file.runs.map(({ id }) => [id, newId()]));
  if (ids.size < file.runs.length) throw new UserFacingError(message('Two runs of this file have the same ID.'));
  return file.runs.map(({ id, events }, nth) => ({
    id: ids.get(id)!,
    events: atRest(
      ids.get(id)!,
      exportableEvents(checked(events, nth + 1), (text) => text),
      ids,
    ),
    shown: id === file.shown,
  }));
}

function checked(events: readonly unknown[], nth: number): StoredEvent[] {
  let last = 0;
  const known = events.flatMap((one, index) => {
    const event = storedEventSchema.safeParse(one).data;
    const wrong = (english: (typeof invalidEvents)[number]) =>
      new UserFacingError(message(english, String(index + 1), String(nth)));
    if (!event) {
      if (types.has(String(Object(one).type))) throw wrong('Event {0} of run {1} in this file is invalid.');
      return [];
    }
    if (event.seq <= last || event.seq > 2 ** 40) throw wrong('Event {0} of run {1} in this file is out of order.');
    if (!(event.at >= 0 && event.at < 8.64e15)) throw wrong('Event {0} of run {1} in this file has no time.');
    if (namesIn(event).some((name) => name in Object.prototype))
      throw wrong('Event {0} of run {1} in this file has an invalid name.');
    last = event.seq;
    return [event];
  });
  if (known[0]?.type !== 'run-start')
    throw new UserFacingError(message('Run {0} of this file has no start.', String(nth)));
  return known;
}

const invalidEvents = [
  'Event {0} of run {1} in this file is invalid.',
  'Event {0} of run {1} in this file is out of order.',
  'Event {0} of run {1} in this file has no time.',
  'Event {0} of run {1} in this file has an invalid name.',
] as const;

const types = new Set<string>(storedEventSchema.options.map((one) => one.shape.type.value));

function namesIn(event: StoredEvent): string[] {
  if (event.type === 'tool-end') return [event.toolCallId];
  if (event.type === 'task-start' || event.type === 'task-end') return [event.task];
  if (event.type === 'node') return [event.node, ...(event.branch !== undefined ? [event.branch] : [])];
  if (event.type !== 'message' && event.type !== 'node-message' && event.type !== 'task-message') return [];
  const { message } = event;
  const branch = event.type === 'task-message' ? undefined : event.branch;
  const own = event.type === 'node-message' ? [event.node, event.conversation] : [];
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []).map(({ id }) => id) : [];
  const results = message.role === 'tool' ? message.toolResults.map(({ toolCallId }) => toolCallId) : [];
  return [...own, ...calls, ...results, ...(branch !== undefined ? [branch] : [])];
}

function atRest(id: string, events: StoredEvent[], ids: ReadonlyMap<string, string>): StoredEvent[] {
  const run: Run = newRun(id);
  const own = events.map((event): StoredEvent => {
    if (event.type !== 'run-start') return { ...event, runId: id };
    const { parent, ...start } = event;
    const from = parentIn(parent, ids);
    return { ...start, runId: id, imported: true, ...(from && { parent: from }) };
  });
  for (const event of own) applyEvent(run, event);
  const end = { runId: id, seq: run.seq, at: run.updatedAt };
  const unrun = failedToolOutcome(
    'TOOL_INTERRUPTED',
    'This run was imported from a file. The call did not run here.',
    outcomeDetails('IMPORTED'),
  );
  const open = pendingCalls(run.messages).map((call) => toToolResult(call.id, unrun));
  if (open.length > 0)
    own.push({ ...end, seq: ++end.seq, type: 'message', message: { role: 'tool', content: '', toolResults: open } });
  for (const [task] of openTasks(run)) own.push({ ...end, seq: ++end.seq, type: 'task-end', task, status: 'stopped' });
  if (run.phase === 'Running') own.push({ ...end, seq: ++end.seq, type: 'phase', phase: 'WaitingUser' });
  return own;
}

type Parent = NonNullable<Of<'run-start'>['parent']>;

function parentIn(parent: Parent | undefined, ids: ReadonlyMap<string, string>): Parent | undefined {
  if (!parent) return undefined;
  const { line = [], ...first } = parent;
  const all = [first, ...line];
  const until = all.findIndex(({ run }) => !ids.has(run));
  const [own, ...rest] = (until < 0 ? all : all.slice(0, until)).map((one) => ({ ...one, run: ids.get(one.run)! }));
  return own && { ...own, ...(rest.length > 0 && { line: rest }) };
}
