import type { ApprovalBasis } from '../content/approvalBasis.ts';
import type { Compaction } from '../content/compaction.ts';
import type { ContextUsage } from '../content/contextUsage.ts';
import type { Instructed, Instruction } from '../content/instructions.ts';
import type { ErrorInfo, Message, TokenUsage } from '../content/messages.ts';
import type { Outline } from '../content/outline.ts';
import type { Answer, UserQuestions } from '../content/questions.ts';
import type { WorkStats } from '../content/workStats.ts';
import { truncateVisible } from '../text/escapeInvisible.ts';
import { inEnglish, type LocalizedMessage, message, t } from '../text/l10n.ts';
import { createDictionary, type Dictionary, entriesOf, toDictionary } from '../values/dictionary.ts';
import type { Parent } from './branches.ts';
import type {
  Background,
  Command,
  CommandEnd,
  Decision,
  Moved,
  ProcessIdentity,
  Proposed,
  RunPhase,
  StepStart,
  StoredChange,
  UnderstoodArguments,
  UserQuestion,
  UserText,
  When,
} from './events.ts';
import type { Graph } from './graph.ts';
import type { NodeOutcome } from './outcomes.ts';
import type { ReadOnlyCode } from './readOnlyReason.ts';
import type { RunFile, Undone } from './runFiles.ts';

/** One tool call as its card shows it. Arguments are in the assistant message, the outcome in the tool message. */
export interface CallState {
  /** `waiting`: nothing was decided about it yet. */
  status: 'waiting' | 'asking' | 'allowed' | 'running' | 'done';
  /** Of a server's tool, once it is asked about or has begun: what that calls it for people. */
  title?: string;
  /** Arguments that are understood otherwise than they were sent; see `understoodCall`. */
  understood?: UnderstoodArguments;
  question?: UserQuestion;
  /** What the user was asked to approve, as of the newest request on record. */
  proposed?: Proposed;
  /** The number of that request. */
  requestSeq?: number;
  /** What it asks the person by itself, and what they answered. */
  asked?: UserQuestions[];
  answer?: Answer;
  decision?: Decision;
  /** The message of the user that followed a denial. */
  feedback?: string;
  edited?: boolean;
  automatic?: string;
  basis?: ApprovalBasis;
  startedAt?: number;
  /** Number of its newest `tool-start` event: changes are made in this order. */
  startSeq?: number;
  ms?: number;
  ok?: boolean;
  code?: string;
  /** What it did to files; without an end, what it was about to do. */
  changes?: StoredChange[];
  moved?: Moved;
  /** Its change, or the first lines of it. */
  diff?: string;
  command?: Command;
  process?: ProcessIdentity;
  step?: StepStart;
  /** It changes nothing, and may be repeated. */
  onlyReads?: true;
  /** Of an interrupted one: the last sign of life (epoch milliseconds). */
  interruptedAt?: number;
  /** It was interrupted, and the person wants it to run again. */
  again?: true;
  /** Of a call that stands in no message: what it is about. */
  about?: Record<string, string>;
  stillRunning?: string[];
  background?: Background;
  /** How its command in the background ended, and when. */
  ended?: CommandEnd & { at: number };
  /** Paths whose changes were undone; for `moved` the one it went to. */
  undone?: string[];
  outputId?: string;
  /** Of the command that it ran to its end; null: it was killed. */
  exitCode?: number | null;
  /** Live output of a command, the newest `outputLimit` characters. */
  output?: string;
}

/** A place where the record is damaged. What was said after a loss, before the run was gone on with, is no part of the conversation. */
export interface Damage {
  /** The newest event before it. */
  from: number;
  /** How many messages there were. */
  at: number;
  /** Where and how much, in sentences without a capital and a full stop, and what they are made of. */
  text: string;
  said?: LocalizedMessage;
  /** What could still be read after it. */
  messages: Message[];
  /** Nobody has gone on with the run since. What the next `mended` says. */
  open?: { to: number; places: number[] };
}

