import type { WorkflowDiagramEdge, WorkflowDiagramNode } from '../../src/protocol/content/outline.ts';
import { createWorkflowGraphState, type WorkflowGraphState } from '../../src/protocol/run/graph.ts';
import { isAwaitingApproval } from '../../src/protocol/run/pending.ts';
import { type CallState, callsInStartOrder, type Run } from '../../src/protocol/run/run.ts';
import { sortedDictionaryEntries } from '../../src/protocol/values/dictionary.ts';

const isElsewhere = ({ error }: Run): boolean => error?.code === 'STORE_LOCKED';

export type WorkflowNodeState = WorkflowGraphState['nodes'][string];

/** `next`: comes next; `todo`: may come; `passed`: not reached in a finished run. */
export type WorkflowNodeRowStatus = WorkflowNodeState['status'] | 'asking' | 'waiting' | 'next' | 'todo' | 'passed';

/**
 * Row of a node. `ways`: outgoing edges unless only to the next row, with the edge taken last; `joined`: an edge leads to the next row;
 * `asking`: a call that needs an answer; `items`: progress of a list node; `deed`: current or only call; `output`: streamed or partial
 * output.
 */
export interface WorkflowNodeRow {
  node: WorkflowDiagramNode;
  status: WorkflowNodeRowStatus;
  state?: WorkflowNodeState;
  ways: (WorkflowDiagramEdge & { taken: boolean })[];
  joined: boolean;
  asking?: [id: string, call: CallState];
  items?: { done: number; of: number };
  deed?: [tool: string, call: CallState];
  output?: string;
}

/** Rows in workflow order; without an outline, the known nodes. */
export function workflowNodeRows(run: Run): WorkflowNodeRow[] {
  const { nodes, main, branches } = run.graph ?? createWorkflowGraphState();
  const next = [...main.at, ...sortedDictionaryEntries(branches).flatMap(([, { at }]) => at)];
  const known = run.outline?.nodes ?? [];
  const others = [...namesOf(nodes), ...next].filter((name) => !known.some((node) => node.name === name));
  const all = withInner(
    known,
    [...new Set(others)].filter((name) => !isQuiet(name, nodes)),
  );
  return all.map((node, index) => {
    const state = nodes[node.name];
    const calls = callsInStartOrder(run).filter(([id]) => id.startsWith(`${node.name}:${state?.visits}:`));
    const asking = calls.find(([, call]) =>
      run.phase === 'Running' ? call.status === 'asking' : isAwaitingApproval(call) && !isElsewhere(run),
    );
    const deeds = calls.flatMap(([id, call]): NonNullable<WorkflowNodeRow['deed']>[] => {
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

const namesOf = (nodes: WorkflowGraphState['nodes']): string[] =>
  sortedDictionaryEntries(nodes)
    .sort(([, one], [, other]) => one.startedAt - other.startedAt)
    .map(([name]) => name);

/** Inserts list items and nodes of nested workflows below their node. */
function withInner(known: readonly WorkflowDiagramNode[], others: readonly string[]): WorkflowDiagramNode[] {
  const isInner = (name: string, node: string) => name.startsWith(`${node}[`) || name.startsWith(`${node}/`);
  const inner = (node: WorkflowDiagramNode) =>
    others.filter((name) => isInner(name, node.name)).map((name) => ({ name, branch: node.branch ?? node.name }));
  const rest = others.filter((name) => !known.some((node) => isInner(name, node.name)));
  return [...known.flatMap((node) => [node, ...inner(node)]), ...rest.map((name) => ({ name }))];
}

/** True for items of a long list that are neither running nor noteworthy. */
function isQuiet(name: string, nodes: WorkflowGraphState['nodes']): boolean {
  const item = nodes[/^.*\]/.exec(name)?.[0] ?? ''];
  const state = nodes[name];
  return item?.status === 'completed' && state?.status === 'completed' && !state.warnings;
}

function itemsOf({ graph }: Run, name: string): Pick<WorkflowNodeRow, 'items'> {
  const { nodes, branches } = graph ?? createWorkflowGraphState();
  const own = (line: string) => line.slice(line.lastIndexOf('/') + 1).startsWith(`${name}[`) && line.endsWith(']');
  const of = Math.max(
    0,
    ...sortedDictionaryEntries(nodes).flatMap(([one, state]) => (own(one) && state.of ? [state.of] : [])),
  );
  if (of === 0) return {};
  const isOver = nodes[name]?.status === 'completed';
  const done = sortedDictionaryEntries(branches).filter(([line, { at }]) => own(line) && at.length === 0).length;
  return { items: { done: isOver ? of : done, of } };
}

function statusOf(
  run: Run,
  state: WorkflowNodeState | undefined,
  isNext: boolean,
  asks: boolean,
): WorkflowNodeRowStatus {
  if (!state) return isNext && run.phase !== 'Completed' ? 'next' : run.phase === 'Completed' ? 'passed' : 'todo';
  if (state.status !== 'running') return state.status;
  if (run.phase !== 'Running' && !asks) return 'waiting';
  return asks ? 'asking' : 'running';
}

const isTaken = ({ to }: WorkflowDiagramEdge, state: WorkflowNodeState | undefined): boolean =>
  state?.status === 'completed' && (to === undefined ? state.next?.length === 0 : (state.next?.includes(to) ?? false));

/** Rows folded into one line until opened. */
export interface FoldedWorkflowNodeRows {
  key: string;
  done: boolean;
  rows: WorkflowNodeRow[];
}

const maxRows = 9;
const leastFolded = 3;

/** Folds done and future rows of a long graph except next to the running nodes. */
export function foldWorkflowNodeRows(rows: readonly WorkflowNodeRow[]): (WorkflowNodeRow | FoldedWorkflowNodeRows)[] {
  if (rows.length <= maxRows) return [...rows];
  const isQuiet = ({ status }: WorkflowNodeRow) => status === 'completed' || status === 'todo' || status === 'passed';
  const isNear = (index: number) => rows.slice(Math.max(0, index - 1), index + 2).some((row) => !isQuiet(row));
  const parts: (WorkflowNodeRow | FoldedWorkflowNodeRows)[] = [];
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
