// @invariant tools-run-in-the-host: A tool runs only inside `ToolHost.executeToolCall`; no provider runs tools, the local one included.
import { performance } from 'node:perf_hooks';
import { isUnansweredQuestion, unansweredQuestionCode } from '../../protocol/content/askTool.ts';
import type { BackgroundCommandStart } from '../../protocol/content/commandRecord.ts';
import type { ToolCall } from '../../protocol/content/messages.ts';
import { type ApprovalPolicy, defaultApprovalPolicy } from '../../protocol/content/policy.ts';
import { failedToolOutcome, type ToolDefinition, type ToolOutcome } from '../../protocol/content/tools.ts';
import { callSubjectOf } from '../../protocol/run/callSubject.ts';
import type { RunEventBody } from '../../protocol/run/events.ts';
import type { FileChangedByRun } from '../../protocol/run/runFiles.ts';
import { correctedArgumentsOf } from '../../protocol/run/understoodArguments.ts';
import { message, toEnglishText } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts, type Localizer } from '../../protocol/text/localized.ts';
import { raceWithAbort } from '../../protocol/values/abort.ts';
import type { Dictionary } from '../../protocol/values/dictionary.ts';
import { type AppliedChanges, readFileChangeStates } from '../changes/changeState.ts';
import { type ExternalEdit, findExternalEdits } from '../changes/externalEdits.ts';
import { repairInterruptedFiles } from '../changes/tornWrites.ts';
import { normalizeToolArguments } from '../core/checkArguments.ts';
import { throwIfInterrupted, throwInterrupted } from '../core/interruption.ts';
import { limitOutcomeSize, toFailureOutcome, toSuccessOutcome } from '../core/outcome.ts';
import {
  AlreadyAppliedError,
  type ApprovalRequester,
  type CallContext,
  type PlannedDataLoss,
  type Tool,
  type ToolCallPlan,
  type ToolContext,
  ToolError,
} from '../core/tool.ts';
import { toolGrantsForRun } from '../core/toolOrigin.ts';
import type { Workspace } from '../core/workspace.ts';
import { formatShortFileChange } from '../edit/diff.ts';
import { fileSizesAndTimes } from '../files/fileTimes.ts';
import { readsNeedNoApproval } from '../policy/policy.ts';
import { delegateTask } from '../run/runTask.ts';
import { sha256 } from '../sandbox/fileText.ts';
import { virtualFoldersReadOnlyReason } from '../sandbox/virtual.ts';
import type { FileRecorder } from '../snapshot/fileRecorder.ts';
import type { FileRecording, RecordedChanges } from '../snapshot/fileRecording.ts';
import { createAccessRequests } from './accessRequests.ts';
import { createApprovalFlow, type PreparedToolCall, type ToolCallPreparer } from './approvalFlow.ts';
import { createApprovalQueue } from './approvalQueue.ts';
import type { BackgroundRecordings, EndedRecording } from './backgroundRecordings.ts';
import { contextOfPolicies } from './callPolicies.ts';
import { localizePlan } from './localizePlan.ts';
import { missingToolError } from './missingTool.ts';
import { normalizeArgumentPaths } from './normalizePaths.ts';
import { createToolOffer } from './offeredTools.ts';
import { decidePlannedCallByPolicy, type PlannedToolCall, planReadOnlyCall } from './policySubject.ts';
import { addChangesToOutcome, beginRecording, endBackgroundRecord, endRecording } from './recordedChanges.ts';
import { approveOutside, createSandboxExit } from './sandboxExit.ts';
import {
  changesOfFailedCall,
  emitStoredEvent,
  exitCodeOf,
  type StoredUndoChanges,
  storeUndoState,
} from './storedEvents.ts';
import { addRevisionToOutcome } from './userRevision.ts';
import { findCompletedStepResult, stepStartRecord, toRecordedOutcome } from './workflowSteps.ts';

