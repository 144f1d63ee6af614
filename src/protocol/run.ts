import * as z from 'zod';
import { applyNode, applyNodeText, graphSchema, newGraph, nodeChangeShape } from './graph.ts';
import { attachmentSchema, errorInfoSchema, messageSchema, type TokenUsage, tokenUsageSchema } from './messages.ts';
import { outlineSchema } from './outline.ts';

export const runPhaseSchema = z.enum(['Running', 'WaitingUser', 'Completed', 'Failed']);
/** `Running`: the loop is at work. `WaitingUser`, `Completed`, `Failed`: stop points; each can be continued. */
export type RunPhase = z.infer<typeof runPhaseSchema>;

const removedKindSchema = z.enum(['file', 'link', 'folder']);
export type RemovedKind = z.infer<typeof removedKindSchema>;

/**
 * A change of one file as kept contents: `before` and `after` are content ids (sha256) in the store; `null` means that
 * the file does not exist on that side. With `kind` it was deleted as it was on disk: `before` is not a text but a file's bytes,
 * where a link led, or nothing, for an empty folder.
 */
export const keptChangeSchema = z.object({
  path: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  kind: removedKindSchema.optional(),
  /** The permissions it had. */
  mode: z.number().int().optional(),
});
export type KeptChange = z.infer<typeof keptChangeSchema>;

/** A move that is taken back by moving: of a folder, or of a file that is not text. Workspace-relative. */
const movedSchema = z.object({ from: z.string(), to: z.string() });
export type Moved = z.infer<typeof movedSchema>;

/** What a person is asked about: short and true. `where` is the real path, or the folder a command runs in. */
export const questionSchema = z.object({
  id: z.string(),
  what: z.string(),
  where: z.string(),
  why: z.string(),
  command: z.string().optional(),
});
export type Question = z.infer<typeof questionSchema>;

export const decisionSchema = z.enum(['allow', 'allow-run', 'deny']);
export type Decision = z.infer<typeof decisionSchema>;

/** What a person said: words and what goes with them. */
const said = { text: z.string(), attachments: z.array(attachmentSchema).optional() };

const compaction = { upTo: z.number().int().min(0), summary: z.string().optional() };

const place = { runId: z.string(), seq: z.number().int(), at: z.number() };
const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({ ...place, type: z.literal(type), ...shape });

const storedEvents = [
  event('run-start', { workflowId: z.string(), agentId: z.string(), model: z.string() }),
  event('title', { title: z.string() }),
  /** `branch`: said in the conversation that a parallel branch of the workflow has of its own. */
  event('message', { message: messageSchema, branch: z.string().optional() }),
  /** Said while the loop was at work; given to the model at the next turn, then a `message`. */
  event('queued', said),
  event('approval', {
    toolCallId: z.string(),
    decision: decisionSchema,
    waitedMs: z.number(),
    words: z.string().optional(),
    /** The person changed it before allowing it. */
    edited: z.boolean().optional(),
    /** Why nobody was asked, when nobody was. */
    automatic: z.string().optional(),
  }),
  /** The intent, on disk before the effect. */
  event('tool-start', { toolCallId: z.string(), name: z.string() }),
  event('tool-end', {
    toolCallId: z.string(),
    name: z.string(),
    ok: z.boolean(),
    ms: z.number(),
    code: z.string().optional(),
    changes: z.array(keptChangeSchema).optional(),
    moved: movedSchema.optional(),
    /** The content id of what was too long to tell. */
    outputId: z.string().optional(),
  }),
  /** The person took changes of these calls back; `changes` are what that did. */
  event('undo', {
    toolCallIds: z.array(z.string()),
    changes: z.array(keptChangeSchema),
    /** Paths of the calls' own changes and moves that are undone by it, where they are not those of `changes`. */
    paths: z.array(z.string()).optional(),
  }),
  /** `node`: of a call outside the conversation. */
  event('usage', {
    usage: tokenUsageSchema,
    attempts: z.number(),
    model: z.string(),
    ms: z.number(),
    node: z.string().optional(),
  }),
  /** The workflow that the run follows, as it is now. */
  event('outline', { outline: outlineSchema }),
  event('node', nodeChangeShape),
  /**
   * The model's window was full. From now on it is sent the tool outputs before message `upTo` shortened and, with a
   * `summary`, that in place of those messages. What is kept and shown stays whole.
   */
  event('compaction', compaction),
  event('phase', { phase: runPhaseSchema, error: errorInfoSchema.optional() }),
] as const;

const shownEvents = [
  event('chunk', {
    content: z.string().optional(),
    thinking: z.string().optional(),
    /** A fragment of a call being written; `index` counts the calls of this reply. */
    toolCall: z
      .object({ index: z.number(), name: z.string().optional(), argumentsText: z.string().optional() })
      .optional(),
    /** The node whose model call says it, outside the conversation. */
    node: z.string().optional(),
  }),
  /** What is being waited for: a model loading, a prompt being read (`fraction` 0..1), a retry (`until`, epoch ms). */
  event('progress', { text: z.string(), fraction: z.number().optional(), until: z.number().optional() }),
  /** The person asked for a rest: it comes when the turn is over. */
  event('pausing', {}),
  event('question', { toolCallId: z.string(), question: questionSchema }),
  event('tool-output', { toolCallId: z.string(), text: z.string() }),
] as const;

