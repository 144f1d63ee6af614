import type { LLMAdapter } from '../../llm/adapter/adapter.ts';
import { toThinkingFields } from '../../llm/core/thinkingEffort.ts';
import { removeForeignMetadata } from '../../llm/messages/providerMetadata.ts';
import { isUnansweredQuestion } from '../../protocol/content/askTool.ts';
import type { ToolCall } from '../../protocol/content/messages.ts';
import { defaultApprovalPolicy } from '../../protocol/content/policy.ts';
import type { TaskRequest } from '../../protocol/content/tasks.ts';
import { failedToolOutcome, removeRedundantTools, type ToolOutcome } from '../../protocol/content/tools.ts';
import { isSpendingLimitError } from '../../protocol/run/money.ts';
import { recordedOutcome } from '../../protocol/run/outcomes.ts';
import { callsToContinue, isAwaitingApproval, pendingApprovalIds } from '../../protocol/run/pending.ts';
import { isRunHeldByDenial } from '../../protocol/run/resumable.ts';
import { type CallState, callsInStartOrder } from '../../protocol/run/run.ts';
import { callWithCorrectedArguments, correctedArgumentsOf } from '../../protocol/run/understoodArguments.ts';
import { toStoredText } from '../../protocol/text/localized.ts';
import type { ThinkingEffort } from '../../protocol/values/thinkingEffort.ts';
import { StoreError } from '../../runs/journal.ts';
import type { RunStore } from '../../runs/store.ts';
import { limitOutcomeSize } from '../../tools/core/outcome.ts';
import type { CallContext, CompletedStepRecord } from '../../tools/core/tool.ts';
import type { ToolHost } from '../../tools/host/host.ts';
import type { WorkspaceInstructions } from '../../tools/instructions/instructions.ts';
import type { AcceptedRequestSizes } from '../context/acceptedRequests.ts';
import { compactConversation } from '../context/compaction.ts';
import { lastSeenFileLines } from '../context/lastSeen.ts';
import type { SummaryPrefetcher } from '../context/summaryPrefetch.ts';
import { systemPrompt } from '../context/systemPrompt.ts';
import { isAbortedByEditorClose, RunSuspendedError, type StopPoint } from '../core/abortReason.ts';
import type { SpendingBudget } from '../core/budget.ts';
import { callModelAndRecord } from '../core/modelCall.ts';
import type { RunLog } from '../core/runLog.ts';
import type { Agent, ExtraTool, TaskConversation, TurnOptions, WorkflowContext } from '../core/workflow.ts';
import { deliverQueued } from '../input/messageQueue.ts';
import type { UserQuestionQueue } from '../input/questionQueue.ts';
import { runTurns, type TurnLoopOptions } from '../loop/loop.ts';
import { backgroundCommandOutputId } from '../notices/commandEnds.ts';
import type { FindUserEdits } from '../notices/userEdits.ts';
import {
  createNearbyInstructionReporter,
  fitInstructions,
  instructionsContextUsage,
  instructionsInPrompt,
  loadRunInstructions,
} from '../notices/workspaceInstructions.ts';
import { TaskRunner, type TaskRunnerOptions } from '../tasks/taskRunner.ts';
import { talkApart, talkOf } from './conversations.ts';

/**
 * Model of a run. `id`: `provider/model`; `model`: its name on the wire; `host`: the server, for the record; `budget`: daily budget of all
 * models. `contextWindow`: tokens, constant for a local model; `windowNow`: tokens that fit into memory at present; `currentWindow`: the
 * size as known now, because providers may list another size during a run.
 */
export interface RunModel {
  id: string;
  model: string;
  adapter: LLMAdapter;
  host?: string;
  budget?: SpendingBudget;
  onThisMachine?: true;
  maxTokens?: number;
  contextWindow?: number;
  windowNow?: number;
  currentWindow?(): number | undefined;
}

/**
 * Requested model, or the selected model without an id. `workflowId`: the workflow file names the model, else the user does. `before`: the
 * previous model of the conversation.
 */
export interface ModelSelectionRequest {
  id?: string;
  workflowId?: string;
  before?: string;
}

