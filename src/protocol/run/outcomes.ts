import type { ToolCall } from '../content/messages.ts';
import type { NodeChange } from '../content/nodeChange.ts';
import type { ToolOutcome } from '../content/tools.ts';
import { createDictionary, type Dictionary, entriesOf } from '../values/dictionary.ts';
import type { RecordedOutcome } from './events.ts';
import type { Graph, NodeMessage } from './graph.ts';

/**
 * Outcome of a call that a node made, from the end of the call until the node has it: when the editor ends in between, the node goes on
 * with it and the call is not repeated. `byPerson`: the person gave the result of a call that was interrupted.
 */
export type NodeOutcome = RecordedOutcome & { tool: string; byPerson?: true };

/** Of a run. */
interface Recorded {
  outcomes?: Dictionary<NodeOutcome>;
  graph?: Graph;
}

export function recordOutcome(run: Recorded, toolCallId: string, outcome: NodeOutcome): void {
  run.outcomes ??= createDictionary();
  run.outcomes[toolCallId] = outcome;
}

/** Recorded outcome of this very call of a tool; a call of another tool is another call. */
export function recordedOutcome({ outcomes }: Recorded, { id, name }: ToolCall): ToolOutcome | undefined {
  const outcome = outcomes?.[id];
  if (!outcome || (outcome.tool !== name && !outcome.byPerson)) return undefined;
  return 'error' in outcome ? { ok: false, error: outcome.error } : { ok: true, data: outcome.data ?? null };
}

/**
 * Outcome of a step of a node, with the id of the call that has it. A success of an earlier visit counts: the node failed after it.
 * @param node its name in the run
 */
export function workflowStepOutcome(
  { outcomes = createDictionary() }: Recorded,
  node: string,
  index: number,
): { id: string; data: unknown; byPerson?: true } | undefined {
  for (const [id, outcome] of entriesOf(outcomes)) {
    const own = id.startsWith(`${node}:`) ? /^\d+:(\d+)(r\d+)?$/.exec(id.slice(node.length + 1)) : undefined;
    if (own && Number(own[1]) === index && 'data' in outcome)
      return { id, data: outcome.data ?? null, ...(outcome.byPerson && { byPerson: true as const }) };
  }
  return undefined;
}

/**
 * Drops the outcomes that a node has: of a step that is done all, of a node that failed its failures, for it does that again; what was
 * done is not done again.
 */
export function dropOutcomes({ outcomes }: Recorded, { node, status, anew }: NodeChange): void {
  const isOver = status === 'step' || status === 'end' || (status === 'start' && anew);
  if (!outcomes || !(isOver || status === 'failed')) return;
  for (const [id, outcome] of entriesOf(outcomes))
    if (id.startsWith(`${node}:`) && (isOver || 'error' in outcome)) delete outcomes[id];
}

/** Drops the outcomes of calls whose results a step's conversation has. */
export function dropAnswered({ outcomes, graph }: Recorded, { branch, conversation, message }: NodeMessage): void {
  if (!outcomes || message.role !== 'tool') return;
  const track = branch === undefined ? graph?.main : graph?.branches[branch];
  const callIds = track?.conversations?.[conversation]?.callIds;
  for (const { toolCallId } of message.toolResults) delete outcomes[callIds?.[toolCallId] ?? ''];
}
