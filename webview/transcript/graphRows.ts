import type { OutlineEdge, OutlineNode } from '../../src/protocol/content/outline.ts';
import { type Graph, newGraph } from '../../src/protocol/run/graph.ts';
import { needsApproval } from '../../src/protocol/run/pending.ts';
import { type CallState, callsOf, type Run } from '../../src/protocol/run/run.ts';
import { entriesOf } from '../../src/protocol/values/dictionary.ts';

/** Another window has the run. */
const isElsewhere = ({ error }: Run): boolean => error?.code === 'STORE_LOCKED';

export type NodeState = Graph['nodes'][string];

/** `next`: it comes next; `todo`: it may come; `passed`: the run is over and it was not on its way. */
export type RowStatus = NodeState['status'] | 'asking' | 'waiting' | 'next' | 'todo' | 'passed';

/** One node as it is drawn. */
export interface NodeRow {
  node: OutlineNode;
  status: RowStatus;
  state?: NodeState;
  /** Where it may go, unless that is only the row below. `taken`: where it went the last time. */
  ways: (OutlineEdge & { taken: boolean })[];
  /** A way leads to the row below. */
  joined: boolean;
  /** The call that asks the person something, with its id. */
  asking?: [id: string, call: CallState];
  /** Of a node over a list: how many items there are, and how many of them are done. */
  items?: { done: number; of: number };
  /** What it does, or did if that was one thing. */
  deed?: [tool: string, call: CallState];
  /** What it is saying or printing; of one that failed, what it had said. */
  output?: string;
}

/** All nodes of a run's workflow in its order; of a run that has no outline, those that are known. */
export function graphRows(run: Run): NodeRow[] {
  const { nodes, main, branches } = run.graph ?? newGraph();
  const next = [...main.at, ...entriesOf(branches).flatMap(([, { at }]) => at)];
  const known = run.outline?.nodes ?? [];
  const others = [...namesOf(nodes), ...next].filter((name) => !known.some((node) => node.name === name));
  const all = withInner(
    known,
    [...new Set(others)].filter((name) => !isQuiet(name, nodes)),
  );
  return all.map((node, index) => {
    const state = nodes[node.name];
    const calls = callsOf(run).filter(([id]) => id.startsWith(`${node.name}:${state?.visits}:`));
    const asking = calls.find(([, call]) =>
      run.phase === 'Running' ? call.status === 'asking' : needsApproval(call) && !isElsewhere(run),
    );
    const deeds = calls.flatMap(([id, call]): NonNullable<NodeRow['deed']>[] => {
      const tool = run.tools?.[id];
      return tool === undefined ? [] : [[tool, call]];
    });
    const deed = deeds.find(([, { status }]) => status === 'running') ?? (deeds.length === 1 ? deeds[0] : undefined);
    const said = state?.status === 'failed' && typeof state.output === 'string' ? state.output : state?.live;
    const output = said ?? calls.find(([, call]) => call.status === 'running' && call.output)?.[1].output;
    const edges = (run.outline?.edges ?? []).filter(({ from }) => from === node.name);
    const below = all[index + 1];
    const leadsDown = edges.some(({ to }) => to === below?.name);
    return {
      node,
      status: statusOf(run, state, next.includes(node.name), asking !== undefined),
      ...(state && { state }),
      ways:
        leadsDown && edges.length === 1 && !edges[0]!.label
          ? []
          : edges.map((edge) => ({ ...edge, taken: isTaken(edge, state) })),
      joined: below !== undefined && (!run.outline || leadsDown || below.branch !== undefined),
      ...(node.each && itemsOf(run, node.name)),
      ...(asking && { asking }),
      ...(deed && { deed }),
      ...(output && { output }),
    };
  });
}

/** Names in the order in which the nodes began first. */
const namesOf = (nodes: Graph['nodes']): string[] =>
  entriesOf(nodes)
    .sort(([, one], [, other]) => one.startedAt - other.startedAt)
    .map(([name]) => name);

/** Items of a list, and nodes of a workflow that is a step, stand below the node that they belong to. */
function withInner(known: readonly OutlineNode[], others: readonly string[]): OutlineNode[] {
  const isInner = (name: string, node: string) => name.startsWith(`${node}[`) || name.startsWith(`${node}/`);
  const inner = (node: OutlineNode) =>
    others.filter((name) => isInner(name, node.name)).map((name) => ({ name, branch: node.branch ?? node.name }));
  const rest = others.filter((name) => !known.some((node) => isInner(name, node.name)));
  return [...known.flatMap((node) => [node, ...inner(node)]), ...rest.map((name) => ({ name }))];
}

/** Of a long list those items are shown, with their own nodes, that are at work, or of which there is something to say. */
function isQuiet(name: string, nodes: Graph['nodes']): boolean {
  const item = nodes[/^.*\]/.exec(name)?.[0] ?? ''];
  const state = nodes[name];
  return item?.status === 'completed' && state?.status === 'completed' && !state.warnings;
}

function itemsOf({ graph }: Run, name: string): Pick<NodeRow, 'items'> {
  const { nodes, branches } = graph ?? newGraph();
  const own = (line: string) => line.slice(line.lastIndexOf('/') + 1).startsWith(`${name}[`) && line.endsWith(']');
  const of = Math.max(0, ...entriesOf(nodes).flatMap(([one, state]) => (own(one) && state.of ? [state.of] : [])));
  if (of === 0) return {};
  const isOver = nodes[name]?.status === 'completed';
  const done = entriesOf(branches).filter(([line, { at }]) => own(line) && at.length === 0).length;
  return { items: { done: isOver ? of : done, of } };
}

function statusOf(run: Run, state: NodeState | undefined, isNext: boolean, asks: boolean): RowStatus {
  if (!state) return isNext && run.phase !== 'Completed' ? 'next' : run.phase === 'Completed' ? 'passed' : 'todo';
  if (state.status !== 'running') return state.status;
  if (run.phase !== 'Running' && !asks) return 'waiting';
  return asks ? 'asking' : 'running';
}

const isTaken = ({ to }: OutlineEdge, state: NodeState | undefined): boolean =>
  state?.status === 'completed' && (to === undefined ? state.next?.length === 0 : (state.next?.includes(to) ?? false));

/** Rows that are told as one line until somebody wants to see them. */
export interface RowFold {
  key: string;
  done: boolean;
  rows: NodeRow[];
}

/** Up to this many rows are all shown. */
const mostRows = 9;
const leastFolded = 3;

/** In a long graph, what is done and what is to come is folded but for what is next to the work; a short one is whole. */
export function folded(rows: readonly NodeRow[]): (NodeRow | RowFold)[] {
  if (rows.length <= mostRows) return [...rows];
  const isQuiet = ({ status }: NodeRow) => status === 'completed' || status === 'todo' || status === 'passed';
  const isNear = (index: number) => rows.slice(Math.max(0, index - 1), index + 2).some((row) => !isQuiet(row));
  const parts: (NodeRow | RowFold)[] = [];
  for (let index = 0; index < rows.length; ) {
    const done = rows[index]!.status === 'completed';
    let end = index;
    while (end < rows.length && !isNear(end) && (rows[end]!.status === 'completed') === done) end++;
    const run = rows.slice(index, end);
    if (run.length >= leastFolded) parts.push({ key: run[0]!.node.name, done, rows: run });
    else parts.push(...run);
    if (end > index) index = end;
    else parts.push(rows[index++]!);
  }
  return parts;
}
