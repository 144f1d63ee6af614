import { createCompactionRecord } from '../content/compaction.ts';
import type { ContextUsage } from '../content/contextUsage.ts';
import type { Message } from '../content/messages.ts';
import { appendTerminalOutput } from '../text/lineUpdates.ts';
import { createDictionary, toDictionary } from '../values/dictionary.ts';
import { shownHost } from '../values/shownHost.ts';
import type { MessageDeliveryTiming, RunEvent, StoredEvent } from './events.ts';
import {
  appendWorkflowNodeLiveText,
  applyWorkflowNodeCompaction,
  applyWorkflowNodeEvent,
  applyWorkflowNodeMessage,
  createWorkflowGraphState,
} from './graph.ts';
import { dropAnsweredOutcomes, dropDeliveredOutcomes, recordOutcome } from './outcomes.ts';
import { addLaterChanges, addUsage, appendStreamedReply, type CallState, type QueuedMessage, type Run } from './run.ts';
import { foldFileChanges } from './runFiles.ts';
import { applyTaskEvent, openTasks, type TaskEvent, taskOfEvent } from './tasks.ts';

const outputLimit = 20_000;

// Events that leave the current progress in place: actions of the user, and ends of background commands.
const leavesProgress = new Set<RunEvent['type']>([
  ...([
    'progress',
    'pausing',
    'request',
    'attempt',
    'title',
    'pin',
    'agent',
    'model',
    'undo',
    'redo',
    'command-end',
  ] as const),
  ...(['command-changes', 'queued', 'queued-change', 'queued-remove'] as const),
]);

/** Fields of a call that are those of its newest start. */
const startFields = ['changes', 'moved', 'command', 'step', 'onlyReads', 'sandbox', 'snapshot'] as const;

/** Fields of a call that are those of its newest end: a node repeats a call under the same id. */
const endFields = [
  ...(['ms', 'ok', 'code', 'changes', 'moved', 'unrecorded', 'lost', 'lostCount', 'lines', 'repositories'] as const),
  ...(['stillRunning', 'outputId', 'background', 'exitCode', 'diff', 'interruptedAt'] as const),
];

const shownTypes: ReadonlySet<RunEvent['type']> = new Set(
  Object.keys({
    chunk: true,
    request: true,
    progress: true,
    pausing: true,
    question: true,
    'tool-output': true,
  } satisfies Record<Exclude<RunEvent, StoredEvent>['type'], true>) as RunEvent['type'][],
);

export const isStoredEvent = (event: RunEvent): event is StoredEvent => !shownTypes.has(event.type);

const isBeside = (event: RunEvent): boolean => event.type === 'usage' && event.beside === true;

/**
 * Tells whether an event is new to the run. Snapshots and events may overlap: a stored event counts once, by number. A display event has
 * the number of the preceding stored event.
 */
export const isNewEvent = (run: Run, event: RunEvent): boolean =>
  isStoredEvent(event) ? event.seq > run.seq : event.seq >= run.seq;

const isMetadata = (event: RunEvent): boolean =>
  event.type === 'pin' || (event.type === 'title' && event.by === 'person');

const isOwn = ({ parent }: Run, event: RunEvent): boolean => !parent || event.seq > parent.seq;

