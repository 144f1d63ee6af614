import { trackOf } from './graph.ts';
import { pendingCalls } from './pending.ts';
import type { CallState, Run } from './run.ts';

/** Calls of a node that had begun, and may have changed something, when the editor ended; nothing says whether they did. */
export interface Interruption {
  node: string;
  branch?: string;
  /** Ids of the calls in the run. */
  calls: string[];
}

/** Interruption of the node that is at work on a line; undefined: none. A call that the files can still prove is not one. */
export function interruptionAt(run: Run, node: string, branch: string | undefined): Interruption | undefined {
  const { visit, steps = 0, conversations = {}, messages = [] } = (run.graph && trackOf(run.graph, branch)) ?? {};
  if (visit === undefined) return undefined;
  const recorded = new Set<string>();
  const open = new Set<string>();
  for (const one of Object.values(conversations)) {
    for (const id of Object.values(one.callIds)) recorded.add(id);
    for (const { id } of pendingCalls(one.messages)) open.add(one.callIds[id] ?? id);
  }
  const prefix = `${node}:${visit}:`;
  const agentCalls = messages.flatMap((one) => (one.role === 'assistant' ? (one.toolCalls ?? []) : []));
  const isAgents = (inner: string) => agentCalls.some(({ id }) => inner === id || inner.startsWith(`${id}:`));
  const calls: string[] = [];
  for (const [id, state] of Object.entries(run.calls)) {
    if (!isUnknown(run, id, state)) continue;
    if (open.has(id)) calls.push(id);
    if (recorded.has(id) || !id.startsWith(prefix)) continue;
    const [, index, step, inner] = /^((\d+)(?:r\d+)?)(?::(.+))?$/.exec(id.slice(prefix.length)) ?? [];
    if (index === undefined || Number(step) < steps) continue;
    if (inner === undefined ? !run.calls[nextAttempt(id)] : !isAgents(inner))
      calls.push(...(inner === undefined ? [id] : [`${prefix}${index}`, id])); // of a conversation without a record, its step is meant
  }
  return calls.length === 0 ? undefined : { node, ...(branch !== undefined && { branch }), calls: [...new Set(calls)] };
}

function isUnknown({ outcomes }: Run, id: string, state: CallState): boolean {
  const { startedAt, decision, onlyReads, ok, step, changes, moved } = state;
  if (startedAt === undefined || decision === undefined || onlyReads || outcomes?.[id]) return false;
  const isOfFiles = Boolean(changes || moved);
  if (ok === undefined) return !isOfFiles; // its files decide when the run continues
  return ok ? !(step || isOfFiles) : !(changes?.length === 0 && !moved);
}

/** Id of the call that was made when this call of a step had failed. */
export const nextAttempt = (id: string): string =>
  id.replace(/^(.*?)(?:r(\d+))?$/, (_, first, attempt = 0) => `${first}r${Number(attempt) + 1}`);
