import type { Mention } from '../src/protocol/content/mention.ts';
import type { ToolResult } from '../src/protocol/content/messages.ts';
import type {
  HostMessage,
  Notice,
  PanelState,
  PromptSuggestion,
  TranscriptForkPoint,
} from '../src/protocol/panel/panelMessages.ts';
import { joinRunSnapshotParts, type RunSnapshotPart } from '../src/protocol/panel/runParts.ts';
import type { RunEvent } from '../src/protocol/run/events.ts';
import { applyEvent, isNewEvent } from '../src/protocol/run/fold.ts';
import { pendingCalls } from '../src/protocol/run/pending.ts';
import {
  type CallState,
  callsInStartOrder,
  type Run,
  restoreRunDictionaries,
  type TaskState,
} from '../src/protocol/run/run.ts';
import { taskOfCall, taskOfEvent } from '../src/protocol/run/tasks.ts';
import { createDictionary, sortedDictionaryEntries } from '../src/protocol/values/dictionary.ts';
import type { PickedMention } from './host.ts';

/** State of the panel. The run is folded from the same events by the same function as in the host. */
export interface PanelViewModel {
  state?: PanelState;
  run: Run | null;
  /** The task whose conversation is displayed in the place of the run's. */
  task?: string;
  /** Only the last messages are loaded; message indexes change with the full run. */
  partial?: boolean;
  /** Parts of a run being received, and events in the meantime. */
  coming?: { parts: RunSnapshotPart[]; events: RunEvent[] };
  notice: Notice | null;
  room?: { runId: string; frees: number };
  selection?: { mention: Mention; goes: boolean; size?: Omit<PickedMention, 'mention'> };
  offers?: PromptSuggestion[];
  runs?: Extract<HostMessage, { type: 'runs' }>;
  files?: Extract<HostMessage, { type: 'files' }>;
  branches?: { runId: string; points: TranscriptForkPoint[] };
  results: Map<string, ToolResult>;
  /** Full diffs by call id, if requested. */
  changes: Map<string, string>;
  /** Change counts per call: a card is rendered again only if its count changed. */
  revisions: Map<string, number>;
  /** Calls that may run or need an approval; see `activeCalls`. */
  going: Set<string>;
}

export const createPanelViewModel = (): PanelViewModel => ({
  run: null,
  notice: null,
  results: new Map(),
  changes: new Map(),
  revisions: new Map(),
  going: new Set(),
});

/** Applies a message of the host. `focus` is handled by the composer. */
export function applyHostMessage(model: PanelViewModel, message: HostMessage): void {
  switch (message.type) {
    case 'state':
      model.state = message.state;
      break;
    case 'notice':
      if (message.notice || !isToBeAnswered(model.notice)) model.notice = message.notice;
      break;
    case 'notice-over':
      if (model.notice?.offer?.id === message.id) model.notice = null;
      break;
    case 'selection':
      if (!message.mention) delete model.selection;
      else model.selection = { mention: message.mention, goes: message.goes };
      break;
    case 'offers':
      model.offers = message.offers;
      break;
    case 'runs':
      model.runs = message;
      break;
    case 'room':
      model.room = message;
      break;
    case 'files':
      model.files = message;
      break;
    case 'branches':
      model.branches = message;
      break;
    case 'run-part':
      if (message.from === 0) model.coming = { parts: [], events: [] };
      model.coming?.parts.push(message);
      break;
    case 'run':
      takeRun(model, message);
      break;
    case 'change':
      if (message.runId !== model.run?.id) break;
      model.changes.set(message.toolCallId, message.diff);
      touch(model, message.toolCallId);
      break;
    case 'events':
      model.coming?.events.push(...message.events);
      for (const event of message.events) fold(model, event);
      break;
  }
}

/** A partial update never replaces a completely displayed run. */
function takeRun(model: PanelViewModel, { run: said, part, before }: Extract<HostMessage, { type: 'run' }>): void {
  const isShown = said !== null && said.id === model.run?.id;
  if (part === 'end' && isShown && !model.partial) return;
  const { coming } = model;
  if (part !== 'end') delete model.coming;
  const run = said && before !== undefined ? joinRunSnapshotParts(coming?.parts ?? [], said, before) : said;
  if (run === undefined) return; // the page missed the first part and has requested the full run
  if (!isShown) model.changes = new Map(); // otherwise the diffs on cards stay valid
  model.run = run && restoreRunDictionaries(run);
  model.partial = part === 'end';
  model.results = new Map();
  model.revisions = new Map();
  model.going = new Set(run ? idsOf(run) : []);
  for (const told of run?.messages ?? []) collectResults(model, told);
  for (const { messages } of run?.damage ?? []) for (const told of messages) collectResults(model, told);
  for (const [task, { messages }] of sortedDictionaryEntries(run?.tasks ?? createDictionary<TaskState>()))
    for (const told of messages) collectResults(model, told, `${task}:`);
  if (before !== undefined) for (const event of coming?.events ?? []) fold(model, event);
}

const idsOf = (run: Run): string[] => [
  ...pendingCalls(run.messages).map(({ id }) => id),
  ...callsInStartOrder(run).map(([id]) => id),
];

const isToBeAnswered = (notice: Notice | null): boolean => notice?.offer !== undefined && notice.level !== 'info';

function fold(model: PanelViewModel, event: RunEvent): void {
  const { run } = model;
  if (!run || event.runId !== run.id || !isNewEvent(run, event)) return;
  const { undos, held } = run;
  applyEvent(run, event);
  if (event.type === 'message' && event.branch === undefined) collectResults(model, event.message);
  if (event.type === 'task-message') collectResults(model, event.message, `${event.task}:`);
  if ('toolCallId' in event) touch(model, event.toolCallId);
  const task = 'toolCallId' in event ? taskOfCall(run, event.toolCallId) : taskOfEvent(event);
  if (task !== undefined && event.type !== 'chunk') touch(model, task);
  if (event.type === 'undo') for (const id of event.toolCallIds) touch(model, id);
  if (run.held !== held || isQueue(event))
    for (const id of new Set([...(held ?? []), ...(run.held ?? [])])) touch(model, id);
  if (run.undos !== undos)
    for (const { toolCallIds } of [...(undos ?? []), ...(run.undos ?? [])])
      for (const id of toolCallIds) touch(model, id);
}

const isQueue = ({ type }: RunEvent): boolean =>
  type === 'queued' || type === 'queued-change' || type === 'queued-remove';

function collectResults(model: PanelViewModel, message: Run['messages'][number], callPrefix = ''): void {
  if (message.role !== 'tool') return;
  for (const result of message.toolResults) {
    const id = callPrefix + result.toolCallId;
    model.results.set(id, result);
    touch(model, id);
  }
}

/** Running calls and calls that need an approval, of those changed recently. */
export function activeCalls({ run, going }: PanelViewModel): CallState[] {
  return [...going].flatMap((id) => {
    const state = run?.calls[id];
    if (state?.status === 'running' || state?.status === 'asking') return [state];
    going.delete(id);
    return [];
  });
}

/** First pending approval; others follow or share its dialog. */
export function firstPendingApproval({ run, going }: PanelViewModel): string | undefined {
  for (const id of going) {
    const state = run?.calls[id];
    if (state?.status === 'asking' && !state.asked) return id;
  }
  return undefined;
}

const touch = (model: PanelViewModel, callId: string): void => {
  model.going.add(callId);
  model.revisions.set(callId, (model.revisions.get(callId) ?? 0) + 1);
};