/** Gate and only executor of tools: find → check arguments → approve → run. */
export interface ToolHost {
  /** False in an untrusted workspace: no call with side effects can be approved. */
  readonly canApprove: boolean;
  /** Starts tools and requests approvals before a run. Resolves at once if the signal is aborted. */
  prepare(signal: AbortSignal, report: (text: string) => void): Promise<void>;
  /**
   * Returns the available tools in a fixed order and form. An untrusted workspace has only read-only tools; a virtual workspace has no
   * tools that need a disk. A small `contextWindow` (in tokens) omits optional tools.
   */
  getVisibleTools(context: { agentId: string; contextWindow?: number }): ToolDefinition[];
  /** Tests if the call only reads and needs no approval: such calls start during streaming and run in parallel. */
  isFree(call: ToolCall, runId: string): boolean;
  /** Tests if the tool never changes anything, with or without approval. */
  onlyReads(name: string): boolean;
  /** Tests if the tool gives tasks to agents. */
  delegates(name: string): boolean;
  /**
   * Executes a call. Never throws. The outcome is JSON of at most 64 KiB, without images.
   * @param following later calls of the same reply, requested together, and again after a change of the plan
   */
  executeToolCall(call: ToolCall, context: CallContext, following?: readonly ToolCall[]): Promise<ToolOutcome>;
  stateOfFiles(call: ToolCall, undoWorkspace?: Workspace): Promise<string | undefined>;
  /**
   * Returns the state of the files of an interrupted call.
   * @param undoWorkspace the run's workspace, if different from the host's
   * @param read returns a stored text by its id; partial writes are repaired first
   */
  standing(
    doing: AppliedChanges,
    undoWorkspace?: Workspace,
    read?: (id: string) => Promise<string>,
  ): ReturnType<typeof readFileChangeStates>;
  /** Returns the changes of a recorded call that was interrupted by the end of its window. */
  recorded(snapshot: string, newPack: () => Promise<string>): Promise<RecordedChanges>;
  /** Forgets the state before such a call when its changes are stored. */
  forgetRecorded(snapshot: string): void;
  /** Records what background commands have changed, and no more until the returned function is called. */
  holdCommandChanges(runId: string): Promise<() => void>;
  edited(
    files: Readonly<Dictionary<FileChangedByRun>>,
    read: (id: string) => Promise<string>,
    undoWorkspace?: Workspace,
  ): Promise<ExternalEdit[]>;
}

interface ToolHostOptions {
  workspace: Workspace;
  tools: readonly Tool[] | (() => readonly Tool[]);
  approve: ApprovalRequester;
  prepare?: ToolHost['prepare'];
  policy?: (runId: string) => ApprovalPolicy;
  /** Records what calls do to files; absent, only the changes of file tools are known. */
  recorder?: FileRecorder;
  /** Records what commands change after their call. */
  backgroundRecordings?: BackgroundRecordings;
  localizer?: Localizer;
  /** Monotonic clock in milliseconds. */
  now?: () => number;
}