/** Folds a new event into the run, in place. Host and panel use the same function. */
export function applyEvent(run: Run, event: RunEvent): void {
  if (!isNewEvent(run, event)) return;
  run.seq = event.seq;
  if (run.createdAt === 0) run.createdAt = event.at;
  if (!isMetadata(event)) run.updatedAt = event.at;
  const task = taskOfEvent(event);
  if (task !== undefined) {
    if (event.type === 'usage' && isOwn(run, event)) addUsage(run, event.usage);
    applyTaskEvent(run, event as TaskEvent);
    return;
  }
  if (!leavesProgress.has(event.type) && !isBeside(event)) run.progress = undefined;
  switch (event.type) {
    case 'run-start':
      run.workflowId = event.workflowId;
      run.agentId = event.agentId;
      run.model = event.model;
      if (event.model) run.models = [{ model: event.model, at: 0, ...(event.effort && { effort: event.effort }) }];
      if (event.parent) run.parent = event.parent;
      if (event.imported) run.imported = true;
      if (event.imported && event.workflowId !== 'chat') run.readOnly = 'importedWorkflow';
      break;
    case 'pin':
      run.pinned = event.pinned || undefined;
      break;
    case 'limit-raise':
      if (event.of === 'run') run.allowed = event.to;
      break;
    case 'instructions':
      run.instructions = event.files;
      break;
    case 'model':
      if (run.models?.at(-1)?.model !== event.model) {
        run.contextTokens = 0; // counted separately
        delete run.filling;
      }
      run.models = [
        ...(run.models ?? []),
        { model: event.model, at: run.messages.length, ...(event.effort && { effort: event.effort }) },
      ];
      break;
    case 'agent':
      run.agentId = event.agentId;
      break;
    case 'title':
      if (event.by === 'person') {
        run.title = event.title;
        run.named = event.title !== '' || undefined;
      } else if (!run.named) run.title = event.title || run.title;
      if (event.usage && isOwn(run, event)) addUsage(run, event.usage);
      break;
    case 'message':
      if (event.branch !== undefined) {
        const track = run.graph?.branches[event.branch];
        if (!track) break;
        track.messages ??= [];
        track.messages.push(event.message);
        break;
      }
      if (run.parent && run.own === undefined && isOwn(run, event)) run.own = run.messages.length;
      if (event.message.role === 'assistant') run.live = undefined;
      endHold(run, event.message);
      if (event.ends) run.ends = run.ends?.filter((id) => !event.ends!.includes(id));
      for (const { path, now } of event.edits ?? []) if (run.files?.[path]) run.files[path].told = now;
      for (const one of event.instructions ?? [])
        run.instructed = toDictionary({ ...run.instructed, [one.path]: { ...one, at: run.messages.length } });
      if (event.queued !== undefined) run.queued = waitingBut(run, event.queued);
      else if (event.message.role === 'user' && run.queued[0]?.text === event.message.content) run.queued.shift(); // for records from before queue numbers
      run.messages.push(event.message);
      run.messageTimes.push(event.at);
      break;
    case 'node-message':
      if (run.graph) applyWorkflowNodeMessage(run.graph, event);
      dropAnsweredOutcomes(run, event);
      break;
    case 'queued':
      run.queued.push(waiting(event.seq, event));
      break;
    case 'queued-change':
      run.queued = run.queued.map((one) => (one.queued === event.queued ? waiting(one.queued, event) : one));
      break;
    case 'queued-remove':
      run.queued = waitingBut(run, event.queued);
      break;
    case 'chunk': {
      if (event.node !== undefined) {
        if (run.graph) appendWorkflowNodeLiveText(run.graph, event.node, event.content ?? '');
        break;
      }
      run.live ??= { content: '', thinking: '', calls: [] };
      appendStreamedReply(run.live, event);
      break;
    }
    case 'progress': {
      const { type: _, runId: __, seq: ___, at: ____, ...progress } = event;
      run.progress = progress;
      break;
    }
    case 'pausing':
      run.pausing = true;
      break;
    case 'call-arguments':
      run.calls[event.toolCallId] ??= { status: 'waiting' };
      run.calls[event.toolCallId]!.understood = {
        arguments: event.arguments,
        ...(event.leftOut && { leftOut: event.leftOut }),
      };
      break;
    case 'approval-request':
    case 'question': {
      const former = run.calls[event.toolCallId];
      if (former && event.type === 'question' && event.access) {
        if (former.status === 'done') break; // its command goes on
        former.status = event.isOver ? 'running' : 'asking';
        if (!event.isOver) former.question = event.question;
        break;
      }
      const { proposed, requestSeq } = event.type === 'question' ? (former ?? {}) : { ...event, requestSeq: event.seq };
      run.calls[event.toolCallId] = {
        ...begunBefore(former), // a node repeats a request under the same id
        status: 'asking',
        question: event.question,
        ...(proposed && { proposed, requestSeq }),
        ...(event.title && { title: event.title }),
      };
      break;
    }
    case 'approval': {
      const call = callOf(run, event.toolCallId);
      call.status = event.decision === 'deny' ? 'done' : 'allowed';
      call.decision = event.decision;
      if (event.decision === 'deny') delete call.again;
      if (event.title) call.title = event.title;
      call.edited = event.edited;
      call.automatic = event.automatic;
      call.basis = event.basis;
      if (event.holds) run.held = [...(run.held ?? []), event.toolCallId];
      break;
    }
    case 'access': {
      const call = callOf(run, event.toolCallId);
      if (call.status === 'asking') call.status = 'running';
      const { host, port } = event.target;
      if (event.decision === 'deny' && host !== undefined)
        call.blocked = [...new Set([...(call.blocked ?? []), shownHost(host, port)])];
      break;
    }
    case 'hold-end':
      delete run.held;
      break;
    case 'tool-start': {
      const call = callOf(run, event.toolCallId);
      call.status = 'running';
      call.startedAt = event.at;
      call.startSeq = event.seq;
      if (event.title) call.title = event.title;
      if (run.graph) {
        run.tools ??= createDictionary();
        run.tools[event.toolCallId] = event.name;
      }
      call.ok = undefined; // a continued node reuses the id
      call.code = undefined;
      for (const key of startFields) call[key] = event[key] as never;
      if (event.command && event.snapshot === undefined) run.ran = true;
      for (const key of ['again', 'blocked', 'output'] as const) delete call[key]; // a command may start again outside of its sandbox
      if (event.about) call.about = event.about;
      break;
    }
    case 'command-start':
      callOf(run, event.toolCallId).process = event.process;
      break;
    case 'ask': {
      const call = callOf(run, event.toolCallId);
      call.status = 'asking';
      call.asked = event.questions;
      call.asker = event.by;
      call.answer = undefined;
      call.ok = undefined; // a restarted node reuses the id
      run.asking = [...asksBut(run, event.toolCallId), event.toolCallId];
      break;
    }
    case 'answer': {
      const call = callOf(run, event.toolCallId);
      const { choices, said, attachments } = event;
      call.status = 'running';
      run.asking = asksBut(run, event.toolCallId);
      if (call.asker)
        call.asked = undefined; // the server goes on
      else call.answer = { choices, ...(said !== undefined && { said }), ...(attachments && { attachments }) };
      break;
    }
    case 'tool-output': {
      const call = callOf(run, event.toolCallId);
      call.output = appendTerminalOutput(call.output ?? '', event.text).slice(-outputLimit);
      break;
    }
    case 'tool-end': {
      const call = callOf(run, event.toolCallId);
      const { interruptedAt } = call;
      if (run.asking?.length) run.asking = asksBut(run, event.toolCallId);
      if (!event.ok && call.changes && !event.changes) run.unmade = [...(run.unmade ?? []), ...call.changes];
      for (const key of endFields) call[key] = event[key] as never;
      call.status = 'done';
      call.interruptedAt ??= interruptedAt;
      if (event.unrecorded) run.ran = true;
      foldFileChanges(run, event);
      if (event.snapshot !== undefined) run.backgroundSnapshot = event.snapshot;
      if (event.outcome) recordOutcome(run, event.toolCallId, { tool: event.name, ...event.outcome });
      delete call.question?.diff; // the card has the diff now
      break;
    }
    case 'interruption-choice':
      for (const id of event.toolCallIds) {
        if (event.choice === 'after') recordOutcome(run, id, { tool: '', data: event.result ?? null, byPerson: true });
        else if (run.calls[id]) run.calls[id].again = true;
      }
      break;
    case 'command-changes':
      addLaterChanges(callOf(run, event.toolCallId), event);
      if (event.unrecorded) run.ran = true;
      foldFileChanges(run, event);
      run.backgroundSnapshot = event.snapshot;
      break;
    case 'command-end': {
      const { type: _, runId: __, seq: ___, toolCallId, at, ...end } = event;
      callOf(run, toolCallId).ended = { ...end, at };
      if (end.by !== 'call') run.ends = [...(run.ends ?? []).filter((id) => id !== toolCallId), toolCallId];
      break;
    }
    case 'undo':
      for (const id of event.toolCallIds) {
        const call = callOf(run, id);
        const recorded = [...(call.changes ?? []), ...(call.repositories ?? [])];
        const own = [...recorded.map(({ path }) => path), ...(call.moved ? [call.moved.to] : [])];
        const taken = new Set([...event.changes.map(({ path }) => path), ...(event.paths ?? [])]);
        const undone = own.filter((path) => taken.has(path));
        call.undone = [...new Set([...(call.undone ?? []), ...undone])];
      }
      foldFileChanges(run, event);
      break;
    case 'redo':
      for (const id of event.toolCallIds) {
        const call = callOf(run, id);
        const redone = new Set(event.paths);
        const undone = (call.undone ?? []).filter((path) => !redone.has(path));
        if (undone.length > 0) call.undone = undone;
        else delete call.undone;
      }
      foldFileChanges(run, event);
      break;
    case 'usage':
      if (isOwn(run, event)) addUsage(run, event.usage);
      if (event.beside) break;
      if (event.node !== undefined) {
        run.model ||= event.model;
        break;
      }
      run.model = event.model;
      run.answered = { tokens: event.usage.completionTokens, ms: event.ms - (event.delayMs ?? 0) };
      run.contextMessages = run.messages.length + 1; // the answer comes next
      run.contextTokens = event.usage.promptTokens + event.usage.completionTokens;
      run.filling = event.filling && withAnswer(event.filling, event.usage);
      break;
    case 'request':
      if (event.node === undefined && event.filling) run.filling = event.filling;
      break;
    case 'outline':
      run.outline = event.outline;
      break;
    case 'node':
      run.graph ??= createWorkflowGraphState();
      applyWorkflowNodeEvent(run.graph, event, event.at);
      dropDeliveredOutcomes(run, event);
      if (event.branch === undefined) {
        const isEnd = event.status === 'end' && run.graph.main.at.length === 0;
        run.graph.end = isEnd ? { node: event.node, messages: run.messages.length } : undefined;
      }
      break;
    case 'compaction':
      if (event.node !== undefined) {
        if (run.graph) applyWorkflowNodeCompaction(run.graph, { ...event, node: event.node });
        break;
      }
      run.contextTokens = 0;
      run.filling = event.filling;
      run.compactions.push(createCompactionRecord(event, run.messages.length));
      break;
    case 'mended': {
      const { from, damage: text, said } = event;
      const { open: _, ...known } = run.damage?.find((one) => one.from === from) ?? {
        from,
        at: run.messages.length,
        text,
        ...(said && { said }),
        messages: [],
      };
      run.damage = [...(run.damage ?? []).filter((one) => one.from !== from), known];
      break;
    }
    case 'phase':
      run.phase = event.phase;
      run.error = event.error;
      if (event.took) run.took = event.took;
      else delete run.took;
      run.pausing = undefined;
      if (event.phase !== 'Running') {
        run.live = undefined;
        for (const [, open] of openTasks(run)) delete open.live;
        if (run.work) run.work.ended = event.at;
      } else {
        delete run.unmade; // examined before the continuation
        run.work = { began: event.at, costBefore: run.usage.cost ?? 0 };
      }
      break;
  }
}

