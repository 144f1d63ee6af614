import type { ToolCall } from '../content/messages.ts';
import type { WorkflowNodeEvent } from '../content/nodeChange.ts';
import type { ToolOutcome } from '../content/tools.ts';
import { createDictionary, type Dictionary, sortedDictionaryEntries } from '../values/dictionary.ts';
import type { RecordedOutcome } from './events.ts';
import type { WorkflowGraphState, WorkflowNodeMessage } from './graph.ts';

/**
 * Outcome of a node's call between the end of the call and its delivery to the node. After a restart the node continues with the outcome,
 * and the call is not repeated. `byPerson`: the user supplied the result of an interrupted call.
 */
export type WorkflowNodeOutcome = RecordedOutcome & { tool: string; byPerson?: true };

interface Recorded {
  outcomes?: Dictionary<WorkflowNodeOutcome>;
  graph?: WorkflowGraphState;
}

export function recordOutcome(run: Recorded, toolCallId: string, outcome: WorkflowNodeOutcome): void {
  run.outcomes ??= createDictionary();
  run.outcomes[toolCallId] = outcome;
}

export function recordedOutcome({ outcomes }: Recorded, { id, name }: ToolCall): ToolOutcome | undefined {
  const outcome = outcomes?.[id];
  if (!outcome || (outcome.tool !== name && !outcome.byPerson)) return undefined;
  return 'error' in outcome ? { ok: false, error: outcome.error } : { ok: true, data: outcome.data ?? null };
}

/**
 * Returns the outcome of a node's step with its call id. Successes of an earlier visit count, because the node failed after them.
 *
 * @param node name of the node in the run
 */
export function workflowStepOutcome(
  { outcomes = createDictionary() }: Recorded,
  node: string,
  index: number,
): { id: string; data: unknown; byPerson?: true } | undefined {
  for (const [id, outcome] of sortedDictionaryEntries(outcomes)) {
    const own = id.startsWith(`${node}:`) ? /^\d+:(\d+)(r\d+)?$/.exec(id.slice(node.length + 1)) : undefined;
    if (own && Number(own[1]) === index && 'data' in outcome)
      return { id, data: outcome.data ?? null, ...(outcome.byPerson && { byPerson: true as const }) };
  }
  return undefined;
}

export function dropDeliveredOutcomes({ outcomes }: Recorded, { node, status, anew }: WorkflowNodeEvent): void {
  const isOver = status === 'step' || status === 'end' || (status === 'start' && anew);
  if (!outcomes || !(isOver || status === 'failed')) return;
  for (const [id, outcome] of sortedDictionaryEntries(outcomes))
    if (id.startsWith(`${node}:`) && (isOver || 'error' in outcome)) delete outcomes[id];
}

export function dropAnsweredOutcomes(
  { outcomes, graph }: Recorded,
  { branch, conversation, message }: WorkflowNodeMessage,
): void {
  if (!outcomes || message.role !== 'tool') return;
  const track = branch === undefined ? graph?.main : graph?.branches[branch];
  const callIds = track?.conversations?.[conversation]?.callIds;
  for (const { toolCallId } of message.toolResults) delete outcomes[callIds?.[toolCallId] ?? ''];
}