export interface RunContextOptions {
  log: RunLog;
  signal: AbortSignal;
  intent: WorkflowContext['intent'];
  values: WorkflowContext['values'];
  isPausing(): boolean;
  isAttended?(runId: string): boolean;
  wantsCompaction?(): boolean;
  ahead?: SummaryPrefetcher;
  accepted: AcceptedRequestSizes;
  hurry?: EventTarget;
  grants: Set<string>;
  asking: UserQuestionQueue;
  edited?: FindUserEdits;
  store: RunStore;
  host: ToolHost;
  model(asked?: ModelSelectionRequest): Promise<RunModel>;
  effortOf?(id: string): ThinkingEffort | undefined;
  small?(options?: { quiet: true }): Promise<RunModel | undefined>;
  instead?: string;
  workspace(): Promise<{ names: string[]; virtual?: true }>;
  instructions?: WorkspaceInstructions;
  maxTurns(): number;
  temperature?(): number | undefined;
  settled?(): Promise<boolean>;
  mayRequest?(): boolean;
  tasks?: Omit<TaskRunnerOptions, 'log' | 'signal' | 'context' | 'isLocal' | 'isPausing' | 'mayRequest' | 'keepOutput'>;
}

export function createRunContext(options: RunContextOptions): WorkflowContext {
  const { log, signal, host } = options;
  const { run } = log;
  const { emit } = log;
  const { agentId } = run;
  const reopened = new Map(pendingApprovalIds(run).map((id) => [id, run.calls[id]!.proposed!]));
  const fail = (error: unknown) => {
    log.fail(error);
    throw error;
  };
  const callContext = {
    runId: run.id,
    agentId,
    signal,
    grants: options.grants,
    emit,
    keep: (content: string | Uint8Array) => options.store.contents.keep(run.id, content).catch(fail),
    keepOutput: (text: string) => options.store.contents.keepOutput(run.id, text).catch(fail),
    newPack: () => options.store.contents.newPack(run.id),
    storedOutput: async (id: string) => {
      const whole =
        backgroundCommandOutputId(run, id) ??
        callsInStartOrder(run).find(([, call]) => call.outputId?.startsWith(id))?.[1].outputId;
      return whole && options.store.contents.read(run.id, whole);
    },
    ask: options.asking.ask.bind(options.asking),
    isClosing: () => isAbortedByEditorClose(signal),
    proposed: (toolCallId: string) => {
      const proposed = reopened.get(toolCallId);
      return isAwaitingApproval(run.calls[toolCallId]) ? proposed : undefined;
    },
  };
  const contextFor = (approval: Agent['approval'], task?: TaskConversation) => {
    const context = task ? contextOfTask(callContext, task) : callContext;
    return approval === 'ask' ? askingAlways(context) : context;
  };
  /** Executes a call. A full disk ends the work after the result is recorded, because each later command would fail, too. */
  const executeOnDisk: ToolHost['executeToolCall'] = async (...call) => {
    const outcome = await host.executeToolCall(...call);
    if (!outcome.ok && outcome.error.code === 'STORE_FULL') log.fail(StoreError.callNotStarted());
    return outcome;
  };
  const models = new Map<string | undefined, Promise<RunModel>>();
  const modelOf = (named?: string, workflowId = run.workflowId) => {
    const { instead } = options;
    const before = run.models?.at(-1)?.model;
    const id = instead ?? named;
    const file = instead === undefined ? { workflowId } : {};
    const model =
      models.get(id) ?? options.model({ before, ...(id !== undefined && { id, ...file }) }).then(withRunState);
    models.set(id, model);
    return model;
  };
  /** Adds the effort that the run has recorded for the model by the time of the request. */
  const withRunState = ({ adapter, ...model }: RunModel): RunModel => ({
    ...model,
    adapter: {
      ...adapter,
      complete(request, given) {
        const effort = run.models?.findLast((one) => one.model === model.id)?.effort;
        return adapter.complete({ ...toThinkingFields(effort), ...request }, { ...given, hurry: options.hurry });
      },
    },
  });
  let talking: Promise<unknown> = Promise.resolve();
  let instructing: ReturnType<typeof loadRunInstructions> | undefined;
  const nearby = createNearbyInstructionReporter(log, options.instructions);

  const context: WorkflowContext = {
    run,
    intent: options.intent,
    signal,
    values: options.values,
    get pausing() {
      return options.isPausing();
    },
    get isAttended() {
      return options.isAttended?.(run.id) ?? false;
    },
    reads: (name) => host.isFree({ id: '', name, arguments: {} }, run.id),
    onlyReads: (name) => host.onlyReads(name),
    get maxTurns() {
      return options.maxTurns();
    },
    get tools() {
      return host.getVisibleTools({ agentId });
    },
    emit,
    receiveMessages: () => deliverQueued(log),
    turns(turn) {
      if (turn.apart) return turns(turn);
      const turned = talking.then(() => turns(turn));
      talking = turned.catch(() => {});
      return turned;
    },

    async complete({ model: id, ...request }, { node, onText, ...options }) {
      restUnlessAnswered();
      const chosen = await modelOf(id);
      const { model, maxTokens } = chosen;
      const reply = await callModelAndRecord(
        chosen,
        { ...(maxTokens && { maxTokens }), ...request, model },
        {
          ...options,
          emit,
          node,
          signal,
          shows: ({ content }) => Boolean(content && onText),
          onChunk: ({ content, progress, warning }) => {
            if (progress) void emit({ type: 'progress', ...progress });
            if (warning) void emit({ type: 'progress', ...toStoredText(warning) });
            if (!content || !onText) return;
            onText(content);
            void emit({ type: 'chunk', content, node });
          },
        },
      );
      if (isSpendingLimitError(reply.error)) throw new RunSuspendedError({ phase: 'WaitingUser', error: reply.error });
      return reply;
    },

    async execute(call, approval) {
      const step = { done: stepDone(run.calls[call.id]) };
      const outcome = recordedOutcome(run, call) ?? (await executeOnDisk(call, { ...contextFor(approval), step }));
      if (isUnansweredQuestion(outcome) && !signal.aborted) throw new RunSuspendedError({ phase: 'WaitingUser' });
      return outcome;
    },
  };
  const tasks =
    options.tasks &&
    new TaskRunner({
      ...options.tasks,
      log,
      signal,
      context: () => context,
      isLocal: async (model, namedBy) => (await modelOf(model, namedBy)).onThisMachine === true,
      isPausing: options.isPausing,
      mayRequest: options.mayRequest ?? (() => true),
      keepOutput: callContext.keepOutput,
    });
  return context;

  /** Throws `RunSuspendedError` instead of a model request while approvals of an earlier window are unanswered. */
  function restUnlessAnswered(): void {
    if (options.mayRequest?.() === false) throw new RunSuspendedError({ phase: 'WaitingUser' });
  }

  async function turns({ agent, apart, ...turn }: TurnOptions) {
    const open = callsToContinue(apart?.messages ?? run.messages, run.calls, apart?.callPrefix);
    if (open.length === 0) restUnlessAnswered();
    const { task } = apart ?? {};
    const chosen = await modelOf(agent.model, task?.modelNamedBy);
    const giver = { agent, allows: turn.allows, workspace: turn.workspace };
    const delegates = !apart && tasks?.isOn;
    if (!apart && run.models?.at(-1)?.model !== chosen.id) {
      const effort = options.effortOf?.(chosen.id);
      await emit({ type: 'model', model: chosen.id, ...(effort && { effort }) });
    }
    const extra = new Map((turn.extraTools ?? []).map((tool) => [tool.definition.name, tool]));
    const offered = host
      .getVisibleTools({ agentId, contextWindow: chosen.contextWindow })
      .filter((tool) => !extra.has(tool.name) && (turn.allows?.(tool) ?? true))
      .filter(({ name }) => delegates || !host.delegates(name));
    /** Created for each call: grants of an asking agent end with the call. */
    const gated = () => ({
      ...contextFor(agent.approval, task),
      ...(delegates && { delegate: (id: string, request: TaskRequest) => tasks.run(id, request, giver) }),
    });
    const recording = apart?.bare && apart.add && { recordsOutcome: true as const };
    const names = new Set(offered.map((tool) => tool.name));
    const refused = (name: string) => turn.allows !== undefined && !names.has(name);
    const named = (call: ToolCall) => (apart ? { ...call, id: `${apart.callPrefix}${call.id}` } : call);
    const tools = removeRedundantTools(
      [...[...extra.values()].map((tool) => tool.definition), ...offered],
      turn.needed,
    );
    instructing ??= loadRunInstructions(log, options.instructions);
    const fitted = fitInstructions(await instructing, chosen.contextWindow);
    const temperature = options.temperature?.();
    const come = () => nearby(chosen.contextWindow);
    const seen = (path: string) =>
      lastSeenFileLines(loop.talk.messages, path, (id) => options.store.contents.read(run.id, id));
    const loop: TurnLoopOptions = {
      ...(apart ? talkApart(apart, log) : { talk: talkOf(log, { edited: options.edited, come }), emit }),
      called: apart || run.models!.length > 1 ? { ...chosen, adapter: sayingItsOwn(chosen.adapter) } : chosen,
      accepted: options.accepted,
      small: options.small,
      ...(!apart && options.ahead && { ahead: options.ahead }),
      prefix: {
        model: chosen.model,
        ...(!apart?.bare && {
          systemPrompt: systemPrompt(agent, await options.workspace(), instructionsInPrompt(fitted)),
        }),
        tools,
        ...((!apart || task) && { cacheKey: task ? `${run.id}:${task.id}` : run.id }),
        ...(chosen.maxTokens && { maxTokens: chosen.maxTokens }),
        ...(temperature !== undefined && { temperature }),
        ...turn.request,
      },
      isFree: (call) => extra.get(call.name)?.free ?? (refused(call.name) || host.isFree(call, run.id)),
      understood: (call) => callWithCorrectedArguments(call, run.calls[named(call).id]),
      onlyReads: ({ name }) => extra.get(name)?.free ?? host.onlyReads(name),
      runsBeside: ({ name }) => host.delegates(name),
      stateOfFiles: (call) => host.stateOfFiles(call, turn.workspace),
      execute: async (asked, rest) => {
        const call = named(asked);
        const own = extra.get(call.name);
        if (own) {
          const understood = understoodBy(own, call);
          if (understood) await emit({ type: 'call-arguments', toolCallId: call.id, ...understood });
          return limitOutcomeSize(await own.run(call));
        }
        if (!apart && run.tasks?.[call.id] && tasks)
          return tasks.continue(callWithCorrectedArguments(call, run.calls[call.id]), giver);
        if (refused(call.name)) return unavailable(call, tools);
        const following = rest.filter(({ name }) => !extra.has(name) && !refused(name)).map(named);
        return executeOnDisk(
          call,
          { ...gated(), ...recording, ...(!apart && { canHold: true }), lastSeen: seen, workspace: turn.workspace },
          following,
        );
      },
      // An unrecorded conversation cannot be resumed: it finishes first, then the run rests.
      isPausing: () => !(apart && !apart.add) && options.isPausing(),
      wantsCompaction: () => !apart && (options.wantsCompaction?.() ?? false),
      open: {
        calls: open,
        goesOn: (call) => reopened.has(named(call).id) || (!apart && run.tasks?.[call.id] !== undefined),
        settled: task ? async () => options.mayRequest?.() ?? true : (options.settled ?? (async () => true)),
      },
      isComplete: turn.isComplete ?? (() => false),
      isHeld: () => !apart && isRunHeldByDenial(run),
      handsBack: turn.handsBack ?? (() => false),
      maxTurns: turn.maxTurns ?? options.maxTurns(),
      ...(!apart && tasks && { taskSteps: () => tasks.steps }),
      contextWindow: windowNowOf(chosen),
      ...(chosen.currentWindow && { currentWindow: chosen.currentWindow }),
      ...(!apart && { files: () => instructionsContextUsage(run, fitted) }),
      ...(turn.brief !== undefined && { brief: turn.brief }),
      shownWhole: apart?.bare === true,
      signal: task?.signal ?? signal,
    };
    return turn.onlyCompacts ? compactOnly(loop) : runTurns(loop);
  }
}

