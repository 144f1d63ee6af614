import type { ApprovalBasis } from '../content/approvalBasis.ts';
import type {
  BackgroundCommandStart,
  CommandEnd,
  ProcessIdentity,
  RecordedCommandLine,
} from '../content/commandRecord.ts';
import type { Compaction } from '../content/compaction.ts';
import type { ContextUsage } from '../content/contextUsage.ts';
import type { DeliveredInstruction, WorkspaceInstructionFile } from '../content/instructions.ts';
import type { ErrorInfo, Message, TokenUsage } from '../content/messages.ts';
import type { WorkflowDiagram } from '../content/outline.ts';
import type { UserQuestionAnswer, UserQuestions } from '../content/questions.ts';
import type { RepositoryChange } from '../content/repositoryChange.ts';
import type { TaskEndStatus, TaskLimitKind } from '../content/tasks.ts';
import type { WorkStats } from '../content/workStats.ts';
import { type LocalizedMessage, message, t, toEnglishText } from '../text/l10n.ts';
import type { ReadOnlyReasonCode } from '../text/readOnlyReason.ts';
import { truncateWithEllipsis } from '../text/shorten.ts';
import { createDictionary, type Dictionary, sortedDictionaryEntries, toDictionary } from '../values/dictionary.ts';
import type { ThinkingEffort } from '../values/thinkingEffort.ts';
import type { RunBranchOrigin } from './branches.ts';
import type {
  ApprovalDecision,
  CorrectedArguments,
  FileMove,
  LaterFileChange,
  MessageDeliveryTiming,
  ProposedToolCallHashes,
  RunEvent,
  RunPhase,
  ShownApprovalRequest,
  StoredFileChange,
  UnrecordedReason,
  UserMessageText,
  WorkflowStepStart,
} from './events.ts';
import type { WorkflowGraphState } from './graph.ts';
import type { WorkflowNodeOutcome } from './outcomes.ts';
import { type FileChangedByRun, parentFolders, type RedoableUndo } from './runFiles.ts';

/**
 * Tool call as displayed on its card. Arguments are in the assistant message, the outcome is in the tool message.
 * - `status`: `waiting` is not decided yet; `understood`: corrected arguments, see `callWithCorrectedArguments`.
 * - `proposed`: hashes of the newest approval request; `requestSeq`: the number of its event.
 * - `startSeq`: number of the newest `tool-start` event, which gives the order of changes.
 * - `asked`, `answer`: user questions and answers of the call. `asker`: the MCP server that asked last during the call.
 * - `changes`: changes to files; planned changes if the call has no end; `undone`: their reverted paths, the target path for `moved`.
 * - `interruptedAt`: last recorded activity before an interruption (epoch milliseconds); `again`: the user wants to run the interrupted
 * call again.
 * - `sandbox`: where a command ran under the preset `sandbox`; `blocked`: hosts that it was not allowed to reach, with ports other than 443.
 * - `exitCode`: null if killed by a signal.
 */
export interface CallState {
  status: 'waiting' | 'asking' | 'allowed' | 'running' | 'done';
  title?: string;
  understood?: CorrectedArguments;
  question?: ShownApprovalRequest;
  proposed?: ProposedToolCallHashes;
  requestSeq?: number;
  asked?: UserQuestions[];
  asker?: string;
  answer?: UserQuestionAnswer;
  decision?: ApprovalDecision;
  feedback?: string;
  edited?: boolean;
  automatic?: string;
  basis?: ApprovalBasis;
  startedAt?: number;
  startSeq?: number;
  ms?: number;
  ok?: boolean;
  code?: string;
  changes?: LaterFileChange[];
  moved?: FileMove;
  diff?: string;
  command?: RecordedCommandLine;
  process?: ProcessIdentity;
  step?: WorkflowStepStart;
  onlyReads?: true;
  sandbox?: 'inside' | 'outside';
  blocked?: string[];
  interruptedAt?: number;
  again?: true;
  about?: Record<string, string>;
  stillRunning?: string[];
  background?: BackgroundCommandStart;
  ended?: CommandEnd & { at: number };
  undone?: string[];
  /** Present if the changes of the call are recorded by comparison. */
  snapshot?: string;
  unrecorded?: UnrecordedReason;
  lost?: string[];
  lostCount?: number;
  lines?: { added: number; removed: number };
  repositories?: (RepositoryChange & Pick<LaterFileChange, 'seq'>)[];
  outputId?: string;
  exitCode?: number | null;
  output?: string;
}

