import { RunSuspendedError, type StopPoint, stopPointOf } from '../../engine/core/abortReason.ts';
import type { Agent, Workflow, WorkflowContext } from '../../engine/core/workflow.ts';
import { hasInterruptingMessage } from '../../engine/input/messageQueue.ts';
import type { ErrorInfo } from '../../protocol/content/messages.ts';
import {
  childWorkflowTrackKey,
  nestedWorkflowKey,
  parallelResultsKey,
  type WorkflowTrack,
  withoutParallelResults,
  workflowTrackOfBranch,
} from '../../protocol/run/graph.ts';
import { interruptedWork, interruptionMessage } from '../../protocol/run/interruptions.ts';
import { callsInStartOrder } from '../../protocol/run/run.ts';
import { message } from '../../protocol/text/l10n.ts';
import { type LocalizableText, storedLocalizableText, toErrorInfo } from '../../protocol/text/localized.ts';
import { type ConcurrencyLimiter, createConcurrencyLimiter } from '../../protocol/values/concurrency.ts';
import { StoreError } from '../../runs/journal.ts';
import { WorkflowActionError } from '../action/action.ts';
import { nestedWorkflowResult, resolveNestedWorkflowInputs } from '../action/nested.ts';
import { initialWorkflowValues } from '../plan/inputs.ts';
import {
  endNodeName,
  type NextWorkflowNodes,
  nextWorkflowNodes,
  type ParallelSection,
  workflowEntryNodes,
} from '../plan/navigate.ts';
import { createWorkflowDiagram } from '../plan/outline.ts';
import type { AgentFile, NodeDefinition, WorkflowFile } from '../plan/schema.ts';
import { resultFieldsReadLater } from '../read/usedLater.ts';
import { ParallelBranchQuestions } from './branchQuestions.ts';
import { defaultAgentDefinition } from './chatWorkflow.ts';
import { type ForEachItem, runNodeForEachItem } from './forEach.ts';
import { splitStateChange } from './growth.ts';
import { normalizeStateValues, warnAboutStateValues } from './jsonState.ts';
import { WorkflowLimits } from './limits.ts';
import { canRetry, mergeStopPoints, stepErrorInfo } from './retry.ts';
import {
  failedStepResult,
  type NestedWorkflowOutcome,
  type NodeResult,
  type NodeRunOptions,
  nodeTemplateScope,
  runWorkflowNode,
  settableNodeValues,
} from './runNode.ts';

interface GraphOptions {
  id: string;
  file: WorkflowFile;
  agents: ReadonlyMap<string, AgentFile>;
  /** Workflows run as steps, directly or indirectly: `loadNestedWorkflows`. */
  workflows?: ReadonlyMap<string, WorkflowFile>;
  now?(): number;
}

/** Creates the workflow of a YAML file. Its position is stored in the run's events and survives a reload. */
export function graphWorkflow(options: GraphOptions): Workflow {
  const agent: Agent = { ...defaultAgentDefinition, name: options.file.name ?? options.id };
  const outline = createWorkflowDiagram(options.file);
  return {
    id: options.id,
    agent,
    outline,
    advance: (context) => new Walk(options, context, agent).go(),
    usedLater: (node, step) => resultFieldsReadLater(options.file, options.workflows ?? new Map(), node, step),
  };
}

/** Default of the maximum visits of a node between two stop points. */
export const maxNodeVisits = 50;

/** A sequence of nodes: the main track of the run, or a named parallel branch with its section. */
interface Line {
  branch?: string;
  inside?: ParallelSection;
  first: NextWorkflowNodes;
}

interface Visit {
  branch?: string;
  inside?: ParallelSection;
  state?: Record<string, unknown>;
  item?: Omit<ForEachItem, 'node' | 'branch'> & { around: Readonly<Record<string, unknown>> };
}

const startOf = (item: Visit['item']) => item && { of: item.of, ...(item.anew && { anew: true as const }) };

/** Position of a nested workflow. `prefix` precedes the names of its nodes; `limits` belong to the run. */
interface Within {
  prefix: string;
  branch: string;
  inputs: Readonly<Record<string, unknown>>;
  atOnce: ConcurrencyLimiter;
  asking: ParallelBranchQuestions;
  limits: WorkflowLimits;
}

