import { RunSuspendedError, type StopPoint } from '../../engine/core/abortReason.ts';
import type { SeparateConversationLog, WorkflowContext } from '../../engine/core/workflow.ts';
import { lostOutcome } from '../../engine/notices/interruptedCalls.ts';
import type { Message } from '../../protocol/content/messages.ts';
import { toToolResult } from '../../protocol/content/tools.ts';
import type { WorkflowTrack } from '../../protocol/run/graph.ts';
import { interruptionMessage, nodeInterruption } from '../../protocol/run/interruptions.ts';
import { workflowStepOutcome } from '../../protocol/run/outcomes.ts';
import { callsToContinue, pendingCalls } from '../../protocol/run/pending.ts';
import { message } from '../../protocol/text/l10n.ts';
import {
  type LocalizableText,
  storedLocalizableText,
  toErrorInfo,
  UserFacingError,
} from '../../protocol/text/localized.ts';
import type { ConcurrencyLimiter } from '../../protocol/values/concurrency.ts';
import { type WorkflowActionContext, WorkflowActionError } from '../action/action.ts';
import { performWorkflowAction } from '../action/actions.ts';
import { nestedWorkflowActionName } from '../action/nested.ts';
import { usedStateKeys } from '../plan/inputs.ts';
import type { AgentFile, NodeDefinition, StepErrorPolicy, WorkflowFile, WorkflowStep } from '../plan/schema.ts';
import {
  evaluateCondition,
  evaluateTemplateExpression,
  type MissingTemplateValueListener,
  renderTemplate,
  renderTemplatesDeep,
  type TemplateScope,
} from '../template/template.ts';
import { agentTurnOptions } from './agent.ts';
import { endsWithQuestion } from './branchQuestions.ts';
import { splitStateChange } from './growth.ts';
import { normalizeStateValues, warnAboutStateValues } from './jsonState.ts';
import { createRecordedNodeConversation } from './nodeConversation.ts';
import { canRetry, nodeErrorOf, runWithRetries, stepErrorInfo, UnattendedInterruption } from './retry.ts';

export interface NodeRunOptions {
  file: WorkflowFile;
  agents: ReadonlyMap<string, AgentFile>;
  context: WorkflowContext;
  node: NodeDefinition;
  position: { node: string; branch?: string };
  callPrefix: string;
  /** True if the node was active when the run paused or the editor exited. */
  resumed: boolean;
  track(): WorkflowTrack;
  /** Values of an item of a list: the surrounding ones and the fixed ones of the item. */
  item?: { around: Readonly<Record<string, unknown>>; given: Readonly<Record<string, unknown>> };
  nested(params: Record<string, unknown>): Promise<NestedWorkflowOutcome>;
  atOnce: ConcurrencyLimiter;
  warnings: LocalizableText[];
}

export interface NestedWorkflowOutcome {
  result: Record<string, unknown>;
  said?: string;
}

/** Values set by a node and its text, or the stop for the user. */
export type NodeResult = Done | { stop: StopPoint };
type Done = {
  state: Record<string, unknown>;
  said?: string;
  failedTo?: string;
};

/** Runs a node from its current step. Throws the error of its action. */
export function runWorkflowNode(work: NodeRunOptions): Promise<NodeResult> {
  const { node } = work;
  if (node.agent !== undefined) return converse(work, node.agent);
  if (node.body) return loop(work, node.body);
  if (node.steps) return steps(work, node.steps);
  return step(work, node, 0);
}

async function steps(work: NodeRunOptions, list: readonly WorkflowStep[]): Promise<NodeResult> {
  let last: Done = { state: {} };
  for (let index = work.track().steps; index < list.length; index++) {
    if (work.context.pausing) return resting;
    last = await restoreOrRun(work, list[index]!, index);
  }
  return { ...last, state: {} };
}

/** Runs a loop. Steps are counted through all rounds, so that an interrupted loop resumes within a round. */
async function loop(work: NodeRunOptions, body: readonly WorkflowStep[]): Promise<NodeResult> {
  const { condition = false, max_iterations: most = 1 } = work.node;
  let last: Done = { state: {} };
  for (let index = work.track().steps; index < most * body.length; index++) {
    if (index % body.length === 0 && !evaluateCondition(condition, nodeTemplateScope(work))) break;
    if (work.context.pausing) return resting;
    last = await restoreOrRun(work, body[index % body.length]!, index);
  }
  const iterations = Math.ceil(work.track().steps / body.length);
  const result = {
    iterations,
    limit_reached: iterations === most && evaluateCondition(condition, nodeTemplateScope(work)),
  };
  return {
    ...last,
    state:
      work.node.output === undefined ? unused(work.file, result) : stepOutputValues(work, result, work.node.output),
  };
}

/** Returns the loop's own keys that the file does not use otherwise. */
function unused(file: WorkflowFile, values: Record<string, unknown>): Record<string, unknown> {
  const used = usedStateKeys(file);
  return Object.fromEntries(Object.entries(values).filter(([key]) => !used.has(key)));
}

