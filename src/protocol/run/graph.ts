import { type Compaction, compactionOf, seesOf } from '../content/compaction.ts';
import type { ErrorInfo, Message } from '../content/messages.ts';
import type { NodeChange } from '../content/nodeChange.ts';
import { inEnglish, type LocalizedMessage, message } from '../text/l10n.ts';
import { createDictionary, type Dictionary, keysOf } from '../values/dictionary.ts';
import { grow } from '../values/growth.ts';

/**
 * Line of workflow nodes: the main line, or a parallel branch with its own copy of the state. Branches are keyed by name (`outer/inner`).
 * - `at`: the running or next nodes, empty at the end; `steps`: completed steps of the node; `fanIn`: the node that joins parallel nodes of
 * `at`.
 * - `visit`: the running visit of the node, absent between nodes.
 * - `messages`, `compactions`: conversation of a branch; `conversations`: model conversations of the running step, dropped at its end.
 */
export interface Track {
  at: string[];
  steps: number;
  state: Record<string, unknown>;
  fanIn?: string;
  visit?: number;
  messages?: Message[];
  compactions?: Compaction[];
  conversations?: Dictionary<NodeConversation>;
}

/**
 * Recorded conversation of a step with a model, continued after an error, a stop or a restart. `given`: number of messages before the first
 * request. `callIds`: run call ids by the model's ids.
 */
export interface NodeConversation {
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

export interface Graph {
  nodes: Dictionary<NodeState>;
  main: Track;
  end?: { node: string; messages: number };
  branches: Dictionary<Track>;
  artifacts: string[];
}

export interface NodeMessage {
  branch?: string;
  conversation: string;
  callPrefix: string;
  message: Message;
  given?: true;
  anew?: true;
}

const liveLimit = 200_000;

export const newGraph = (): Graph => ({
  nodes: createDictionary(),
  main: { at: [], steps: 0, state: {} },
  branches: createDictionary(),
  artifacts: [],
});

/** State key of the results of a parallel part, at its join. */
export const resultsKey = 'parallel_results';

/** Removes earlier parallel results, so that rounds do not nest the results of all earlier rounds. */
export function withoutResults({ [resultsKey]: _, ...values }: Track['state']): Track['state'] {
  return values;
}

/** Folds a node event into the graph, in place. */
export function applyNode(graph: Graph, change: NodeChange, at: number): void {
  const { node, branch } = change;
  if (change.status === 'start') begin(graph, change, at);
  const track = trackOf(graph, branch);
  const state = graph.nodes[node];
  if (!track || !state) return; // a node without a start cannot end
  const grown = Object.entries(change.grown ?? {}).map(([key, growth]) => [key, grow(track.state[key], growth)]);
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
  const news = said.filter((one) => !state.said?.some((other) => inEnglish(other) === inEnglish(one)));
  if (news.length > 0) state.said = [...(state.said ?? []), ...news];
}

function begin(graph: Graph, { node, branch, of, anew }: NodeChange, at: number): void {
  const before = graph.nodes[node];
  const visit = (before?.visits ?? 0) + 1;
  graph.nodes[node] = { status: 'running', visits: visit, startedAt: at, ...(of !== undefined && { of }) };
  const known = anew ? undefined : trackOf(graph, branch);
  const { fanIn: _, ...rest } = known ?? {
    steps: 0,
    state: isOwnLine(branch) ? {} : structuredClone(withoutResults(parentOf(graph, branch!).state)),
  };
  setTrack(graph, branch, { ...rest, at: [node], visit });
  const goesOn = before?.status === 'failed';
  for (const name of keysOf(graph.branches))
    if ((branch === undefined || name.startsWith(`${branch}/`)) && !(goesOn && isOpenedBy(node, branch, name)))
      delete graph.branches[name];
}

export const itemOf = (node: string, index: number): string => `${node}[${index}]`;

export const lineIn = (around: string | undefined, name: string): string =>
  around === undefined ? name : `${around}/${name}`;

export const nestedLine = (node: string): string => `${node}()`;

function isOpenedBy(node: string, branch: string | undefined, line: string): boolean {
  const own = lineIn(branch, node.slice(node.lastIndexOf('/') + 1));
  return line.startsWith(`${own}[`) || line.startsWith(`${own}(`);
}

const isOwnLine = (branch: string | undefined): boolean => branch !== undefined && /[\])]$/.test(branch);

function closeLines({ branches }: Graph, { node, branch }: NodeChange): void {
  for (const name of keysOf(branches)) if (isOpenedBy(node, branch, name)) delete branches[name];
}

export function applyNodeMessage(
  graph: Graph,
  { branch, conversation: key, callPrefix, message, given, anew }: NodeMessage,
): void {
  const track = trackOf(graph, branch);
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

function takeBack(graph: Graph, node: string): void {
  const { visits, startedAt } = graph.nodes[node]!;
  if (visits > 1) graph.nodes[node] = { status: 'completed', visits: visits - 1, startedAt, endedAt: startedAt };
  else delete graph.nodes[node];
}

function setTrack(graph: Graph, branch: string | undefined, track: Track): void {
  if (branch === undefined) graph.main = track;
  else graph.branches[branch] = track;
}

const parentOf = ({ main, branches }: Graph, branch: string): Track =>
  branches[branch.slice(0, Math.max(0, branch.lastIndexOf('/')))] ?? main;

export const trackOf = ({ main, branches }: Graph, branch: string | undefined): Track | undefined =>
  branch === undefined ? main : branches[branch];

export function applyNodeCompaction(
  graph: Graph,
  {
    node,
    branch,
    conversation,
    ...compaction
  }: Omit<Compaction, 'at'> & { node: string; branch?: string; conversation?: string },
): void {
  const state = graph.nodes[node];
  const warning = message('The context window was full: the model saw {0} from then on.', message(seesOf(compaction)));
  if (state) warn(state, [inEnglish(warning)], [warning]);
  if (conversation !== undefined) {
    const own = trackOf(graph, branch)?.conversations?.[conversation];
    own?.compactions.push(compactionOf(compaction, own.messages.length));
    return;
  }
  const track = branch === undefined ? undefined : graph.branches[branch];
  if (!track) return;
  const kept = compactionOf(compaction, track.messages?.length ?? 0);
  track.compactions = [...(track.compactions ?? []), kept];
}

export function applyNodeText(graph: Graph, node: string, text: string): void {
  const state = graph.nodes[node];
  if (!state) return;
  const live = (state.live ?? '') + text;
  state.live = live.length > liveLimit ? `…${live.slice(-liveLimit)}` : live;
}