class Walk {
  private readonly visits = new Map<string, number>();
  private readonly atOnce: ConcurrencyLimiter;
  private readonly asking: ParallelBranchQuestions;
  private readonly prefix: string;
  private readonly context: WorkflowContext;
  private readonly limits: WorkflowLimits;

  constructor(
    private readonly options: GraphOptions,
    context: WorkflowContext,
    private readonly agent: Agent,
    private readonly within?: Within,
  ) {
    this.limits = within?.limits ?? new WorkflowLimits(options.file.limits ?? {}, context.run, options.now);
    this.context = within ? context : this.limits.resting(context);
    this.prefix = within?.prefix ?? '';
    this.atOnce = within?.atOnce ?? createConcurrencyLimiter(options.file.settings.parallel?.max_workers ?? 8);
    this.asking = within?.asking ?? new ParallelBranchQuestions(context);
  }

  async go(): Promise<StopPoint> {
    const { run } = this.context;
    if (run.graph?.main.at.length !== 0) {
      const stop = await this.follow({ first: run.graph ? { next: [] } : this.entry() });
      if (stop) {
        const answered = await this.asking.report(stop);
        const [interrupted] = answered.error?.code === 'TOOL_INTERRUPTED' ? interruptedWork(run) : [];
        if (interrupted)
          return { ...answered, error: { code: 'TOOL_INTERRUPTED', ...toErrorInfo(interruptionMessage(interrupted)) } };
        const { reached: error } = this.limits;
        return error && answered.phase === 'WaitingUser' && !answered.error ? { ...answered, error } : answered;
      }
    }
    const { end } = run.graph!;
    if (end && run.messages.length === end.messages) await this.reportResult(end.node);
    return this.talk();
  }

  private entry(): NextWorkflowNodes {
    return workflowEntryNodes(this.options.file, {
      state: this.initialState(),
      variables: this.options.file.variables,
    });
  }

  private initialState(): Record<string, unknown> {
    const answer = this.context.run.messages.findLast((message) => message.role === 'user')?.content ?? '';
    return normalizeStateValues({
      input: answer,
      ...initialWorkflowValues(this.options.file, this.within?.inputs ?? this.context.values),
    });
  }

  /** Continues a track; returns undefined at its end. */
  private async follow({ branch, inside, first }: Line): Promise<StopPoint | undefined> {
    const { run } = this.context;
    for (;;) {
      const track = run.graph && workflowTrackOfBranch(run.graph, branch);
      const { next, fanIn } = track ? this.local(track) : first;
      if (next.length === 0) return undefined;
      const isOwn = branch === this.within?.branch;
      let state = track || !isOwn ? undefined : this.initialState();
      if (fanIn !== undefined) {
        const stop = await this.fork({ heads: next, fanIn }, branch);
        if (stop) return stop;
        const ends = next.map((head) => run.graph!.branches[childWorkflowTrackKey(branch, head)]!);
        state = { [parallelResultsKey]: ends.map((end) => withoutParallelResults(end.state)) };
      }
      const name = fanIn ?? next[0]!;
      const stop = await this.visit(name, { branch, inside, state });
      if (stop) return stop;
    }
  }

  private local({ at, fanIn }: WorkflowTrack): NextWorkflowNodes {
    const own = (name: string) => name.slice(this.prefix.length);
    return { next: at.map(own), ...(fanIn !== undefined && { fanIn: own(fanIn) }) };
  }

  private reportNext({ next, fanIn }: NextWorkflowNodes): NextWorkflowNodes {
    const full = (name: string) => this.prefix + name;
    return { next: next.map(full), ...(fanIn !== undefined && { fanIn: full(fanIn) }) };
  }

