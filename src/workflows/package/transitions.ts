import { ToolError } from '../../tools/core/tool.ts';
import {
  nextNodeLabel,
  nextPackageWorkflowNodes,
  type PackageWorkflowGraph,
  packageWorkflowNodeById,
} from './packageGraph.ts';
import type { PackageRunState } from './state.ts';
import { describeStateValueLoss } from './update.ts';

/**
 * Throws `E_INVALID_TRANSITION` unless at most one edge leads from one state to the other. Details: `{ reason, currentNodeId, allowedNext:
 * [{ id, label? }] }`.
 */
export function checkPackageTransition(
  graph: PackageWorkflowGraph,
  before: PackageRunState,
  after: PackageRunState,
): void {
  const refuse = refusal(graph, before);
  const { currentNodeId: from } = before;
  const { currentNodeId: to } = after;
  if (!packageWorkflowNodeById(graph, to)) throw refuse('UNKNOWN_NODE', `There is no node ${JSON.stringify(to)}.`);
  if (to !== from && !nextPackageWorkflowNodes(graph, from).some(({ id }) => id === to))
    throw refuse('NO_EDGE', `No edge leads from ${JSON.stringify(from)} to ${JSON.stringify(to)}.`);
  const unknown = after.stepsCompleted.find((id) => !packageWorkflowNodeById(graph, id));
  if (unknown !== undefined)
    throw refuse('UNKNOWN_NODE', `stepsCompleted names ${JSON.stringify(unknown)}, which is no node.`);
  const gone = before.stepsCompleted.find((id) => !after.stepsCompleted.includes(id));
  if (gone !== undefined)
    throw refuse('STEPS_SHRINK', `stepsCompleted only grows; ${JSON.stringify(gone)} is missing from it.`);
}

/**
 * Throws `E_INVALID_TRANSITION` if a state lacks values of the previous state without permission. Details: `{ reason: 'STATE_SHRINKS', lost
 * }`.
 */
export function checkStateValueLoss(
  before: PackageRunState,
  after: PackageRunState,
  drops: readonly string[] = [],
): void {
  const lost = describeStateValueLoss(before, after, drops);
  if (lost.length === 0) return;
  const more = lost.length > 5 ? `, and ${lost.length - 5} more` : '';
  const message = `The state document would lose ${lost.slice(0, 5).join(', ')}${more}. In the frontmatter of fs.apply_patch give only what is new; {"set": …} in a value's place replaces it, {"remove": […]} takes names or items away. Nothing was written.`;
  throw new ToolError('E_INVALID_TRANSITION', message, { reason: 'STATE_SHRINKS', lost: lost.slice(0, 20) });
}

/** Returns true if the model declares completion, or after an end node is done. */
export function isPackageWorkflowComplete(graph: PackageWorkflowGraph, state: PackageRunState): boolean {
  if (state.variables.workflowStatus === 'complete') return true;
  const { currentNodeId } = state;
  return packageWorkflowNodeById(graph, currentNodeId)?.type === 'end' && state.stepsCompleted.includes(currentNodeId);
}

function refusal(graph: PackageWorkflowGraph, { currentNodeId }: PackageRunState) {
  const allowedNext = nextPackageWorkflowNodes(graph, currentNodeId);
  const names = allowedNext.map(nextNodeLabel).join(', ') || 'none, it is an end node';
  return (reason: string, why: string) =>
    new ToolError(
      'E_INVALID_TRANSITION',
      `${why} The current node is ${JSON.stringify(currentNodeId)}; allowed next: ${names}. Nothing was written.`,
      { reason, currentNodeId, allowedNext },
    );
}
