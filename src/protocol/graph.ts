import * as z from 'zod';
import { type Compaction, compactionOf, compactionSchema } from './compaction.ts';
import { errorInfoSchema, messageSchema } from './messages.ts';

const values = z.record(z.string(), z.unknown());

/** What happened at a node of a workflow; together these say where the run stands. */
export const nodeChangeShape = {
  node: z.string(),
  /** `step`: one of the steps of a node is done, the node goes on. `undone`: as if it had not been begun, this time. */
  status: z.enum(['start', 'step', 'end', 'failed', 'undone']),
  /**
   * The line it runs in: a parallel branch by its first node, one item of a node over a list (`node[0]`), or the workflow that is a
   * step of a node (`node()`, whose nodes are called `node/inner`); after the line around it (`outer/inner`).
   */
  branch: z.string().optional(),
  /** Values it set. */
  state: values.optional(),
  /** With `start`, of an item of a list: how many there are. */
  of: z.number().int().optional(),
  /** With `start`: what the line had done before does not count. */
  anew: z.literal(true).optional(),
  /** `state` and `artifacts` are all there are now: what is not among them is gone. */
  whole: z.literal(true).optional(),
  /** With `failed`: what was shown of it, which is a part. */
  output: z.unknown().optional(),
  /** With `end`: what follows. Several run side by side, until `fanIn`; none: the end. */
  next: z.array(z.string()).optional(),
  fanIn: z.string().optional(),
  /** Workspace-relative paths of what it made. */
  artifacts: z.array(z.string()).optional(),
  /** What it did is not as the file says it would be, and goes on all the same. */
  warnings: z.array(z.string()).optional(),
  error: errorInfoSchema.optional(),
};
export type NodeChange = z.infer<z.ZodObject<typeof nodeChangeShape>>;

const trackSchema = z.object({
  /** The nodes that are at work or come next; none: it has come to its end. */
  at: z.array(z.string()),
  /** Steps of the node that are done. */
  steps: z.number().int(),
  state: values,
  /** Its nodes that are next run side by side, until this one. */
  fanIn: z.string().optional(),
  /** The visit of its node that is at work; absent between nodes. */
  visit: z.number().int().optional(),
  /** What an agent and its tools have said at its node: a branch has a conversation of its own. */
  messages: z.array(messageSchema).optional(),
  /** What was done about its model's full window, in order. */
  compactions: z.array(compactionSchema).optional(),
});
/** One line of nodes: the run's own, or a parallel branch's with its own copy of the values. */
export type Track = z.infer<typeof trackSchema>;

/** Where a run stands in its workflow. */
export const graphSchema = z.object({
  nodes: z.record(
    z.string(),
    z.object({
      status: z.enum(['running', 'completed', 'failed']),
      /** How often it was begun. */
      visits: z.number().int(),
      startedAt: z.number(),
      endedAt: z.number().optional(),
      /** Of one that failed: what was shown before, a part. */
      output: z.unknown().optional(),
      /** What followed it the last time it ended. */
      next: z.array(z.string()).optional(),
      /** Of an item of a list: how many there are. */
      of: z.number().int().optional(),
      error: errorInfoSchema.optional(),
      warnings: z.array(z.string()).optional(),
      /** What its model is saying; of more than `liveLimit` characters the newest, after an ellipsis. */
      live: z.string().optional(),
    }),
  ),
  main: trackSchema,
  /** It has come to its end: with this node, and when there were so many messages. What is said after that is about it. */
  end: z.object({ node: z.string(), messages: z.number().int() }).optional(),
  /** By name (`outer/inner`). Empty outside of a parallel part. */
  branches: z.record(z.string(), trackSchema),
  artifacts: z.array(z.string()),
});
export type Graph = z.infer<typeof graphSchema>;

/** Characters of a node's live text kept in the fold. */
const liveLimit = 200_000;

export const newGraph = (): Graph => ({
  nodes: {},
  main: { at: [], steps: 0, state: {} },
  branches: {},
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
  track.state = { ...(!change.whole && track.state), ...change.state };
  graph.artifacts = [...new Set([...(change.whole ? [] : graph.artifacts), ...(change.artifacts ?? [])])];
  if (change.warnings) state.warnings = [...new Set([...(state.warnings ?? []), ...change.warnings])];
  if (change.status === 'step') track.steps++;
  if (change.status === 'step' || change.status === 'end') closeLines(graph, change);
  if (change.status === 'undone') takeBack(graph, node);
  if (change.status === 'end' || change.status === 'failed') {
    state.status = change.status === 'end' ? 'completed' : 'failed';
    state.endedAt = at;
    state.live = undefined;
    state.output = change.output;
    if (change.next) state.next = change.next;
    state.error = change.error;
  }
  const { at: _, visit: __, fanIn: ___, messages, compactions, ...rest } = track;
  const said = { ...(messages && { messages }), ...(compactions && { compactions }) }; // what failed is begun anew, and goes on with what was said
  if (change.status === 'failed') setTrack(graph, branch, { ...rest, ...said, at: track.at });
  if (change.status !== 'end') return;
  const around = branch === undefined ? undefined : parentOf(graph, branch).fanIn;
  const next = (change.next ?? []).filter((one) => around === undefined || one !== around);
  setTrack(graph, branch, { ...rest, steps: 0, at: next, ...(change.fanIn !== undefined && { fanIn: change.fanIn }) });
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
  for (const name of Object.keys(graph.branches))
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
  for (const name of Object.keys(branches)) if (isOpenedBy(node, branch, name)) delete branches[name];
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
  { node, branch, ...compaction }: Omit<Compaction, 'at'> & { node: string; branch?: string },
): void {
  const state = graph.nodes[node];
  const sees = compaction.summary === undefined ? 'older tool output shortened' : 'a summary of its oldest turns';
  const warning = `The window of its model was full: it saw ${sees} from then on.`;
  if (state) state.warnings = [...new Set([...(state.warnings ?? []), warning])];
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