  /** Runs a nested workflow as a step. Throws `RunSuspendedError` if it stops, or the error of its failure. */
  private async nested(
    { node, position }: NodeRunOptions,
    params: Record<string, unknown>,
  ): Promise<NestedWorkflowOutcome> {
    const { run, signal } = this.context;
    const { name, file, inputs } = resolveNestedWorkflowInputs(params, this.options.workflows ?? new Map());
    const branch = childWorkflowTrackKey(position.branch, nestedWorkflowKey(node.name));
    const { atOnce, asking, limits } = this;
    const within = { prefix: `${position.node}/`, branch, inputs, atOnce, asking, limits };
    const walk = new Walk({ ...this.options, id: name, file }, this.context, this.agent, within);
    const stop = await walk.follow({ branch, first: run.graph!.branches[branch] ? { next: [] } : walk.entry() });
    if (stop && (signal.aborted || stop.phase !== 'Failed')) throw new RunSuspendedError(stop);
    if (stop) throw new WorkflowActionError(stop.error!);
    const ended = file.nodes.flatMap((one) => run.graph!.nodes[within.prefix + one.name] ?? []);
    const lines = ended
      .filter(({ next }) => next?.length === 0)
      .toSorted((one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0))
      .at(-1)?.output;
    return {
      result: nestedWorkflowResult(workflowTrackOfBranch(run.graph!, branch)!.state, inputs),
      ...(typeof lines === 'string' && { said: lines }),
    };
  }

