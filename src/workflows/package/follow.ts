import { isDeepStrictEqual } from 'node:util';
import type { WorkflowContext } from '../../engine/core/workflow.ts';
import { createDictionary } from '../../protocol/values/dictionary.ts';
import type { PackageWorkflowGraph } from './packageGraph.ts';
import { artifactPaths, type PackageRunState } from './state.ts';
import { isPackageWorkflowComplete } from './transitions.ts';

type RunLogAccess = Pick<WorkflowContext, 'run' | 'emit'>;

/**
 * Emits `node` events for the position in the state document that are not recorded yet. A repeated call after a crash emits the missing
 * events.
 */
export async function emitPackageRunStateEvents(
  { run, emit }: RunLogAccess,
  graph: PackageWorkflowGraph,
  state: PackageRunState,
): Promise<void> {
  const { currentNodeId: current, variables } = state;
  const artifacts = artifactPaths(state);
  const values = { state: variables, artifacts, whole: true } as const;
  const statusOf = (node: string | undefined) => (node === undefined ? undefined : run.graph?.nodes[node]?.status);
  const end = (node: string, next: string[]) => emit({ type: 'node', node, status: 'end', ...values, next });

  const at = run.graph?.main.at[0];
  if (at !== undefined && at !== current && statusOf(at) === 'running') await end(at, [current]);
  const complete = isPackageWorkflowComplete(graph, state);
  const begun = run.graph?.main.at[0] === current && statusOf(current) === 'running';
  if (!begun && !(complete && statusOf(current) === 'completed'))
    await emit({ type: 'node', node: current, status: 'start', ...values });
  if (complete && statusOf(current) === 'running') await end(current, []);
  if (statusOf(current) !== 'running') return;
  const files = [run.graph!.main.state, run.graph!.artifacts];
  if (!isDeepStrictEqual(files, [variables, [...new Set(artifacts)]]))
    await emit({ type: 'node', node: current, status: 'step', ...values });
}

/** Emits the events after the user restored `state`: work since `before` must be repeated. */
export async function emitRestoredPackageRunStateEvents(
  log: RunLogAccess,
  graph: PackageWorkflowGraph,
  before: PackageRunState,
  state: PackageRunState,
): Promise<void> {
  const { run, emit } = log;
  const nodes = run.graph?.nodes ?? createDictionary<{ status: string }>();
  const left = [...before.stepsCompleted, ...(run.graph?.main.at ?? [])];
  const undone = new Set(left.filter((node) => !state.stepsCompleted.includes(node)));
  const current = state.currentNodeId;
  if (nodes[current]?.status === 'running') undone.delete(current);
  else undone.add(current);
  for (const node of undone) if (nodes[node]) await emit({ type: 'node', node, status: 'undone' });
  await emitPackageRunStateEvents(log, graph, state);
  if (run.phase === 'Completed' && !isPackageWorkflowComplete(graph, state))
    await emit({ type: 'phase', phase: 'WaitingUser' });
}
