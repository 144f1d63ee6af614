import type { WorkflowContext } from '../../engine/workflow.ts';
import type { PackageGraph } from './graph.ts';
import { artifactPaths, type PackageState } from './state.ts';
import { isComplete } from './transitions.ts';

/**
 * Tells where the run stands, as the state document has it, to whoever watches: `node` events for what is not told yet. Told
 * again after a kill between the document and its events, it makes up for them.
 */
export async function followState(
  { run, emit }: Pick<WorkflowContext, 'run' | 'emit'>,
  graph: PackageGraph,
  state: PackageState,
): Promise<void> {
  const { currentNodeId: current } = state;
  const statusOf = (node: string | undefined) => (node === undefined ? undefined : run.graph?.nodes[node]?.status);
  const end = (node: string, next: string[]) =>
    emit({
      type: 'node',
      node,
      status: 'end',
      state: state.variables,
      next,
      artifacts: artifactPaths(state),
    });

  const at = run.graph?.main.at[0];
  if (at !== undefined && at !== current && statusOf(at) === 'running') await end(at, [current]);
  const complete = isComplete(graph, state);
  const begun = run.graph?.main.at[0] === current && statusOf(current) === 'running';
  if (!begun && !(complete && statusOf(current) === 'completed'))
    await emit({ type: 'node', node: current, status: 'start' });
  if (complete && statusOf(current) === 'running') await end(current, []);
}