const windowNowOf = ({ contextWindow, windowNow = Number.POSITIVE_INFINITY }: RunModel): number | undefined =>
  contextWindow && Math.min(contextWindow, windowNow);

async function compactOnly(loop: TurnLoopOptions): Promise<StopPoint> {
  const made = await compactConversation({ ...loop, run: loop.talk }, 'asked');
  return { phase: 'WaitingUser', ...(typeof made === 'object' && { error: made }) };
}

function understoodBy({ understood }: ExtraTool, { malformed, arguments: sent, ...call }: ToolCall) {
  if (malformed !== undefined) return undefined;
  try {
    return correctedArgumentsOf(sent, understood({ ...call, arguments: sent }));
  } catch {
    return undefined; // rejected, with the reason in its outcome
  }
}

const stepDone = (state: CallState | undefined): CompletedStepRecord | undefined =>
  state?.ok && state.step ? { ...state.step, changes: state.changes, moved: state.moved } : undefined;

/** Adapter without provider metadata of other models. */
const sayingItsOwn = (adapter: LLMAdapter): LLMAdapter => ({
  ...adapter,
  complete: (request, options) =>
    adapter.complete({ ...request, messages: removeForeignMetadata(request.messages, request.model) }, options),
});

/** Context of the calls of a task, which can be stopped alone. */
const contextOfTask = <Context extends CallContext>(
  context: Context,
  { signal, observe }: TaskConversation,
): Context => ({
  ...context,
  signal,
  isClosing: () => isAbortedByEditorClose(signal),
  emit(event) {
    observe(event);
    return context.emit(event);
  },
});

/** Context of an agent with `approval: 'ask'`: no grants are stored and no preset applies. */
const askingAlways = (context: CallContext): CallContext => ({
  ...context,
  policy: defaultApprovalPolicy,
  get grants() {
    return new Set<string>();
  },
});

function unavailable(call: ToolCall, tools: readonly { name: string }[]): ToolOutcome {
  const names = tools.map(({ name }) => name).join(', ') || 'none';
  return failedToolOutcome('TOOL_NOT_AVAILABLE', `${call.name} is not one of the tools here. There are: ${names}.`);
}