export function createToolHost({
  workspace,
  tools,
  approve,
  prepare: prepareTools = async () => {},
  policy = () => defaultApprovalPolicy,
  recorder,
  backgroundRecordings,
  localizer = toEnglishText,
  now = () => performance.now(),
}: ToolHostOptions): ToolHost {
  const ask = createApprovalQueue(approve, now);
  const agree = createApprovalFlow({ workspace, prepare, judged, ask, localizer });
  const requestAccess = createAccessRequests({ workspace, policy, ask, localizer, now });
  const all = typeof tools === 'function' ? tools : () => tools;
  /** Recorded arguments, by call, if different from the sent arguments. */
  const recorded = new WeakMap<ToolCall, string>();
  const byName = (name: string) => all().find((tool) => tool.definition.name === name);
  const { isOffered, visible, forWindow } = createToolOffer(workspace, all);

  return {
    get canApprove() {
      return workspace.trusted;
    },
    prepare: prepareTools,
    async standing(doing, undoWorkspace = workspace, read) {
      if (read) await repairInterruptedFiles(undoWorkspace, doing, read);
      return readFileChangeStates(undoWorkspace, doing);
    },
    recorded: async (snapshot, newPack) => (await recorder?.interrupted(snapshot).end(newPack)) ?? {},
    holdCommandChanges: async (runId) => (await backgroundRecordings?.hold(runId)) ?? (() => {}),
    forgetRecorded: (snapshot) => recorder?.interrupted(snapshot).forget(),
    stateOfFiles: (call, undoWorkspace = workspace) => fileSizesAndTimes(undoWorkspace, call),
    edited: (files, read, undoWorkspace = workspace) => findExternalEdits(undoWorkspace, files, read),
    getVisibleTools: ({ contextWindow }) => forWindow(contextWindow),
    isFree: (call, runId) => {
      const tool = call.malformed === undefined ? byName(call.name) : undefined;
      return tool?.risk === 'read' && !tool.waits && (tool.ofRun || readsNeedNoApproval(policy(runId), call.name));
    },
    onlyReads: (name) => byName(name)?.risk === 'read' && !byName(name)!.delegates,
    delegates: (name) => byName(name)?.delegates === true,

    async executeToolCall(call, context, following = []) {
      const { done } = context.step ?? {};
      const gave = done && (await findCompletedStepResult(call, done, context.workspace ?? workspace));
      if (gave) return limitOutcomeSize(toSuccessOutcome(gave)); // the end is recorded
      let started = now();
      let doing: StoredUndoChanges = {};
      let diff: string | undefined;
      let outputId: string | undefined;
      let background: BackgroundCommandStart | undefined;
      let recording: FileRecording | undefined;
      let recorded: EndedRecording | undefined;
      let changed: unknown;
      let ran = false;
      let isStarted = false;
      let hasEffect = false;
      const executed = await execute().catch((error) => {
        if (!isStarted && context.signal.aborted && context.isClosing?.()) return notYet;
        if (!context.step || !(error instanceof AlreadyAppliedError)) return toFailureOutcome(error, context.signal);
        doing = {};
        return toSuccessOutcome({ ...error.data, changed: false });
      });
      if (!recorded) recording?.forget(); // it did not start
      const revised = changed === undefined ? executed : addRevisionToOutcome(executed, changed);
      // The result of a workflow step has the documented keys only.
      const outcome = limitOutcomeSize(context.step ? revised : addChangesToOutcome(revised, recorded ?? {}));
      if (isUnansweredQuestion(outcome)) return outcome; // not ended
      const did = outcome.ok
        ? doing
        : await changesOfFailedCall(doing, outcome.error.code, context.workspace ?? workspace);
      const end: RunEventBody = {
        type: 'tool-end',
        toolCallId: call.id,
        name: call.name,
        ok: outcome.ok,
        ms: Math.max(0, Math.round(now() - started)),
        ...(!outcome.ok && { code: outcome.error.code }),
        ...did,
        ...recorded,
        ...(diff && did.changes && { diff }),
        ...(outputId && { outputId }),
        ...(background && { background }),
        ...exitCodeOf(outcome, ran),
        ...(hasEffect ? toRecordedOutcome(outcome) : {}),
      };
      // The effect is done. A broken store fails again at the next event and stops the run there.
      await emitStoredEvent(context, end).then(
        () => recorded?.snapshot !== recording?.snapshot && recording?.forget(), // else it goes on
        () => undefined,
      );
      return outcome;

      async function execute(): Promise<ToolOutcome> {
        throwIfInterrupted(context.signal);
        const agreed = await agree(call, context, following);
        if ('denied' in agreed) return agreed.denied;
        find(call.name); // trust may have been revoked during the request
        const { tool, args, plan } = agreed;
        const undoState = await storeUndoState(plan, context);
        changed = agreed.changed;
        throwIfInterrupted(context.signal);
        const { onlyReads: isRead, isSandboxed } = agreed.verdict;
        const read = isRead && typeof plan?.reading === 'function' ? plan.reading : undefined;
        const sandboxed = isSandboxed && plan?.sandboxed;
        const { command: line, marker, where: folder } = plan ?? {};
        const command = !read && line !== undefined && marker !== undefined && { line, folder: folder!, marker };
        ran = line !== undefined;
        const reads = read && line !== undefined && { reads: line };
        const meant = meantBy(tool, args).tool;
        const { title } = meant;
        const named = { toolCallId: call.id, name: call.name, ...(title && { title }) };
        recording = await beginRecording(recorder, { tool: meant, toolCallId: call.id }, plan, context);
        const snapshot = recording?.snapshot !== undefined && { snapshot: recording.snapshot };
        const place = command && policy(context.runId).preset === 'sandbox' && placeOf(sandboxed);
        const start = { ...named, ...undoState, ...(command && { command }), ...reads, ...snapshot, ...place };
        const step = stepStartRecord(call, plan, context);
        const onlyReads = Boolean(read) || (tool.risk === 'read' && (!tool.waits || tool.delegates === true));
        const marked = onlyReads && { onlyReads };
        const subject = context.step && callSubjectOf(args as ToolCall['arguments']);
        isStarted = true;
        const startRecord: RunEventBody = { type: 'tool-start', ...start, ...marked, ...step, ...subject };
        await emitStoredEvent(context, startRecord);
        doing = undoState;
        hasEffect = !onlyReads && Boolean(context.step || context.recordsOutcome);
        if (plan?.change && plan.change.after !== null) {
          const { path, before, after } = plan.change;
          diff = formatShortFileChange(path, before, after);
        }
        if (plan?.change) recorder?.noteChange(plan.change.realPath);
        throwIfInterrupted(context.signal);
        const exit = sandboxed ? createSandboxExit(plan!) : undefined;
        const toolContext = contextOf(call, context, context.workspace ?? workspace, {
          async keepOutput(text) {
            outputId = await context.keepOutput(text);
            return outputId;
          },
          async leaves(text) {
            const after = await context.keep(text).catch(() => sha256(text)); // the change is done, and at least its id is recorded
            doing = { ...doing, changes: doing.changes?.map((change) => ({ ...change, after })) };
            if (plan?.change) diff = formatShortFileChange(plan.change.path, plan.change.before, text);
          },
          commandGoesOn(one) {
            background = one;
          },
          requestAccess: requestAccess(call, context, exit),
        });
        const run = async () => {
          if (recording) await endBackgroundRecord(recording, backgroundRecordings, context, call.id);
          started = now(); // the duration excludes the user's decision
          if (!plan) return tool.run!(args, toolContext);
          const ran = await (read ?? sandboxed?.run ?? plan.run)(toolContext, exit?.signal);
          if (ran !== undefined || !exit?.signal.aborted) return ran;
          throwIfInterrupted(context.signal);
          find(call.name); // trust may have been revoked
          const planned = { ...meantBy(tool, args), plan };
          await approveOutside(call, planned, exit, policy(context.runId), context, context.workspace ?? workspace);
          await emitStoredEvent(context, { ...startRecord, ...placeOf(false) });
          started = now();
          return plan.run(toolContext);
        };
        const running = run();
        // A stop waits for calls with side effects (a write completes, a command ends with its children), but not for reads.
        const given = await (tool.risk === 'read' && !tool.waits
          ? raceWithAbort(running, context.signal, throwInterrupted)
          : running
        ).finally(async () => {
          if (recording) recorded = await endRecording(recording, backgroundRecordings, context, call.id);
        });
        return toSuccessOutcome(step.step ? { ...Object(given), changed: true } : given);
      }
    },
  };

  async function prepare(
    call: ToolCall,
    context: CallContext,
    { world = context.workspace ?? workspace, args: checked, asks, revised }: Parameters<ToolCallPreparer>[2] = {},
  ): Promise<PreparedToolCall> {
    const tool = find(call.name);
    const args = checked ?? (await understood(call, tool, context, world, revised));
    const meant = meantBy(tool, args);
    const planning = Promise.resolve(meant.tool.plan?.(meant.args, contextOf(call, context, world)));
    return judged(
      { tool, args, plan: await raceWithAbort(planning, context.signal, throwInterrupted) },
      context,
      world,
      asks,
    );
  }

  async function understood(call: ToolCall, tool: Tool, context: CallContext, world: Workspace, revised = false) {
    const { args: read, isAsSent } = normalizeToolArguments(call, tool);
    const args = await raceWithAbort(normalizeArgumentPaths(read, tool, world), context.signal, throwInterrupted);
    if (isAsSent && args === read) return args;
    const differences = correctedArgumentsOf(call.arguments, args as ToolCall['arguments']);
    const known = JSON.stringify(differences);
    if (!differences || revised || recorded.get(call) === known) return args;
    await emitStoredEvent(context, { type: 'call-arguments', toolCallId: call.id, ...differences });
    recorded.set(call, known);
    return args;
  }

  /** Applies the policies and prepares the approval. A call that always needs an approval does not wait for its loss; others do. */
  async function judged(
    planned: PlannedToolCall,
    context: CallContext,
    world?: Workspace,
    asks = false,
  ): Promise<PreparedToolCall> {
    const { plan } = planned;
    if (!plan?.findLoss) return weighed(planned, context, world, asks);
    const { findLoss, grant, ...lossy } = plan;
    const weighedWith = (plan: ToolCallPlan) => weighed({ ...planned, plan }, context, world, asks);
    const lossless = await weighedWith(plan);
    const { effect } = lossless.verdict;
    if (effect === 'deny') return lossless;
    const determine = async () => {
      const loss = await raceWithAbort(findLoss(), context.signal, throwInterrupted);
      const only = grant !== undefined && { isOnlyReason: true as const };
      return weighedWith(loss ? { ...lossy, loss: { ...loss, ...only } } : { ...plan, findLoss: undefined });
    };
    if (effect === 'allow') return determine();
    const known = determine();
    known.catch(() => undefined); // may never need an approval
    return { ...(await weighedWith({ ...lossy, loss: notYetKnown })), whenKnown: () => known };
  }

  async function weighed(
    { tool, args, plan: own }: PlannedToolCall,
    context: CallContext,
    world: Workspace = context.workspace ?? workspace,
    asks = false,
  ): Promise<PreparedToolCall> {
    const meant = meantBy(tool, args);
    const { through } = meant;
    const now = policy(context.runId);
    const judgement = await decidePlannedCallByPolicy({ ...meant, plan: own }, now, context, world);
    const isSandboxed = now.preset === 'sandbox' && own?.sandboxed !== undefined && !judgement.isExact;
    const effect = asks && judgement.effect === 'allow' ? 'ask' : judgement.effect;
    const verdict = { ...judgement, effect, ...(isSandboxed && { isSandboxed }) };
    const free = verdict.effect === 'allow' && (tool.ofRun || now.preset !== 'ask-everything');
    const plan = own ?? (free ? undefined : await planReadOnlyCall(meant.tool, meant.args, world));
    const place = now.preset === 'sandbox' && own?.command !== undefined && placeOf(isSandboxed).sandbox;
    const why = plan && plan.why !== '' ? [plan.why] : [];
    const leaves = place === 'outside' ? own?.outsideReason : undefined;
    if (leaves !== undefined) why.unshift(leaves);
    else if (now.readOnlyCommands && plan?.reading && typeof plan.reading !== 'function') why.push(plan.reading);
    if (now.readOnlyCommands && plan?.outputs?.length)
      why.push(message('What it writes to {0} may be read in this run without approval.', plan.outputs.join(', ')));
    if (verdict.effect === 'ask' && verdict.said) why.push(verdict.said);
    const ruled = through !== undefined && { tool: meant.tool.definition.name };
    const origin = meant.tool.origin?.(meant.args);
    const bound = origin && plan?.grant !== undefined && { origin, grant: toolGrantsForRun(plan.grant, origin)[0] };
    const asked = plan && {
      ...localizePlan({ ...plan, why: why.length > 0 ? joinLocalizableTexts(why) : '' }, localizer),
      ...ruled,
      ...bound,
      ...(place && { sandbox: place }),
      ...(place === 'inside' && { grant: undefined }), // it would allow the command outside as well
    };
    return { tool, args, verdict, plan: asked && Object.freeze(asked) };
  }

  function meantBy(tool: Tool, args: unknown): Omit<PlannedToolCall, 'plan'> {
    const meant = tool.target?.(args) ?? { tool, args };
    return meant.tool === tool ? meant : { ...meant, through: tool.definition.name };
  }

  function find(name: string): Tool {
    const tool = byName(name);
    if (!tool) throw missingToolError(name, visible(), Boolean(workspace.virtual));
    if (!workspace.trusted && !isOffered(tool)) {
      const message = `${name} is not available: this workspace is not trusted, so nothing may be changed or run.`;
      throw new ToolError('TOOL_NOT_AVAILABLE', message);
    }
    if (workspace.virtual && tool.onDisk)
      throw new ToolError('TOOL_NOT_AVAILABLE', `${name} is not available. ${virtualFoldersReadOnlyReason}`);
    return tool;
  }

  function contextOf(
    call: ToolCall,
    context: CallContext,
    workspace: Workspace,
    running: RunningCallContext = planning(context),
  ): ToolContext {
    return {
      runId: context.runId,
      toolCallId: call.id,
      workspace,
      signal: context.signal,
      ...contextOfPolicies(() => policy(context.runId), context),
      output: (text) => {
        if (context.signal.aborted) return; // nothing is delivered after a stop
        context.emit({ type: 'tool-output', toolCallId: call.id, text }).catch(() => undefined);
      },
      commandStarted: (process) => {
        context.emit({ type: 'command-start', toolCallId: call.id, process }).catch(() => undefined);
      },
      ...running,
      storedOutput: (id) => context.storedOutput(id),
      lastSeen: async (path) => context.lastSeen?.(path),
      ask: (questions, by) => context.ask(call.id, questions, by),
      delegate: (request) => delegateTask(context, call.id, request),
    };
  }
}

const notYetKnown: PlannedDataLoss = { text: message('Checking what this command discards…'), items: [] };

// Outcome of a call that had not started when the editor closed; the call stays open for the next window.
const notYet = failedToolOutcome(unansweredQuestionCode, 'The editor closed before this started.');

type RunningCallContext = Pick<ToolContext, 'keepOutput' | 'leaves' | 'commandGoesOn' | 'requestAccess'>;

const placeOf = (sandboxed: unknown) => ({ sandbox: sandboxed ? ('inside' as const) : ('outside' as const) });

const planning = ({ keepOutput }: CallContext): RunningCallContext => ({
  keepOutput,
  leaves: async () => undefined,
  commandGoesOn: () => undefined,
  requestAccess: async () => false,
});
