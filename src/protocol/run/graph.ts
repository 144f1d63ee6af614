import { type Compaction, compactionOf, seesOf } from '../content/compaction.ts';
import type { ErrorInfo, Message } from '../content/messages.ts';
import type { NodeChange } from '../content/nodeChange.ts';
import { inEnglish, type LocalizedMessage, message } from '../text/l10n.ts';
import { createDictionary, type Dictionary, keysOf } from '../values/dictionary.ts';
import { grow } from '../values/growth.ts';

/** One line of nodes: the run's own, or a parallel branch's with its own copy of the values. */
export interface Track {
  /** The nodes that are at work or come next; none: it has come to its end. */
  at: string[];
  /** Steps of the node that are done. */
  steps: number;
  state: Record<string, unknown>;
  /** Its nodes that are next run side by side, until this one. */
  fanIn?: string;
  /** The visit of its node that is at work; absent between nodes. */
  visit?: number;
  /** What an agent and its tools have said at its node: a branch has a conversation of its own. */
  messages?: Message[];
  /** What was done about its model's full window, in order. */
  compactions?: Compaction[];
  /** Conversations that the step at work has with models, by their keys; gone once the step is done. */
  conversations?: Dictionary<NodeConversation>;
}

/** Recorded conversation of a step with a model: it goes on in it after an error, a stop and the editor's end. */
export interface NodeConversation {
  messages: Message[];
  /** Number of messages that were there before the model was asked. */
  given: number;
  compactions: Compaction[];
  /** Ids that its calls have in the run, by the model's ids. */
  callIds: Dictionary<string>;
}

interface NodeState {
  status: 'running' | 'completed' | 'failed';
  /** How often it was begun. */
  visits: number;
  startedAt: number;
  endedAt?: number;
  /** Of one that failed: what was shown before, a part. */
  output?: unknown;
  /** What followed it the last time it ended. */
  next?: string[];
  /** Of an item of a list: how many there are. */
  of?: number;
  error?: ErrorInfo;
  warnings?: string[];
  /** Of the warnings, what they are made of. */
  said?: LocalizedMessage[];
  /** What its model is saying; of more than `liveLimit` characters the newest, after an ellipsis. */
  live?: string;
}

/** Where a run stands in its workflow. */
export interface Graph {
  nodes: Dictionary<NodeState>;
  main: Track;
  /** It has come to its end: with this node, and when there were so many messages. What is said after that is about it. */
  end?: { node: string; messages: number };
  /** By name (`outer/inner`). Empty outside of a parallel part. */
  branches: Dictionary<Track>;
  artifacts: string[];
}

/** A message in a conversation of a step; see the event `node-message`. */
export interface NodeMessage {
  branch?: string;
  conversation: string;
  callPrefix: string;
  message: Message;
  given?: true;
  anew?: true;
}

/** Characters of a node's live text kept in the fold. */
const liveLimit = 200_000;

export const newGraph = (): Graph => ({
  nodes: createDictionary(),
  main: { at: [], steps: 0, state: {} },
  branches: createDictionary(),
  artifacts: [],
});

/** The key of the values that a parallel part gave, where its branches come together. */
export const resultsKey = 'parallel_results';

/** What a branch begins with, and what it gives: not what the part before it gave, of which every round would hold all rounds before. */
export function withoutResults({ [resultsKey]: _, ...values }: Track['state']): Track['state'] {
  return values;
}

/** Folds what happened at a node into the graph, in place. */
export function applyNode(graph: Graph, change: NodeChange, at: number): void {
  const { node, branch } = change;
  if (change.status === 'start') begin(graph, change, at);
  const track = trackOf(graph, branch);
  const state = graph.nodes[node];
  if (!track || !state) return; // what never began cannot end
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
  }; // what failed is begun anew, and goes on with what was said
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
  const goesOn = before?.status === 'failed'; // where it failed
  for (const name of keysOf(graph.branches))
    if ((branch === undefined || name.startsWith(`${branch}/`)) && !(goesOn && isOpenedBy(node, branch, name)))
      delete graph.branches[name];
}

/** The line of one item of a list: a node's name, and its place in the list. */
export const itemOf = (node: string, index: number): string => `${node}[${index}]`;

/** A line of this name, after the line around it; no node has a `/` in its name. */
export const lineIn = (around: string | undefined, name: string): string =>
  around === undefined ? name : `${around}/${name}`;

/** The line of the workflow that is a step of a node. */
export const nestedLine = (node: string): string => `${node}()`;

/** A line that a node opens for itself, or one in it. */
function isOpenedBy(node: string, branch: string | undefined, line: string): boolean {
  const own = lineIn(branch, node.slice(node.lastIndexOf('/') + 1));
  return line.startsWith(`${own}[`) || line.startsWith(`${own}(`);
}

/** A line that has no copy of the values around it. */
const isOwnLine = (branch: string | undefined): boolean => branch !== undefined && /[\])]$/.test(branch);

/** What a node's own lines have come to is its result by now. */
function closeLines({ branches }: Graph, { node, branch }: NodeChange): void {
  for (const name of keysOf(branches)) if (isOpenedBy(node, branch, name)) delete branches[name];
}

/** Folds a message of a step's conversation into its line, in place. */
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

/** It is where it was before it was begun the last time. */
function takeBack(graph: Graph, node: string): void {
  const { visits, startedAt } = graph.nodes[node]!;
  if (visits > 1) graph.nodes[node] = { status: 'completed', visits: visits - 1, startedAt, endedAt: startedAt };
  else delete graph.nodes[node];
}

function setTrack(graph: Graph, branch: string | undefined, track: Track): void {
  if (branch === undefined) graph.main = track;
  else graph.branches[branch] = track;
}

/** The line that a branch belongs to. */
const parentOf = ({ main, branches }: Graph, branch: string): Track =>
  branches[branch.slice(0, Math.max(0, branch.lastIndexOf('/')))] ?? main;

/** The line of this name; undefined: the run's own. */
export const trackOf = ({ main, branches }: Graph, branch: string | undefined): Track | undefined =>
  branch === undefined ? main : branches[branch];

/** The window of a node's model was full: said at the node, and kept with the conversation of its branch. */
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
