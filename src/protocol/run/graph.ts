import { type Compaction, compactedContentDescription, createCompactionRecord } from '../content/compaction.ts';
import type { ErrorInfo, Message } from '../content/messages.ts';
import type { WorkflowNodeEvent } from '../content/nodeChange.ts';
import { type LocalizedMessage, message, toEnglishText } from '../text/l10n.ts';
import { createDictionary, type Dictionary, sortedDictionaryKeys } from '../values/dictionary.ts';
import { applyValueDelta } from '../values/growth.ts';

/**
 * Line of workflow nodes: the main line, or a parallel branch with its own copy of the state. Branches are keyed by name (`outer/inner`).
 * - `at`: the running or next nodes, empty at the end; `steps`: completed steps of the node; `fanIn`: the node that joins parallel nodes of
 * `at`.
 * - `visit`: the running visit of the node, absent between nodes.
 * - `messages`, `compactions`: conversation of a branch; `conversations`: model conversations of the running step, dropped at its end.
 */
export interface WorkflowTrack {
  at: string[];
  steps: number;
  state: Record<string, unknown>;
  fanIn?: string;
  visit?: number;
  messages?: Message[];
  compactions?: Compaction[];
  conversations?: Dictionary<WorkflowNodeConversation>;
}

/**
 * Recorded conversation of a step with a model, continued after an error, a stop or a restart. `given`: number of messages before the first
 * request. `callIds`: run call ids by the model's ids.
 */
export interface WorkflowNodeConversation {
  messages: Message[];
  given: number;
  compactions: Compaction[];
  callIds: Dictionary<string>;
}

interface NodeState {
  status: 'running' | 'completed' | 'failed';
  visits: number;
  startedAt: number;
  endedAt?: number;
  output?: unknown;
  next?: string[];
  of?: number;
  error?: ErrorInfo;
  warnings?: string[];
  said?: LocalizedMessage[];
  live?: string;
}

export interface WorkflowGraphState {
  nodes: Dictionary<NodeState>;
  main: WorkflowTrack;
  end?: { node: string; messages: number };
  branches: Dictionary<WorkflowTrack>;
  artifacts: string[];
}

export interface WorkflowNodeMessage {
  branch?: string;
  conversation: string;
  callPrefix: string;
  message: Message;
  given?: true;
  anew?: true;
}

const liveLimit = 200_000;

export const createWorkflowGraphState = (): WorkflowGraphState => ({
  nodes: createDictionary(),
  main: { at: [], steps: 0, state: {} },
  branches: createDictionary(),
  artifacts: [],
});

export const parallelResultsKey = 'parallel_results';

/** Removes earlier parallel results, so that rounds do not nest the results of all earlier rounds. */
export function withoutParallelResults({
  [parallelResultsKey]: _,
  ...values
}: WorkflowTrack['state']): WorkflowTrack['state'] {
  return values;
}

/** Folds a node event into the graph, in place. */
export function applyWorkflowNodeEvent(graph: WorkflowGraphState, change: WorkflowNodeEvent, at: number): void {
  const { node, branch } = change;
  if (change.status === 'start') begin(graph, change, at);
  const track = workflowTrackOfBranch(graph, branch);
  const state = graph.nodes[node];
  if (!track || !state) return; // a node without a start cannot end
  const grown = Object.entries(change.grown ?? {}).map(([key, growth]) => [
    key,
    applyValueDelta(track.state[key], growth),
  ]);
  track.state = { ...(!change.whole && track.state), ...change.state, ...Object.fromEntries(grown) };
  graph.artifacts = [...new Set([...(change.whole ? [] : graph.artifacts), ...(change.artifacts ?? [])])];
  if (change.warnings) warn(state, change.warnings, change.said);
  if (change.status === 'step') track.steps++;
  if (change.status === 'step' || change.status === 'end') {
    closeLines(graph, change);
    delete track.conversations;
  }
  if (change.status === 'undone') takeBack(graph, node);
  if (change.status === 'end' || change.status === 'failed') {
    state.status = change.status === 'end' ? 'completed' : 'failed';
    state.endedAt = at;
    state.live = undefined;
    state.output = change.output;
    if (change.next) state.next = change.next;
    state.error = change.error;
  }
  const { at: _, visit: __, fanIn: ___, messages, compactions, conversations, ...rest } = track;
  const said = {
    ...(messages && { messages }),
    ...(compactions && { compactions }),
    ...(conversations && { conversations }),
  }; // a failed node restarts with its conversation
  if (change.status === 'failed') setTrack(graph, branch, { ...rest, ...said, at: track.at });
  if (change.status !== 'end') return;
  const around = branch === undefined ? undefined : parentOf(graph, branch).fanIn;
  const next = (change.next ?? []).filter((one) => around === undefined || one !== around);
  setTrack(graph, branch, { ...rest, steps: 0, at: next, ...(change.fanIn !== undefined && { fanIn: change.fanIn }) });
}

