import * as z from 'zod';
import { answerShape, askedSchema } from './ask.ts';
import { compactionOf, compactionSchema } from './compaction.ts';
import {
  backgroundSchema,
  type CommandEnd,
  commandEndShape,
  commandSchema,
  decisionSchema,
  isStored,
  keptChangeSchema,
  movedSchema,
  processSchema,
  questionSchema,
  type RunEvent,
  type RunPhase,
  runPhaseSchema,
  saidShape,
  stepStartSchema,
} from './events.ts';
import { applyNode, applyNodeCompaction, applyNodeText, graphSchema, newGraph } from './graph.ts';
import { errorInfoSchema, messageSchema, type TokenUsage, tokenUsageSchema } from './messages.ts';
import { outlineSchema } from './outline.ts';
import { tookSchema } from './took.ts';

/** One tool call as its card shows it. Arguments are in the assistant message, the outcome in the tool message. */
const callStateSchema = z.object({
  status: z.enum(['asking', 'allowed', 'running', 'done']),
  question: questionSchema.optional(),
  /** What it asks the person by itself, and what they answered. */
  asked: z.array(askedSchema).optional(),
  answer: z.object(answerShape).optional(),
  decision: decisionSchema.optional(),
  edited: z.boolean().optional(),
  automatic: z.string().optional(),
  startedAt: z.number().optional(),
  ms: z.number().optional(),
  ok: z.boolean().optional(),
  code: z.string().optional(),
  /** What it did to files; without an end, what it was about to do. */
  changes: z.array(keptChangeSchema).optional(),
  moved: movedSchema.optional(),
  command: commandSchema.optional(),
  process: processSchema.optional(),
  step: stepStartSchema.optional(),
  stillRunning: z.array(z.string()).optional(),
  background: backgroundSchema.optional(),
  /** How its command in the background ended, and when. */
  ended: z.object({ ...commandEndShape, at: z.number() }).optional(),
  /** Paths whose changes were undone; for `moved` the one it went to. */
  undone: z.array(z.string()).optional(),
  outputId: z.string().optional(),
  /** Live output of a command, the newest `outputLimit` characters. */
  output: z.string().optional(),
});
export type CallState = z.infer<typeof callStateSchema>;

/** A place where the record is damaged. What was said after a loss, before the run was gone on with, is no part of the conversation. */
export const damageSchema = z.object({
  /** The newest event before it. */
  from: z.number().int(),
  /** How many messages there were. */
  at: z.number().int(),
  /** Where and how much, in sentences without a capital and a full stop. */
  text: z.string(),
  /** What could still be read after it. */
  messages: z.array(messageSchema),
  /** Nobody has gone on with the run since. What the next `mended` says. */
  open: z.object({ to: z.number().int(), places: z.array(z.number()) }).optional(),
});
export type Damage = z.infer<typeof damageSchema>;

/** A run: the fold of its events; stored, shown and counted from the same lines. */
export const runSchema = z.object({
  id: z.string(),
  /** The newest event folded in. */
  seq: z.number().int(),
  title: z.string(),
  workflowId: z.string(),
  agentId: z.string(),
  model: z.string(),
  /** The models that the conversation went to (`provider/model`), in order, and how many messages there were then. */
  models: z.array(z.object({ model: z.string(), at: z.number().int() })).optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
  phase: runPhaseSchema,
  error: errorInfoSchema.optional(),
  /** With the error of the limit of turns. */
  took: tookSchema.optional(),
  /** It rests once its turn is over. */
  pausing: z.boolean().optional(),
  messages: z.array(messageSchema),
  /** When each message was added (epoch ms); same length as `messages`. */
  messageTimes: z.array(z.number()),
  /** By tool call id. */
  calls: z.record(z.string(), callStateSchema),
  /** What calls were about to do to files when they failed, since the run was gone on with: the disk may have failed in the middle of it. */
  unmade: z.array(keptChangeSchema).optional(),
  /** Calls whose own questions wait for the person, oldest first. */
  asking: z.array(z.string()).optional(),
  queued: z.array(z.object(saidShape)),
  /** Calls whose command in the background has ended, of which the model has not heard. */
  ends: z.array(z.string()).optional(),
  /** The reply that is being streamed; its `calls` are being written. */
  live: z
    .object({
      content: z.string(),
      thinking: z.string(),
      calls: z.array(z.object({ name: z.string(), argumentsText: z.string() })),
    })
    .optional(),
  progress: z.object({ text: z.string(), fraction: z.number().optional(), until: z.number().optional() }).optional(),
  usage: tokenUsageSchema,
  /** Tokens of the newest model call, prompt and answer: how full the window is; 0: not known. */
  contextTokens: z.number(),
  /** All of its workflow, when that has nodes. */
  outline: outlineSchema.optional(),
  /** Where it stands in it. */
  graph: graphSchema.optional(),
  /** How many messages `contextTokens` counts. */
  contextMessages: z.number().int(),
  /** In order. */
  compactions: z.array(compactionSchema),
  /** In order; absent: its record is whole. */
  damage: z.array(damageSchema).optional(),
  /** Why it can be read and not gone on with, as a sentence. */
  readOnly: z.string().optional(),
});
export type Run = z.infer<typeof runSchema>;
export type CallDraft = NonNullable<Run['live']>['calls'][number];