/** What is kept in a journal, one line each. */
export const storedEventSchema = z.discriminatedUnion('type', storedEvents);
export type StoredEvent = z.infer<typeof storedEventSchema>;
/** Everything that happens in a run; `chunk`, `progress`, `pausing`, `question` and `tool-output` are shown, never stored. */
export const runEventSchema = z.discriminatedUnion('type', [...storedEvents, ...shownEvents]);
export type RunEvent = z.infer<typeof runEventSchema>;

type WithoutPlace<Event> = Event extends unknown ? Omit<Event, 'runId' | 'seq' | 'at'> : never;
/** An event before the run's log gives it its place (`runId`, `seq`, `at`). */
export type EventBody = WithoutPlace<RunEvent>;

const shownTypes = new Set<RunEvent['type']>(['chunk', 'progress', 'pausing', 'question', 'tool-output']);
export const isStored = (event: RunEvent): event is StoredEvent => !shownTypes.has(event.type);

/** One tool call as its card shows it. Arguments are in the assistant message, the outcome in the tool message. */
const callStateSchema = z.object({
  status: z.enum(['asking', 'allowed', 'running', 'done']),
  question: questionSchema.optional(),
  decision: decisionSchema.optional(),
  edited: z.boolean().optional(),
  automatic: z.string().optional(),
  startedAt: z.number().optional(),
  ms: z.number().optional(),
  ok: z.boolean().optional(),
  code: z.string().optional(),
  changes: z.array(keptChangeSchema).optional(),
  moved: movedSchema.optional(),
  /** Paths whose changes were undone; for `moved` the one it went to. */
  undone: z.array(z.string()).optional(),
  outputId: z.string().optional(),
  /** Live output of a command, the newest `outputLimit` characters. */
  output: z.string().optional(),
});
export type CallState = z.infer<typeof callStateSchema>;

/** A run: the fold of its events; stored, shown and counted from the same lines. */
export const runSchema = z.object({
  id: z.string(),
  /** The newest event folded in. */
  seq: z.number().int(),
  title: z.string(),
  workflowId: z.string(),
  agentId: z.string(),
  model: z.string(),
  createdAt: z.number(),
  updatedAt: z.number(),
  phase: runPhaseSchema,
  error: errorInfoSchema.optional(),
  /** It rests once its turn is over. */
  pausing: z.boolean().optional(),
  messages: z.array(messageSchema),
  /** When each message was added (epoch ms); same length as `messages`. */
  messageTimes: z.array(z.number()),
  /** By tool call id. */
  calls: z.record(z.string(), callStateSchema),
  queued: z.array(z.object(said)),
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
  /** What was done about a full window, in order; `at`: how many messages there were. */
  compactions: z.array(z.object({ ...compaction, at: z.number().int() })),
});
export type Run = z.infer<typeof runSchema>;
export type CallDraft = NonNullable<Run['live']>['calls'][number];

/** Characters of live output kept in the fold. */
export const outputLimit = 20_000;

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
 * Folds one event into the run, in place: host and panel use the same function on the same events.
 * An event at or before `run.seq` is ignored, so that a snapshot and the events around it may overlap.
 */
export function applyEvent(run: Run, event: RunEvent): void {
  if (event.seq <= run.seq) return;
  run.seq = event.seq;
  if (run.createdAt === 0) run.createdAt = event.at;
  run.updatedAt = event.at;
  if (event.type !== 'progress' && event.type !== 'pausing') run.progress = undefined;
  switch (event.type) {
    case 'run-start':
      run.workflowId = event.workflowId;
      run.agentId = event.agentId;
      run.model = event.model;
      break;
    case 'title':
      run.title = event.title;
      break;
    case 'message':
      if (event.branch !== undefined) {
        const track = run.graph?.branches[event.branch];
        if (track) track.messages = [...(track.messages ?? []), event.message];
        break;
      }
      if (event.message.role === 'assistant') run.live = undefined;
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
      call.ms = event.ms;
      call.ok = event.ok;
      call.code = event.code;
      call.changes = event.changes;
      call.moved = event.moved;
      call.outputId = event.outputId;
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
      break;
    case 'compaction':
      run.contextTokens = 0;
      run.compactions.push({
        upTo: event.upTo,
        ...(event.summary !== undefined && { summary: event.summary }),
        at: run.messages.length,
      });
      break;
    case 'phase':
      run.phase = event.phase;
      run.error = event.error;
      run.pausing = undefined;
      if (event.phase !== 'Running') run.live = undefined;
      break;
  }
}

function callOf(run: Run, toolCallId: string): CallState {
  run.calls[toolCallId] ??= { status: 'asking' };
  return run.calls[toolCallId];
}

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

/** The run's own title, else the beginning of its first message. */
export function titleOf(run: Run): string {
  const said = run.messages.find((message) => message.role === 'user' && message.content.trim() !== '');
  const first = said?.content ?? '';
  const line = first.trim().split('\n', 1)[0]!;
  return run.title || (line.length > 80 ? `${[...line].slice(0, 79).join('')}…` : line) || 'New run';
}

/** A run in a list. `live`: its loop is at work in this window. `damaged`: its journal could not be read whole. */
export interface RunSummary {
  id: string;
  title: string;
  phase: RunPhase;
  createdAt: number;
  updatedAt: number;
  live: boolean;
  damaged?: string;
}
