import * as z from 'zod';
import { answerShape, askedSchema } from './ask.ts';
import { parentSchema } from './branches.ts';
import { compactionSchema } from './compaction.ts';
import {
  backgroundSchema,
  type CommandEnd,
  commandEndShape,
  commandSchema,
  decisionSchema,
  keptChangeSchema,
  movedSchema,
  processSchema,
  questionSchema,
  runPhaseSchema,
  saidShape,
  stepStartSchema,
  whenSchema,
} from './events.ts';
import { fillingSchema } from './filling.ts';
import { graphSchema } from './graph.ts';
import { errorInfoSchema, messageSchema, tokenUsageSchema } from './messages.ts';
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
  /** Its change, or the first lines of it. */
  diff: z.string().optional(),
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
  /** Of the command that it ran to its end; null: it was killed. */
  exitCode: z.number().int().nullable().optional(),
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
  /** The person gave it that title: nothing else does. */
  named: z.boolean().optional(),
  pinned: z.boolean().optional(),
  workflowId: z.string(),
  agentId: z.string(),
  model: z.string(),
  /** The models that the conversation went to (`provider/model`), in order, and how many messages there were then. */
  models: z.array(z.object({ model: z.string(), at: z.number().int() })).optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
  /** It came from a file, and was somebody's elsewhere. */
  imported: z.boolean().optional(),
  /** Where it was forked from another run. */
  parent: parentSchema.optional(),
  /** How many messages it has from there, once it has one of its own. */
  own: z.number().int().optional(),
  phase: runPhaseSchema,
  error: errorInfoSchema.optional(),
  /** With the error of the limit of turns. */
  took: tookSchema.optional(),
  /** The work since it last began or went on: when, until when, and what the run had cost before (US dollars). */
  work: z.object({ began: z.number(), ended: z.number().optional(), costBefore: z.number() }).optional(),
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
  /** What was said and is not given yet, by the number of its event. */
  queued: z.array(z.object({ ...saidShape, queued: z.number().int(), when: whenSchema })),
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
  /** Tokens of `usage` that its `cost`, when it has one, is not for; absent: it is for all. */
  unpriced: z.number().optional(),
  /** US dollars that the person lets it spend in all, asked at its limit. */
  allowed: z.number().optional(),
  /** Tokens of the newest model call, prompt and answer: how full the window is; 0: not known. */
  contextTokens: z.number(),
  /** What fills the window of its model, as of the newest call; absent: not known. */
  filling: fillingSchema.optional(),
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
export type Waiting = Run['queued'][number];
export type CallDraft = NonNullable<Run['live']>['calls'][number];

/** Tokens whose price is not known. */
export const unpricedTokens = ({ usage, unpriced = 0 }: Pick<Run, 'usage' | 'unpriced'>): number =>
  usage.cost === undefined ? usage.totalTokens : unpriced;

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

/** What the person said, in order; of a branch what they said in it, as soon as there is something. */
export function ownWords({ messages, own }: Pick<Run, 'messages' | 'own'>): string[] {
  const said = (from: number) => messages.slice(from).flatMap((one) => (one.role === 'user' ? [one.content] : []));
  const words = own === undefined ? [] : said(own);
  return words.length > 0 ? words : said(0);
}

/** The run's own title, else the beginning of its first words. */
export function titleOf(run: Run): string {
  if (run.title) return run.title;
  const first = ownWords(run).find((words) => words.trim() !== '') ?? '';
  const line = first.trim().split('\n', 1)[0]!;
  return (line.length > 80 ? `${[...line].slice(0, 79).join('')}…` : line) || 'New run';
}

/** What concerns the person of a run: its model asks, it is at work; it has failed, it has come to rest, and nobody has seen that. */
export const runStates = ['asking', 'working', 'failed', 'ended'] as const;
export type RunState = (typeof runStates)[number];

/**
 * A run in a list. `live`: its loop is at work in this window. `damaged`: where and how much of its record cannot be read, until
 * somebody goes on with it. `readOnly`: why that cannot be.
 */
export const runSummarySchema = z.object({
  id: z.string(),
  title: z.string(),
  phase: runPhaseSchema,
  createdAt: z.number(),
  updatedAt: z.number(),
  live: z.boolean(),
  /** A command of it may be at work: see `leftCalls`. */
  commands: z.boolean().optional(),
  damaged: z.string().optional(),
  readOnly: z.string().optional(),
  imported: z.boolean().optional(),
  parent: parentSchema.optional(),
  /** The one it went to last, as `provider/model`. */
  model: z.string().optional(),
  /** US dollars that it took itself, where prices are known. */
  cost: z.number().optional(),
  /** Why it ended as nobody wanted it to, or was stopped. */
  error: errorInfoSchema.optional(),
  /** The title is the person's own. */
  named: z.boolean().optional(),
  /** Among the first in a list. */
  pinned: z.boolean().optional(),
});
export type RunSummary = z.infer<typeof runSummarySchema>;