/**
 * Damaged part of the record. Messages after a loss are not part of the conversation. `from`: number of the newest event before the damage;
 * `at`: number of messages then. `open`: present until the run continues, then recorded in the next `mended` event.
 */
export interface Corruption {
  from: number;
  at: number;
  text: string;
  said?: LocalizedMessage;
  messages: Message[];
  open?: { to: number; places: number[] };
}

/**
 * Fold of the events of a run, used for storage, display and statistics.
 * - `named`: the user set the title, and automatic titles never replace it.
 * - `models`: models of the conversation (`provider/model`) with the message count and, unless the default, the effort at each change.
 * - `own`: number of inherited messages, present after the first own message; `messageTimes`: epoch milliseconds per message.
 * - `work`: the work since the newest start or continuation; `costBefore` is the earlier cost in US dollars.
 * - `pausing`: the run pauses at the end of the turn; `held`: denied calls that hold the run, see `isRunHeldByDenial`.
 * - `asking`: calls with open user questions, oldest first; `queued`: undelivered messages of the user.
 * - `unmade`: planned file changes of failed calls since the last continuation; a disk failure may have applied some.
 * - `ran`: a command with effects has run without a record of its changes.
 * - `backgroundSnapshot`: state of the files from which the record of background commands goes on.
 * - `instructed`: instruction files received since the start, by path, with the message index.
 * - `tools`, `outcomes`: tools and undelivered outcomes of node calls, by call id; see `outcomes.ts`.
 * - `tasks`: tasks that the run has given to agents, by the id of the call.
 * - `ends`: background commands with an end that the model has not received.
 * - `unpriced`: tokens of `usage` not covered by `cost`, absent if none; `allowed`: spending limit in US dollars after a raise.
 * - `contextTokens`: tokens of the newest model call, prompt and answer, 0 if unknown; `contextMessages`: messages counted by it.
 * - `answered`: tokens of the newest answer, and its milliseconds with prefill.
 */
export interface Run {
  id: string;
  seq: number;
  title: string;
  named?: boolean;
  pinned?: boolean;
  workflowId: string;
  agentId: string;
  model: string;
  models?: { model: string; at: number; effort?: ThinkingEffort }[];
  createdAt: number;
  updatedAt: number;
  imported?: boolean;
  parent?: RunBranchOrigin;
  own?: number;
  phase: RunPhase;
  error?: ErrorInfo;
  took?: WorkStats;
  work?: { began: number; ended?: number; costBefore: number };
  pausing?: boolean;
  messages: Message[];
  messageTimes: number[];
  calls: Dictionary<CallState>;
  unmade?: StoredFileChange[];
  files?: Dictionary<FileChangedByRun>;
  undos?: RedoableUndo[];
  backgroundSnapshot?: string | undefined;
  instructions?: WorkspaceInstructionFile[];
  instructed?: Dictionary<DeliveredInstruction & { at: number }>;
  ran?: boolean;
  tools?: Dictionary<string>;
  outcomes?: Dictionary<WorkflowNodeOutcome>;
  held?: string[];
  asking?: string[];
  queued: QueuedMessage[];
  tasks?: Dictionary<TaskState>;
  ends?: string[];
  live?: { content: string; thinking: string; calls: { name: string; argumentsText: string }[] };
  progress?: {
    text: string;
    said?: LocalizedMessage;
    fraction?: number;
    until?: number;
    attempt?: number;
    callId?: string;
  };
  usage: TokenUsage;
  unpriced?: number;
  allowed?: number;
  contextTokens: number;
  answered?: { tokens: number; ms: number };
  filling?: ContextUsage;
  outline?: WorkflowDiagram;
  graph?: WorkflowGraphState;
  contextMessages: number;
  compactions: Compaction[];
  damage?: Corruption[];
  readOnly?: ReadOnlyReasonCode;
}
/**
 * Task of a run: work that a `task.run` call gives to an agent with its own conversation.
 * - `queued`: it has not begun. `running` also covers a task that rests with its run.
 * - `steps`: model calls with an answer. `messages` begins with the instructions for the task.
 * - `waiting`: messages of the user that the task has not received.
 */
export interface TaskState {
  title: string;
  agent: string;
  name: string;
  maxSteps: number;
  mayChange?: true;
  status: 'queued' | 'running' | TaskEndStatus;
  limit?: TaskLimitKind;
  error?: ErrorInfo;
  steps: number;
  model: string;
  usage: TokenUsage;
  unpriced?: number;
  startedAt?: number;
  endedAt?: number;
  messages: Message[];
  messageTimes: number[];
  compactions: Compaction[];
  waiting: QueuedMessage[];
  live?: Run['live'];
  progress?: Run['progress'];
}