  /** Runs branches in parallel; completed branches are not repeated. */
  private async fork(inside: ParallelSection, around: string | undefined): Promise<StopPoint | undefined> {
    const branches = inside.heads.map((head) =>
      this.follow({ branch: childWorkflowTrackKey(around, head), inside, first: { next: [head] } }),
    );
    const settled = await Promise.allSettled(branches);
    const broken = settled.find((one) => one.status === 'rejected');
    if (broken) throw broken.reason;
    const stops = settled.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value] : []));
    return mergeStopPoints(stops.filter(({ phase }) => phase === 'Failed')) ?? stops[0];
  }

  private async visit(name: string, line: Visit): Promise<StopPoint | undefined> {
    const node = this.options.file.nodes.find((one) => one.name === name);
    if (node) return this.enter(node, line);
    const text = message(
      'The node {0}, at which this run stopped, is no longer in the workflow. Start a new run.',
      name,
    );
    return { phase: 'Failed', error: { code: 'UNKNOWN', ...toErrorInfo(text) } };
  }

  private async enter(node: NodeDefinition, { branch, inside, state, item }: Visit): Promise<StopPoint | undefined> {
    const { context, options } = this;
    const { run, signal, emit } = context;
    const name = this.prefix + node.name;
    if (signal.aborted) return stopPointOf(signal);
    if (context.pausing) return { phase: 'WaitingUser' };
    const position = { node: name, ...(branch !== undefined && { branch }) };
    const warnings: LocalizableText[] = [];
    const fail = async (error: ErrorInfo): Promise<StopPoint> => {
      const live = run.graph?.nodes[name]?.live;
      const warned = warnAboutStateValues({ ...options, warnings });
      await emit({ type: 'node', ...position, status: 'failed', error, ...warned, ...(live && { output: live }) });
      return {
        phase: 'Failed',
        error: { ...error, ...toErrorInfo(message('Node {0}: {1}', name, storedLocalizableText(error))) },
      };
    };
    const visits = (this.visits.get(name) ?? 0) + 1;
    this.visits.set(name, visits);
    const most = options.file.settings.max_visits ?? maxNodeVisits;
    if (visits > most) {
      const text = message('The node {0} was reached {1} times. Continue to allow more.', name, most);
      return { phase: 'Failed', error: { code: 'ENGINE_MAX_TURNS_EXCEEDED', ...toErrorInfo(text) } };
    }
    if (branch !== undefined && !(await this.asking.receive(branch))) return { phase: 'WaitingUser' };
    const track = (): WorkflowTrack => workflowTrackOfBranch(run.graph!, branch)!;
    const resumed =
      !item?.anew && run.graph !== undefined && workflowTrackOfBranch(run.graph, branch)?.visit !== undefined;
    if (!resumed) {
      const begun = item ? item.given : state;
      const before = run.graph && workflowTrackOfBranch(run.graph, branch)?.state;
      const set = begun && { state: begun, ...warnAboutStateValues({ ...options, warnings }, before, begun) };
      await emit({ type: 'node', ...position, status: 'start', ...set, ...startOf(item) });
    }
    const callPrefix = `${name}:${track().visit}`;

    const { file, agents } = options;
    const work: NodeRunOptions = {
      ...{ file, agents, context, node, position, callPrefix, resumed, track, atOnce: this.atOnce, warnings },
      nested: (params) => this.nested(work, params),
    };
    if (item) work.item = { around: item.around, given: item.given };
    try {
      const done = await this.done(work);
      if ('stop' in done) return signal.aborted ? this.stopped(fail) : done.stop;
      const set = settableNodeValues(work, done.state);
      if (this.limits.doubt) warnings.push(this.limits.doubt);
      const scope = { ...nodeTemplateScope(work, set), result: set };
      const next = done.failedTo
        ? { next: done.failedTo === endNodeName ? [] : [done.failedTo] }
        : nextWorkflowNodes(options.file, node, scope, (warning) => warnings.push(warning), inside);
      const result = done.said === undefined ? {} : { output: done.said };
      await emit({
        type: 'node',
        ...position,
        status: 'end',
        ...splitStateChange(track().state, set),
        ...warnAboutStateValues(work, track().state, set),
        ...this.reportNext(next),
        ...result,
        ...this.made(callPrefix),
      });
      return signal.aborted ? stopPointOf(signal) : undefined; // a stop does not undo completed work
    } catch (error) {
      if (error instanceof StoreError) throw error;
      if (signal.aborted) return this.stopped(fail);
      if (error instanceof RunSuspendedError) return error.point;
      return fail(stepErrorInfo(error));
    }
  }

  /** Returns the values set by a node; for a failure handled by `on_error`, the error. */
  private async done(work: NodeRunOptions): Promise<NodeResult> {
    const { node, context } = work;
    const { on_error: rule } = node;
    try {
      const done = await (node.foreach === undefined ? runWorkflowNode(work) : this.each(work));
      if (!rule || node.foreach !== undefined || 'stop' in done) return done;
      return { ...done, state: { ...done.state, error: null } };
    } catch (error) {
      if (!(rule?.continue || rule?.goto) || !canRetry(error, context)) throw error;
      const failed = failedStepResult(work, node, error);
      return rule.goto === undefined ? failed : { ...failed, failedTo: rule.goto };
    }
  }

  private each(work: NodeRunOptions): Promise<NodeResult> {
    const around = work.track().state;
    return runNodeForEachItem(work, ({ node, branch, ...item }) =>
      this.enter(node, { branch, item: { ...item, around } }),
    );
  }

  private made(callPrefix: string): { artifacts?: string[] } {
    const calls = callsInStartOrder(this.context.run).filter(([id]) => id.startsWith(`${callPrefix}:`));
    const artifacts = calls.flatMap(([, { changes = [] }]) => changes.map(({ path }) => path));
    return artifacts.length > 0 ? { artifacts } : {};
  }

  /** Ends the visit. After *Stop*, the node restarts on resume; after the editor's exit, the user decides first. */
  private async stopped(fail: (error: ErrorInfo) => Promise<StopPoint>): Promise<StopPoint> {
    const point = stopPointOf(this.context.signal);
    if (point.phase === 'Failed' && point.error) await fail(point.error);
    return point;
  }

  /** Adds the result to the conversation as an assistant message. */
  private async reportResult(name: string): Promise<void> {
    const { run, emit } = this.context;
    const node = this.options.file.nodes.find((one) => one.name === name);
    const output = run.graph!.nodes[name]?.output;
    if (node?.agent === undefined && typeof output === 'string' && output.trim() !== '')
      await emit({ type: 'message', message: { role: 'assistant', content: output } });
  }

  /** Answers messages of the user after the end of the workflow. */
  private async talk(): Promise<StopPoint> {
    const { run } = this.context;
    const isAnswered = run.messages.at(-1)?.role === 'user' && run.messages.length > (run.graph!.end?.messages ?? 0);
    return isAnswered || hasInterruptingMessage(run)
      ? this.context.turns({ agent: this.agent })
      : { phase: 'Completed' };
  }
}