function endHold(run: Run, { role, content }: Message): void {
  if (!run.held || (role !== 'user' && role !== 'assistant')) return;
  if (role === 'user' && content !== '') for (const id of run.held) if (run.calls[id]) run.calls[id].feedback = content;
  delete run.held;
}

// Call state that survives a new approval request: the arguments, and the earlier start of an interrupted call.
const begunBefore = ({
  understood,
  again,
  startedAt,
  startSeq,
  interruptedAt,
  command,
}: Partial<CallState> = {}): Partial<CallState> => ({
  ...(understood && { understood }),
  ...(again && { again, startedAt, startSeq, interruptedAt, ...(command && { command }) }),
});

function callOf(run: Run, toolCallId: string): CallState {
  run.calls[toolCallId] ??= { status: 'asking' };
  return run.calls[toolCallId];
}

const waiting = (
  queued: number,
  { text, attachments, when = 'turn' }: Omit<QueuedMessage, 'queued' | 'when'> & { when?: MessageDeliveryTiming },
): QueuedMessage => ({
  text,
  ...(attachments && { attachments }),
  queued,
  when,
});

const waitingBut = (run: Run, number: number): QueuedMessage[] => run.queued.filter(({ queued }) => queued !== number);

const asksBut = ({ asking = [] }: Run, toolCallId: string): string[] => asking.filter((id) => id !== toolCallId);

const withAnswer = (
  filling: ContextUsage,
  {
    promptTokens,
    completionTokens,
    cachedTokens,
  }: { promptTokens: number; completionTokens: number; cachedTokens?: number },
): ContextUsage => ({
  ...filling,
  total: promptTokens + completionTokens,
  answers: filling.answers + completionTokens,
  ...(cachedTokens !== undefined && { cached: cachedTokens }),
});