export interface QueuedMessage extends UserMessageText {
  queued: number;
  when: MessageDeliveryTiming;
}
export type StreamedCallDraft = NonNullable<Run['live']>['calls'][number];

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

/** Restores the dictionaries of a run after JSON transfer, which turns them into plain objects. */
export function restoreRunDictionaries(run: Run): Run {
  run.calls = toDictionary(run.calls);
  if (run.files) run.files = toDictionary(run.files);
  if (run.instructed) run.instructed = toDictionary(run.instructed);
  if (run.tools) run.tools = toDictionary(run.tools);
  if (run.tasks) run.tasks = toDictionary(run.tasks);
  if (run.graph) {
    run.graph.nodes = toDictionary(run.graph.nodes);
    run.graph.branches = toDictionary(run.graph.branches);
  }
  return run;
}

export const callsInStartOrder = ({ calls }: Pick<Run, 'calls'>): [toolCallId: string, state: CallState][] =>
  sortedDictionaryEntries(calls).sort(([, one], [, other]) => startOf(one) - startOf(other));

/** Returns the files that a call has changed and that no undo has restored. Folders count only without files in them. */
export function standingFiles(state: CallState): string[] {
  const { moved, undone = [] } = state;
  const changed = netChanges(state);
  const parents = parentFolders(changed);
  const isFile = ({ path, kind, afterKind }: StoredFileChange) =>
    !parents.has(path) || (kind !== 'folder' && afterKind !== 'folder');
  const files = changed.filter(isFile).map(({ path }) => path);
  return [...files, ...(moved ? [moved.to] : [])].filter((path) => !undone.includes(path));
}

/** Returns one change for each path that a call has changed, whose command may have changed it several times in the background. */
export function netChanges({ changes = [] }: CallState): StoredFileChange[] {
  const byPath = new Map<string, StoredFileChange>();
  for (const { seq: _, ...change } of changes) {
    const { before, kind, mode } = byPath.get(change.path) ?? change;
    byPath.set(change.path, { ...change, before, ...(kind && { kind }), ...(mode !== undefined && { mode }) });
  }
  const isChange = ({ before, after, mode, afterMode }: StoredFileChange) =>
    before !== after || (after !== null && mode !== afterMode);
  return [...byPath.values()].filter(isChange);
}

/** Returns the files and repositories that a call has changed and that no undo has restored. */
export const pathsToUndo = ({ changes = [], moved, repositories = [], undone = [] }: CallState): string[] =>
  [...[...changes, ...repositories].map(({ path }) => path), ...(moved ? [moved.to] : [])].filter(
    (path) => !undone.includes(path),
  );

const startOf = ({ startSeq = Number.MAX_SAFE_INTEGER }: CallState): number => startSeq;

type WithCommand = CallState & Required<Pick<CallState, 'command'>>;

/**
 * Returns calls with a command that may still run although the run does not: in the background, after the end of the editor, or after a
 * stop.
 */
export function callsWithOrphanedCommand(run: Run): [toolCallId: string, state: WithCommand][] {
  return callsInStartOrder(run).flatMap(([id, { command, ...state }]) => {
    const { ok, code, background, ended } = state;
    const may =
      ok === undefined ||
      code === 'TOOL_INTERRUPTED' ||
      (background && (!ended || (ended.by === 'lost' && Boolean(ended.stillRunning?.length))));
    return command && may ? [[id, { ...state, command }]] : [];
  });
}

type Ended = WithCommand & Required<Pick<CallState, 'background' | 'ended'>>;

export function unreportedCommandEnds(run: Run): [toolCallId: string, state: Ended][] {
  return (run.ends ?? []).flatMap((id) => {
    const { command, background, ended, ...state } = run.calls[id] ?? { status: 'done' };
    return command && background && ended ? [[id, { ...state, command, background, ended }]] : [];
  });
}

/**
 * Describes the end of a background command for a model or a log, without the pronoun “you”: `exited with code 1`. Follows the name of the
 * command.
 */
export const commandEndTextForModel = (end: CommandEnd): string =>
  end.by === 'person' ? 'was stopped by the person' : toEnglishText(commandEndMessageForUser(end));