/** A run: the fold of its events; stored, shown and counted from the same lines. */
export interface Run {
  id: string;
  /** The newest event folded in. */
  seq: number;
  title: string;
  /** The person gave it that title: nothing else does. */
  named?: boolean;
  pinned?: boolean;
  workflowId: string;
  agentId: string;
  model: string;
  /** The models that the conversation went to (`provider/model`), in order, and how many messages there were then. */
  models?: { model: string; at: number }[];
  createdAt: number;
  updatedAt: number;
  /** It came from a file, and was somebody's elsewhere. */
  imported?: boolean;
  /** Where it was forked from another run. */
  parent?: Parent;
  /** How many messages it has from there, once it has one of its own. */
  own?: number;
  phase: RunPhase;
  error?: ErrorInfo;
  /** With the error of the limit of turns. */
  took?: WorkStats;
  /** The work since it last began or went on: when, until when, and what the run had cost before (US dollars). */
  work?: { began: number; ended?: number; costBefore: number };
  /** It rests once its turn is over. */
  pausing?: boolean;
  messages: Message[];
  /** When each message was added (epoch ms); same length as `messages`. */
  messageTimes: number[];
  /** By tool call id. */
  calls: Dictionary<CallState>;
  /** What calls were about to do to files when they failed, since the run was gone on with: the disk may have failed in the middle of it. */
  unmade?: StoredChange[];
  /** By their paths in the workspace. */
  files?: Dictionary<RunFile>;
  /** Undos that can be taken back, oldest first. */
  undos?: Undone[];
  /** What the workspace said to agents when it began. */
  instructions?: Instruction[];
  /** What was told of such files since, by their paths, and in which message. */
  instructed?: Dictionary<Instructed & { at: number }>;
  /** Commands that do more than read have run: they may have changed other files. */
  ran?: boolean;
  /** Of calls of a workflow's nodes, which stand in no message, the tool. */
  tools?: Dictionary<string>;
  /** Outcomes of calls that nodes made and that no node has yet, by the calls' ids; see `outcomes.ts`. */
  outcomes?: Dictionary<NodeOutcome>;
  /** Denied calls whose denial holds the run until the user says what to do instead, in order; see `isHeld`. */
  held?: string[];
  /** Calls whose own questions wait for the person, oldest first. */
  asking?: string[];
  /** What was said and is not given yet, by the number of its event. */
  queued: Waiting[];
  /** Calls whose command in the background has ended, of which the model has not heard. */
  ends?: string[];
  /** The reply that is being streamed; its `calls` are being written. */
  live?: { content: string; thinking: string; calls: { name: string; argumentsText: string }[] };
  progress?: { text: string; said?: LocalizedMessage; fraction?: number; until?: number; attempt?: number };
  usage: TokenUsage;
  /** Tokens of `usage` that its `cost`, when it has one, is not for; absent: it is for all. */
  unpriced?: number;
  /** US dollars that the person lets it spend in all, asked at its limit. */
  allowed?: number;
  /** Tokens of the newest model call, prompt and answer: how full the window is; 0: not known. */
  contextTokens: number;
  /** How many tokens the newest answer in the conversation has, and what it took, with the reading before it. */
  answered?: { tokens: number; ms: number };
  /** What fills the window of its model, as of the newest call; absent: not known. */
  filling?: ContextUsage;
  /** All of its workflow, when that has nodes. */
  outline?: Outline;
  /** Where it stands in it. */
  graph?: Graph;
  /** How many messages `contextTokens` counts. */
  contextMessages: number;
  /** In order. */
  compactions: Compaction[];
  /** In order; absent: its record is whole. */
  damage?: Damage[];
  /** Why it can be read and not gone on with. */
  readOnly?: ReadOnlyCode;
}
export interface Waiting extends UserText {
  queued: number;
  when: When;
}
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
    calls: createDictionary(),
    queued: [],
    usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0 },
    contextTokens: 0,
    contextMessages: 0,
    compactions: [],
  };
}

/** Restores what JSON takes from a run on its way to the panel: its dictionaries are plain objects there. */
export function reviveRun(run: Run): Run {
  run.calls = toDictionary(run.calls);
  if (run.files) run.files = toDictionary(run.files);
  if (run.instructed) run.instructed = toDictionary(run.instructed);
  if (run.tools) run.tools = toDictionary(run.tools);
  if (run.graph) {
    run.graph.nodes = toDictionary(run.graph.nodes);
    run.graph.branches = toDictionary(run.graph.branches);
  }
  return run;
}

/** Calls in the order in which they began, by the numbers of their events; calls that never began come last. */
export const callsOf = ({ calls }: Pick<Run, 'calls'>): [toolCallId: string, state: CallState][] =>
  entriesOf(calls).sort(([, one], [, other]) => startOf(one) - startOf(other));

const startOf = ({ startSeq = Number.MAX_SAFE_INTEGER }: CallState): number => startSeq;

type WithCommand = CallState & Required<Pick<CallState, 'command'>>;

/** Calls whose command may be at work though the run is not: in the background, or the editor ended, or a stop was not waited for. */
export function leftCalls(run: Run): [toolCallId: string, state: WithCommand][] {
  return callsOf(run).flatMap(([id, { command, ...state }]) => {
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

/** End of a background command for a model or a log, to whom “you” is not the user: `exited with code 1`. Follows its name. */
export const commandEndText = (end: CommandEnd): string =>
  end.by === 'person' ? 'was stopped by the person' : inEnglish(endSentence(end));

/** End of a background command for the user. Follows its name. */
export function endSentence({ by, exitCode, signal, stillRunning }: CommandEnd): LocalizedMessage {
  if (by === 'lost') return message(stillRunning?.length ? 'continued without its window' : 'ended after its window');
  if (by === 'window') return message('ended with its window or its run');
  if (by === 'flood') return message('was stopped: it wrote more than 100 MiB');
  if (by === 'timeout') return message('timed out');
  if (by === 'person') return message('was stopped by you');
  if (by === 'call') return message('was stopped');
  return signal ? message('was killed ({0})', signal) : message('exited with code {0}', String(exitCode));
}

/** It ended as nobody wanted it to: neither stopped nor with 0. */
export const hasDied = ({ by, exitCode }: CommandEnd): boolean =>
  by === 'itself' ? exitCode !== 0 : by === 'flood' || by === 'timeout' || by === 'lost';

/** What the person said, in order; of a branch what they said in it, as soon as there is something. */
export function firstUserText({ messages, own }: Pick<Run, 'messages' | 'own'>): string[] {
  const said = (from: number) => messages.slice(from).flatMap((one) => (one.role === 'user' ? [one.content] : []));
  const words = own === undefined ? [] : said(own);
  return words.length > 0 ? words : said(0);
}

const untitled = 'New run';

/** A title as a person reads it. */
export const titleFromText = (title: string): string => (title === untitled ? t(untitled) : title);

/** The run's own title, else the beginning of its first words. */
export function runTitle(run: Run): string {
  if (run.title) return run.title;
  const first = firstUserText(run).find((words) => words.trim() !== '') ?? '';
  return truncateVisible(first.trim().split('\n', 1)[0]!, 80) || untitled;
}

/** What concerns the person of a run: its model asks, it is at work; it has failed, it has come to rest, and nobody has seen that. */
export const runStates = ['asking', 'working', 'failed', 'ended'] as const;
export type RunState = (typeof runStates)[number];