function warn(state: NodeState, warnings: readonly string[], said: readonly LocalizedMessage[] = []): void {
  state.warnings = [...new Set([...(state.warnings ?? []), ...warnings])];
  const news = said.filter((one) => !state.said?.some((other) => toEnglishText(other) === toEnglishText(one)));
  if (news.length > 0) state.said = [...(state.said ?? []), ...news];
}

function begin(graph: WorkflowGraphState, { node, branch, of, anew }: WorkflowNodeEvent, at: number): void {
  const before = graph.nodes[node];
  const visit = (before?.visits ?? 0) + 1;
  graph.nodes[node] = { status: 'running', visits: visit, startedAt: at, ...(of !== undefined && { of }) };
  const known = anew ? undefined : workflowTrackOfBranch(graph, branch);
  const { fanIn: _, ...rest } = known ?? {
    steps: 0,
    state: isOwnLine(branch) ? {} : structuredClone(withoutParallelResults(parentOf(graph, branch!).state)),
  };
  setTrack(graph, branch, { ...rest, at: [node], visit });
  const goesOn = before?.status === 'failed';
  for (const name of sortedDictionaryKeys(graph.branches))
    if ((branch === undefined || name.startsWith(`${branch}/`)) && !(goesOn && isOpenedBy(node, branch, name)))
      delete graph.branches[name];
}

export const keyOfForEachItem = (node: string, index: number): string => `${node}[${index}]`;

export const childWorkflowTrackKey = (around: string | undefined, name: string): string =>
  around === undefined ? name : `${around}/${name}`;

export const nestedWorkflowKey = (node: string): string => `${node}()`;

function isOpenedBy(node: string, branch: string | undefined, line: string): boolean {
  const own = childWorkflowTrackKey(branch, node.slice(node.lastIndexOf('/') + 1));
  return line.startsWith(`${own}[`) || line.startsWith(`${own}(`);
}

const isOwnLine = (branch: string | undefined): boolean => branch !== undefined && /[\])]$/.test(branch);

function closeLines({ branches }: WorkflowGraphState, { node, branch }: WorkflowNodeEvent): void {
  for (const name of sortedDictionaryKeys(branches)) if (isOpenedBy(node, branch, name)) delete branches[name];
}

export function applyWorkflowNodeMessage(
  graph: WorkflowGraphState,
  { branch, conversation: key, callPrefix, message, given, anew }: WorkflowNodeMessage,
): void {
  const track = workflowTrackOfBranch(graph, branch);
  if (!track) return;
  track.conversations ??= createDictionary();
  const known = anew ? undefined : track.conversations[key];
  const own = known ?? { messages: [], given: 0, compactions: [], callIds: createDictionary() };
  track.conversations[key] = own;
  own.messages.push(message);
  if (given) own.given = own.messages.length;
  else if (message.role === 'assistant')
    for (const { id } of message.toolCalls ?? []) own.callIds[id] = callPrefix + id;
}

function takeBack(graph: WorkflowGraphState, node: string): void {
  const { visits, startedAt } = graph.nodes[node]!;
  if (visits > 1) graph.nodes[node] = { status: 'completed', visits: visits - 1, startedAt, endedAt: startedAt };
  else delete graph.nodes[node];
}

function setTrack(graph: WorkflowGraphState, branch: string | undefined, track: WorkflowTrack): void {
  if (branch === undefined) graph.main = track;
  else graph.branches[branch] = track;
}

const parentOf = ({ main, branches }: WorkflowGraphState, branch: string): WorkflowTrack =>
  branches[branch.slice(0, Math.max(0, branch.lastIndexOf('/')))] ?? main;

export const workflowTrackOfBranch = (
  { main, branches }: WorkflowGraphState,
  branch: string | undefined,
): WorkflowTrack | undefined => (branch === undefined ? main : branches[branch]);

export function applyWorkflowNodeCompaction(
  graph: WorkflowGraphState,
  {
    node,
    branch,
    conversation,
    ...compaction
  }: Omit<Compaction, 'at'> & { node: string; branch?: string; conversation?: string },
): void {
  const state = graph.nodes[node];
  const warning = message(
    'The context window was full: the model saw {0} from then on.',
    message(compactedContentDescription(compaction)),
  );
  if (state) warn(state, [toEnglishText(warning)], [warning]);
  if (conversation !== undefined) {
    const own = workflowTrackOfBranch(graph, branch)?.conversations?.[conversation];
    own?.compactions.push(createCompactionRecord(compaction, own.messages.length));
    return;
  }
  const track = branch === undefined ? undefined : graph.branches[branch];
  if (!track) return;
  const record = createCompactionRecord(compaction, track.messages?.length ?? 0);
  track.compactions = [...(track.compactions ?? []), record];
}

export function appendWorkflowNodeLiveText(graph: WorkflowGraphState, node: string, text: string): void {
  const state = graph.nodes[node];
  if (!state) return;
  const live = (state.live ?? '') + text;
  state.live = live.length > liveLimit ? `…${live.slice(-liveLimit)}` : live;
}