export function commandEndMessageForUser({ by, exitCode, signal, stillRunning }: CommandEnd): LocalizedMessage {
  if (by === 'lost') return message(stillRunning?.length ? 'continued without its window' : 'ended after its window');
  if (by === 'window') return message('ended with its window or its run');
  if (by === 'flood') return message('was stopped: it wrote more than 100 MiB');
  if (by === 'timeout') return message('timed out');
  if (by === 'person') return message('was stopped by you');
  if (by === 'call') return message('was stopped');
  return signal ? message('was killed ({0})', signal) : message('exited with code {0}', String(exitCode));
}

export const hasCommandFailed = ({ by, exitCode }: CommandEnd): boolean =>
  by === 'itself' ? exitCode !== 0 : by === 'flood' || by === 'timeout' || by === 'lost';

export function ownUserMessageTexts({ messages, own }: Pick<Run, 'messages' | 'own'>): string[] {
  const userTexts = (from: number) => messages.slice(from).flatMap((one) => (one.role === 'user' ? [one.content] : []));
  const texts = own === undefined ? [] : userTexts(own);
  return texts.length > 0 ? texts : userTexts(0);
}

const untitled = 'New run';

export const localizedRunTitle = (title: string): string => (title === untitled ? t(untitled) : title);

export function runTitle(run: Run): string {
  if (run.title) return run.title;
  const first = ownUserMessageTexts(run).find((texts) => texts.trim() !== '') ?? '';
  return truncateWithEllipsis(first.trim().split('\n', 1)[0]!, 80) || untitled;
}

/** Run states for the user, by priority: an open request, work in progress, an unseen failure, an unseen end. */
export const runStates = ['asking', 'working', 'failed', 'ended'] as const;
export type RunState = (typeof runStates)[number];

/** Adds changes that a command made after its call. A path that was undone in between counts from the new record on. */
export function addLaterChanges(call: CallState, event: Extract<RunEvent, { type: 'command-changes' }>): void {
  const { seq, changes = [], repositories = [], lost = [], lostCount = 0, unrecorded, lines } = event;
  const { undone = [], lines: sums } = call;
  const again = new Set([...changes, ...repositories].map(({ path }) => path));
  const joined = <One extends { path: string }>(own: One[] = [], added: One[]): One[] => [
    ...own.filter(({ path }) => !again.has(path) || !undone.includes(path)),
    ...added.map((one) => ({ seq, ...one })),
  ];
  if (!call.changes?.length) call.lines = lines;
  else if (changes.length > 0)
    // Sums of a part would mislead.
    call.lines = sums && lines && { added: sums.added + lines.added, removed: sums.removed + lines.removed };
  call.changes = joined(call.changes, changes);
  call.repositories = joined(call.repositories, repositories);
  call.undone = undone.filter((path) => !again.has(path));
  call.lost = [...new Set([...(call.lost ?? []), ...lost])];
  call.lostCount = Math.max(call.lostCount ?? 0, lostCount, call.lost.length);
  call.unrecorded = unrecorded ?? call.unrecorded;
}

/** Adds tokens and cost to a sum, in place. */
export function addUsage(sum: Pick<Run, 'usage' | 'unpriced'>, usage: TokenUsage): void {
  const total = sum.usage;
  const unpriced = unpricedTokens(sum) + (usage.cost === undefined ? usage.totalTokens : 0);
  const isPriced = (total.cost ?? usage.cost) !== undefined;
  if (isPriced && unpriced > 0) sum.unpriced = unpriced;
  sum.usage = {
    promptTokens: total.promptTokens + usage.promptTokens,
    completionTokens: total.completionTokens + usage.completionTokens,
    totalTokens: total.totalTokens + usage.totalTokens,
    cachedTokens: (total.cachedTokens ?? 0) + (usage.cachedTokens ?? 0),
    thinkingTokens: (total.thinkingTokens ?? 0) + (usage.thinkingTokens ?? 0),
    ...((total.cost ?? usage.cost) !== undefined && { cost: (total.cost ?? 0) + (usage.cost ?? 0) }),
  };
}

/** Appends a piece of a streamed reply, in place. */
export function appendStreamedReply(
  live: NonNullable<Run['live']>,
  { content, thinking, contentIsThinking, toolCall }: Extract<RunEvent, { type: 'chunk' }>,
): void {
  if (contentIsThinking) {
    live.thinking += live.content.trimEnd();
    live.content = '';
  }
  live.content += content ?? '';
  live.thinking += thinking ?? '';
  if (!toolCall) return;
  const { index, name, argumentsText } = toolCall;
  while (live.calls.length <= index) live.calls.push({ name: '', argumentsText: '' });
  const draft = live.calls[index]!;
  if (name) draft.name = name;
  draft.argumentsText += argumentsText ?? '';
}