/** Characters of live output kept in the fold. */
const outputLimit = 20_000;

export function newRun(id: string): Run {
  return {
    id,
    seq: 0,
    title: '',
    workflowId: '',
    agentId: '',
    model: '',
    createdAt: 0,
    updatedAt: 0,
    phase: 'WaitingUser',
    messages: [],
    messageTimes: [],
    calls: {},
    queued: [],
    usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0 },
    contextTokens: 0,
    contextMessages: 0,
    compactions: [],
  };
}

/**
 * A snapshot and the events around it may overlap: what was stored counts once, by its number. What is only shown has the number of
 * what was stored before it.
 */
export const isNews = (run: Run, event: RunEvent): boolean =>
  isStored(event) ? event.seq > run.seq : event.seq >= run.seq;

/** Folds one event into the run, in place, if it is news: host and panel use the same function on the same events. */
export function applyEvent(run: Run, event: RunEvent): void {
  if (!isNews(run, event)) return;
  run.seq = event.seq;
  if (run.createdAt === 0) run.createdAt = event.at;
  run.updatedAt = event.at;
  if (event.type !== 'progress' && event.type !== 'pausing') run.progress = undefined;
  switch (event.type) {
    case 'run-start':
      run.workflowId = event.workflowId;
      run.agentId = event.agentId;
      run.model = event.model;
      if (event.model) run.models = [{ model: event.model, at: 0 }];
      break;
    case 'model':
      run.models = [...(run.models ?? []), { model: event.model, at: run.messages.length }];
      run.contextTokens = 0; // it counts in its own way
      break;
    case 'title':
      run.title = event.title || run.title;
      if (event.usage) run.usage = addUsage(run.usage, event.usage);
      break;
    case 'message':
      if (event.branch !== undefined) {
        const track = run.graph?.branches[event.branch];
        if (!track) break;
        track.messages ??= [];
        track.messages.push(event.message);
        break;
      }
      if (event.message.role === 'assistant') run.live = undefined;
      if (event.ends) run.ends = run.ends?.filter((id) => !event.ends!.includes(id));
      if (event.message.role === 'user' && run.queued[0]?.text === event.message.content) run.queued.shift();
      run.messages.push(event.message);
      run.messageTimes.push(event.at);
      break;
    case 'queued':
      run.queued.push({ text: event.text, ...(event.attachments && { attachments: event.attachments }) });
      break;
    case 'chunk': {
      if (event.node !== undefined) {
        if (run.graph) applyNodeText(run.graph, event.node, event.content ?? '');
        break;
      }
      run.live ??= { content: '', thinking: '', calls: [] };
      run.live.content += event.content ?? '';
      run.live.thinking += event.thinking ?? '';
      if (event.toolCall) {
        const { index, name, argumentsText } = event.toolCall;
        while (run.live.calls.length <= index) run.live.calls.push({ name: '', argumentsText: '' });
        const draft = run.live.calls[index]!;
        if (name) draft.name = name;
        draft.argumentsText += argumentsText ?? '';
      }
      break;
    }
    case 'progress':
      run.progress = { text: event.text, fraction: event.fraction, until: event.until };
      break;
    case 'pausing':
      run.pausing = true;
      break;
    case 'question':
      run.calls[event.toolCallId] = { status: 'asking', question: event.question };
      break;
    case 'approval': {
      const call = callOf(run, event.toolCallId);
      call.status = event.decision === 'deny' ? 'done' : 'allowed';
      call.decision = event.decision;
      call.edited = event.edited;
      call.automatic = event.automatic;
      break;
    }
    case 'tool-start': {
      const call = callOf(run, event.toolCallId);
      call.status = 'running';
      call.startedAt = event.at;
      call.ok = undefined; // a node that goes on does it under the same id
      call.code = undefined;
      call.changes = event.changes;
      call.moved = event.moved;
      call.command = event.command;
      call.step = event.step;
      break;
    }
    case 'command-start':
      callOf(run, event.toolCallId).process = event.process;
      break;
    case 'ask': {
      const call = callOf(run, event.toolCallId);
      call.status = 'asking';
      call.asked = event.questions;
      call.answer = undefined;
      call.ok = undefined; // a node that is begun anew asks under the same id
      run.asking = [...asksBut(run, event.toolCallId), event.toolCallId];
      break;
    }
    case 'answer': {
      const call = callOf(run, event.toolCallId);
      const { choices, said, attachments } = event;
      call.status = 'running';
      call.answer = { choices, ...(said !== undefined && { said }), ...(attachments && { attachments }) };
      run.asking = asksBut(run, event.toolCallId);
      break;
    }
    case 'tool-output': {
      const call = callOf(run, event.toolCallId);
      call.output = ((call.output ?? '') + event.text).slice(-outputLimit);
      break;
    }
    case 'tool-end': {
      const call = callOf(run, event.toolCallId);
      call.status = 'done';
      if (run.asking?.length) run.asking = asksBut(run, event.toolCallId);
      call.ms = event.ms;
      call.ok = event.ok;
      call.code = event.code;
      if (!event.ok && call.changes && !event.changes) run.unmade = [...(run.unmade ?? []), ...call.changes];
      call.changes = event.changes;
      call.moved = event.moved;
      call.stillRunning = event.stillRunning;
      call.outputId = event.outputId;
      call.background = event.background;
      break;
    }
    case 'command-end': {
      const { type: _, runId: __, seq: ___, toolCallId, at, ...end } = event;
      callOf(run, toolCallId).ended = { ...end, at };
      if (end.by !== 'call') run.ends = [...(run.ends ?? []).filter((id) => id !== toolCallId), toolCallId];
      break;
    }
    case 'undo':
      for (const id of event.toolCallIds) {
        const call = callOf(run, id);
        const own = [...(call.changes ?? []).map(({ path }) => path), ...(call.moved ? [call.moved.to] : [])];
        const taken = [...event.changes.map(({ path }) => path), ...(event.paths ?? [])];
        const undone = own.filter((path) => taken.includes(path));
        call.undone = [...new Set([...(call.undone ?? []), ...undone])];
      }
      break;
    case 'usage':
      run.usage = addUsage(run.usage, event.usage);
      if (event.node !== undefined) {
        run.model ||= event.model;
        break;
      }
      run.model = event.model;
      run.contextMessages = run.messages.length + 1; // the answer comes next
      run.contextTokens = event.usage.promptTokens + event.usage.completionTokens;
      break;
    case 'outline':
      run.outline = event.outline;
      break;
    case 'node':
      run.graph ??= newGraph();
      applyNode(run.graph, event, event.at);
      if (event.branch === undefined) {
        const isEnd = event.status === 'end' && run.graph.main.at.length === 0;
        run.graph.end = isEnd ? { node: event.node, messages: run.messages.length } : undefined;
      }
      break;
    case 'compaction':
      if (event.node !== undefined) {
        if (run.graph) applyNodeCompaction(run.graph, { ...event, node: event.node });
        break;
      }
      run.contextTokens = 0;
      run.compactions.push(compactionOf(event, run.messages.length));
      break;
    case 'mended': {
      const { from, damage: text } = event;
      const { open: _, ...known } = run.damage?.find((one) => one.from === from) ?? {
        from,
        at: run.messages.length,
        text,
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
      if (event.phase !== 'Running') run.live = undefined;
      else delete run.unmade; // looked at before it was gone on with
      break;
  }
}

function callOf(run: Run, toolCallId: string): CallState {
  run.calls[toolCallId] ??= { status: 'asking' };
  return run.calls[toolCallId];
}

const asksBut = ({ asking = [] }: Run, toolCallId: string): string[] => asking.filter((id) => id !== toolCallId);

function addUsage(total: TokenUsage, usage: TokenUsage): TokenUsage {
  return {
    promptTokens: total.promptTokens + usage.promptTokens,
    completionTokens: total.completionTokens + usage.completionTokens,
    totalTokens: total.totalTokens + usage.totalTokens,
    cachedTokens: (total.cachedTokens ?? 0) + (usage.cachedTokens ?? 0),
    thinkingTokens: (total.thinkingTokens ?? 0) + (usage.thinkingTokens ?? 0),
    ...((total.cost ?? usage.cost) !== undefined && { cost: (total.cost ?? 0) + (usage.cost ?? 0) }),
  };
}

type WithCommand = CallState & Required<Pick<CallState, 'command'>>;

/** Calls whose command may be at work though the run is not: in the background, or the editor ended, or a stop was not waited for. */
export function leftCalls(run: Run): [toolCallId: string, state: WithCommand][] {
  return Object.entries(run.calls).flatMap(([id, { command, ...state }]) => {
    const { ok, code, background, ended } = state;
    const may =
      ok === undefined ||
      code === 'TOOL_INTERRUPTED' ||
      (background && (!ended || (ended.by === 'lost' && Boolean(ended.stillRunning?.length))));
    return command && may ? [[id, { ...state, command }]] : [];
  });
}

type Ended = WithCommand & Required<Pick<CallState, 'background' | 'ended'>>;

/** Calls whose command in the background has ended without the model having heard of it. */
export function untoldEnds(run: Run): [toolCallId: string, state: Ended][] {
  return (run.ends ?? []).flatMap((id) => {
    const { command, background, ended, ...state } = run.calls[id] ?? { status: 'done' };
    return command && background && ended ? [[id, { ...state, command, background, ended }]] : [];
  });
}

/** How a command in the background ended, in words that go on with its name: `ended with 1`. */
export function endWords({ by, exitCode, signal, stillRunning }: CommandEnd): string {
  if (by === 'lost') return stillRunning?.length ? 'went on without its window' : 'ended after its window';
  if (by === 'window') return 'ended with its window or its run';
  if (by === 'flood') return 'was ended: it wrote more than 100 MiB';
  if (by === 'timeout') return 'was ended: its time was over';
  if (by === 'person') return 'was stopped by the person';
  if (by === 'call') return 'was stopped';
  return signal ? `was killed (${signal})` : `ended with ${exitCode}`;
}

/** It ended as nobody wanted it to: neither stopped nor with 0. */
export const hasDied = ({ by, exitCode }: CommandEnd): boolean =>
  by === 'itself' ? exitCode !== 0 : by === 'flood' || by === 'timeout' || by === 'lost';

/** The run's own title, else the beginning of its first message. */
export function titleOf(run: Run): string {
  const said = run.messages.find((message) => message.role === 'user' && message.content.trim() !== '');
  const first = said?.content ?? '';
  const line = first.trim().split('\n', 1)[0]!;
  return run.title || (line.length > 80 ? `${[...line].slice(0, 79).join('')}…` : line) || 'New run';
}

/**
 * A run in a list. `live`: its loop is at work in this window. `damaged`: where and how much of its record cannot be read, until
 * somebody goes on with it. `readOnly`: why that cannot be.
 */
export interface RunSummary {
  id: string;
  title: string;
  phase: RunPhase;
  createdAt: number;
  updatedAt: number;
  live: boolean;
  /** A command of it may be at work: see `leftCalls`. */
  commands?: boolean;
  damaged?: string;
  readOnly?: string;
}