/** Pause between two steps; the run resumes at the second. */
const resting: NodeResult = { stop: { phase: 'WaitingUser' } };

async function restoreOrRun(work: NodeRunOptions, one: WorkflowStep, index: number): Promise<Done> {
  const { signal, emit } = work.context;
  signal.throwIfAborted();
  const result = await step(work, one, index).catch((error) => {
    if (!one.on_error?.continue || !canRetry(error, work.context)) throw error;
    return failedStepResult(work, one, error);
  });
  const state = settableNodeValues(work, result.state);
  const before = work.track().state;
  await emit({
    type: 'node',
    ...work.position,
    status: 'step',
    ...splitStateChange(before, state),
    ...warnAboutStateValues(work, before, state),
  });
  return result;
}

/** Returns the values that a node may set, without the item and its index. */
export const settableNodeValues = (
  { item }: NodeRunOptions,
  state: Record<string, unknown>,
): Record<string, unknown> =>
  item ? Object.fromEntries(Object.entries(state).filter(([key]) => !Object.hasOwn(item.given, key))) : state;

const reporting =
  ({ warnings }: NodeRunOptions): MissingTemplateValueListener =>
  (warning) =>
    warnings.push(warning);

async function step(
  work: NodeRunOptions,
  { uses, with: given = {}, output, run, on_error }: WorkflowStep,
  index: number,
): Promise<Done> {
  const rule = on_error ?? work.node.on_error ?? {};
  const name = work.node.name;
  if (work.resumed || work.track().conversations) restWhereInterrupted(work, rule);
  const attempted = async (attempt: number): Promise<Done> => {
    const scope = nodeTemplateScope(work);
    const worked = on_error && { error: null };
    if (run)
      return {
        state: normalizeStateValues({
          [run.output_key]: evaluateTemplateExpression(run.value, scope, reporting(work)),
          ...worked,
        }),
      };
    if (!uses) return { state: {} };
    const params = renderTemplatesDeep(given, scope, reporting(work)) as Record<string, unknown>;
    if (uses === nestedWorkflowActionName) {
      const { result, ...said } = await work.nested(params);
      return { state: { ...stepOutputValues(work, result, output), ...worked }, ...said };
    }
    const known = workflowStepOutcome(work.context.run, work.position.node, index);
    const result = known?.byPerson
      ? known.data
      : await performed(work, uses, params, actionContext(work, index, attempt, known?.id));
    const content = (Object(result) as { content?: unknown }).content;
    const state = { ...stepOutputValues(work, result, output), ...worked };
    return { state, ...(typeof content === 'string' && { said: content }) };
  };
  return runWithRetries(rule, { context: work.context, name }, attempted, attemptOf(work, index));
}

/** Returns the result of an action. A denial to repeat an interrupted call keeps its unknown state. */
async function performed(
  work: NodeRunOptions,
  uses: string,
  params: Record<string, unknown>,
  context: Omit<WorkflowActionContext, 'perform'>,
): Promise<unknown> {
  try {
    return await performWorkflowAction(uses, params, context);
  } catch (error) {
    if (stepErrorInfo(error).code === 'TOOL_DENIED') restWhereInterrupted(work, {});
    throw error;
  }
}

/** Suspends at an interrupted step until the user decides. Without a user, `on_error` decides if configured. */
function restWhereInterrupted(
  { context, node, position: { node: name, branch } }: NodeRunOptions,
  rule: StepErrorPolicy,
): void {
  const interruption = nodeInterruption(context.run, name, branch);
  if (!interruption) return;
  const { command } = interruption;
  const error = { code: 'TOOL_INTERRUPTED', ...toErrorInfo(interruptionMessage({ label: command ?? name })) };
  const isDecided = [rule, node.on_error].some((one) => one?.continue || one?.goto !== undefined);
  if (isDecided && !context.isAttended) throw new UnattendedInterruption(error);
  throw new RunSuspendedError({ phase: 'WaitingUser', error });
}

/** Returns the result of a failed step that continues: its key becomes empty instead of keeping the old value. */
export function failedStepResult({ node, warnings }: NodeRunOptions, { output }: WorkflowStep, error: unknown): Done {
  const failed = nodeErrorOf(node.name, error);
  warnings.push(message('Failed, and continued: {0}', storedLocalizableText(stepErrorInfo(error))));
  return { state: { ...(typeof output === 'string' && { [output]: null }), error: failed } };
}

const callIdOf = ({ callPrefix }: NodeRunOptions, index: number, attempt: number): string =>
  `${callPrefix}:${index}${attempt === 0 ? '' : `r${attempt}`}`;

function attemptOf(work: NodeRunOptions, index: number): number {
  let attempt = 0;
  while (work.context.run.calls[callIdOf(work, index, attempt + 1)]) attempt++;
  return attempt;
}

