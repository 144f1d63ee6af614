import type { Message } from '../../protocol/content/messages.ts';
import {
  beginsWithPromptBlock,
  lastPromptBlock,
  promptBlock,
  promptBlockField,
} from '../../protocol/content/promptBlocks.ts';
import type { Run } from '../../protocol/run/run.ts';
import { secretFileReason } from '../../tools/policy/secretFiles.ts';
import type { PackageWorkflow } from './load.ts';
import { nextNodeLabel, nextPackageWorkflowNodes, packageWorkflowNodeById } from './packageGraph.ts';
import { nodeArtifactOutputs, withoutProjectMount } from './packagePrompt.ts';
import type { PackageRunState } from './state.ts';
import { isPackageWorkflowComplete } from './transitions.ts';

/**
 * Returns a reminder for a model that has worked at a node without a state update: after all outputs exist, or at a stop. Undefined if
 * unnecessary or already sent. Past reminders are found in the messages, so a reload sends no duplicate.
 */
export function packageStateUpdateReminder(
  run: Run,
  workflow: PackageWorkflow,
  state: PackageRunState,
): string | undefined {
  const { graph } = workflow;
  const { currentNodeId: nodeId, stepsCompleted } = state;
  if (isPackageWorkflowComplete(graph, state)) return undefined;
  const since = run.messages.slice(beginOf(run.messages, nodeId));
  if (since.some(({ role, content }) => role === 'system' && beginsWithPromptBlock(content, 'NODE_REMINDER')))
    return undefined;

  const last = since.at(-1);
  const stops = last?.role === 'assistant' && !last.toolCalls?.length;
  const isFirstVisit = (run.graph?.nodes[nodeId]?.visits ?? 1) <= 1;
  const isLeft = stepsCompleted.includes(nodeId) && isFirstVisit; // marked as completed but not left
  const changed = changedIn(since, run);
  const outputs = Object.values(nodeArtifactOutputs(workflow, nodeId)).filter((file) => !/[<>{}*]/.test(file));
  const allMade = outputs.length > 0 && outputs.every((file) => changed.has(file));
  if (stops ? changed.size === 0 && !isLeft : !allMade) return undefined;

  const listed = new Set(state.artifacts.map((one) => withoutProjectMount(typeof one === 'string' ? one : one.path)));
  const unlisted = outputs.filter((file) => changed.has(file) && !listed.has(file));
  const unmade = outputs.filter((file) => !changed.has(file) && !listed.has(file));
  const next = nextPackageWorkflowNodes(graph, nodeId).map(nextNodeLabel);
  const missing = [
    ...(unmade.length > 0 ? [`write ${unmade.join(', ')}`] : []),
    ...(stepsCompleted.includes(nodeId) ? [] : [`add ${nodeId} to stepsCompleted`]),
    ...(packageWorkflowNodeById(graph, nodeId)?.type === 'end' ? [] : [`set currentNodeId to ${next.join(' or ')}`]),
    ...(unlisted.length > 0 ? [`add ${unlisted.join(', ')} to artifacts`] : []),
  ];
  const instruction =
    'one fs.apply_patch with frontmatter on @state/workflow.md once the node is done; until then go on, or ask';
  return promptBlock('NODE_REMINDER', { nodeId, missing: missing.join('; '), how: instruction });
}

function beginOf(messages: readonly Message[], nodeId: string): number {
  let begin = messages.length;
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]!;
    if (message.role !== 'system' || !beginsWithPromptBlock(message.content, 'RUN_DIRECTIVE')) continue;
    const brief = lastPromptBlock(message.content, 'NODE_BRIEF');
    if (brief === undefined || promptBlockField(brief, 'nodeId') !== nodeId) break;
    begin = index;
  }
  return begin;
}

/** Returns the files changed by calls in these messages, except the state document and reverted changes. */
function changedIn(messages: readonly Message[], { calls }: Run): Set<string> {
  const asked = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []));
  const paths = asked.flatMap(({ id }) => {
    const { ok, changes = [], moved, undone = [], snapshot } = calls[id] ?? {};
    const all = ok ? [...changes.map(({ path }) => path), ...(moved ? [moved.to] : [])] : [];
    const isNamed = (path: string) => snapshot === undefined || !secretFileReason(path.split('/'));
    return all.filter((path) => !undone.includes(path) && isNamed(path));
  });
  return new Set(paths.filter((path) => path !== '@state/workflow.md'));
}