const actionContext = (
  work: NodeRunOptions,
  index: number,
  attempt = 0,
  own = callIdOf(work, index, attempt),
): Omit<WorkflowActionContext, 'perform'> => ({
  run: work.context,
  node: work.position.node,
  callId: own,
  defaults: work.file.settings.llm ?? {},
  tools: work.file.tools,
  scope: nodeTemplateScope(work),
  conversation: (callId) => createRecordedNodeConversation(work, callId === own ? String(index) : callId, callId),
});

/**
 * Runs an agent in the run's conversation, or in the separate conversation of a parallel branch. The brief is the first step of the node.
 */
async function converse(work: NodeRunOptions, agent: string | AgentFile): Promise<NodeResult> {
  const { context, node, position } = work;
  const { branch } = position;
  const file = typeof agent === 'string' ? work.agents.get(agent) : agent;
  if (!file) throw new UserFacingError(message('There is no agent {0} in .towpath/agents.', String(agent)));
  const content = node.prompt && String(renderTemplate(node.prompt, nodeTemplateScope(work), reporting(work)) ?? '');
  if (work.track().steps === 0) {
    if (branch !== undefined)
      await context.emit({
        type: 'message',
        message: { role: 'user', content: content || lastUserText(context) },
        branch,
      });
    else if (content) await context.emit({ type: 'message', message: { role: 'system', content } });
    await context.emit({ type: 'node', ...position, status: 'step', ...warnAboutStateValues(work) });
  }
  const id = typeof agent === 'string' ? agent : node.name;
  const said = () => answer(branch === undefined ? context.run.messages : (work.track().messages ?? []));
  const { conversation: _, ...acting } = actionContext(work, 0);
  const turn = {
    ...agentTurnOptions(id, file, { ...acting, perform: performWorkflowAction }),
    ...(content && { brief: content }),
    isComplete: () => !endsWithQuestion(said()),
    handsBack: () => context.pausing,
  };
  const attempt = async (): Promise<StopPoint> => {
    const stop =
      branch === undefined
        ? await context.turns(turn)
        : await work.atOnce(async () => context.turns({ ...turn, apart: await ownTalk(work, branch) }));
    if (stop.phase === 'Failed' && stop.error && node.on_error) throw new WorkflowActionError(stop.error);
    return stop;
  };
  const stop = await runWithRetries(node.on_error ?? {}, { context, name: node.name }, attempt);
  if (stop.phase !== 'Completed') return { stop };
  const result = { content: said() };
  const state = node.output === undefined ? {} : stepOutputValues(work, result, node.output);
  return { state, said: said() };
}

/**
 * Restores the recorded conversation of a branch. Calls left open by the editor's exit are completed first, except calls that can still be
 * approved, which the loop handles.
 */
async function ownTalk(
  { context, position, callPrefix, track }: NodeRunOptions,
  branch: string,
): Promise<SeparateConversationLog> {
  const add = (message: Message) => context.emit({ type: 'message', message, branch });
  const prefix = `${callPrefix}:0:`;
  const visits = Array.from({ length: track().visit ?? 1 }, (_, index) => `${position.node}:${index + 1}:0:`).reverse();
  const messages = track().messages ?? [];
  const open = callsToContinue(messages, context.run.calls, prefix).map(({ id }) => id);
  for (const { id } of pendingCalls(messages)) {
    if (open.includes(id)) continue;
    const made = visits.find((visit) => context.run.calls[visit + id]) ?? prefix; // the call may belong to a visit before the node was restarted
    const lost = lostOutcome(context.run, made + id);
    await add({ role: 'tool', content: '', toolResults: [toToolResult(id, lost)] });
  }
  return {
    node: position.node,
    get messages() {
      return track().messages ?? [];
    },
    add,
    get compactions() {
      return track().compactions ?? [];
    },
    branch,
    callPrefix: prefix,
  };
}

const lastUserText = ({ run }: WorkflowContext): string =>
  run.messages.findLast((message) => message.role === 'user')?.content ?? '';

const answer = (messages: readonly Message[]): string =>
  messages.findLast((message) => message.role === 'assistant')?.content ?? '';

/**
 * Returns the template scope.
 *
 * @param set values of the node that are not in the state yet
 */
export function nodeTemplateScope(
  { file, track, item }: NodeRunOptions,
  set: Record<string, unknown> = {},
): TemplateScope {
  const state = { ...item?.around, ...track().state, ...set, ...item?.given };
  return { ...file.variables, ...state, state, variables: file.variables };
}

export function stepOutputValues(
  work: NodeRunOptions,
  result: unknown,
  output: WorkflowStep['output'],
): Record<string, unknown> {
  if (typeof output === 'string') return normalizeStateValues({ [output]: result });
  if (output) {
    const scope = { ...nodeTemplateScope(work), result, action_result: result };
    return normalizeStateValues(renderTemplatesDeep(output, scope, reporting(work)) as Record<string, unknown>);
  }
  const isPlain = typeof result === 'object' && result !== null && !Array.isArray(result);
  return normalizeStateValues(isPlain ? (result as Record<string, unknown>) : { result });
}
