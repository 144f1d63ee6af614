import { escapeInvisibleInLine } from '../text/escapeInvisible.ts';
import { type LocalizedMessage, message } from '../text/l10n.ts';
import { createDictionary, sortedDictionaryEntries } from '../values/dictionary.ts';
import type { WorkflowNodeConversation } from './graph.ts';
import { pendingCalls } from './pending.ts';
import { type CallState, callsInStartOrder, type Run } from './run.ts';

/**
 * Calls of a node with an unknown effect: started, possibly mutating, and interrupted by the end of the editor. `calls`: ids in the run.
 * `at`: last recorded activity (epoch milliseconds). `step`: number of the node's step with the open result, absent for a call of a model.
 * `command`: command line of a model's call.
 */
interface Interruption {
  node: string;
  calls: string[];
  at: number;
  step?: number;
  command?: string;
}

/** Returns the interruption of the node on a line; undefined: none. Calls whose files can still prove the effect are excluded. */
export function nodeInterruption(run: Run, node: string, branch: string | undefined): Interruption | undefined {
  const { graph } = run;
  const track = branch === undefined ? graph?.main : graph?.branches[branch];
  const { visit, steps = 0, conversations = createDictionary<WorkflowNodeConversation>(), messages = [] } = track ?? {};
  if (visit === undefined) return undefined;
  const recorded = new Set<string>();
  const open = new Set<string>();
  for (const [, one] of sortedDictionaryEntries(conversations)) {
    for (const [, id] of sortedDictionaryEntries(one.callIds)) recorded.add(id);
    for (const { id } of pendingCalls(one.messages)) open.add(one.callIds[id] ?? id);
  }
  const prefix = `${node}:${visit}:`;
  const agentCalls = messages.flatMap((one) => (one.role === 'assistant' ? (one.toolCalls ?? []) : []));
  const isAgents = (inner: string) => agentCalls.some(({ id }) => inner === id || inner.startsWith(`${id}:`));
  const found: Interruption = { node, calls: [], at: 0 };
  const add = (state: CallState, ids: readonly string[], more: Pick<Interruption, 'step' | 'command'>) => {
    found.calls = [...new Set([...found.calls, ...ids])];
    found.at = Math.max(found.at, interruptedAt(run, state));
    Object.assign(found, more);
  };
  for (const [id, state] of callsInStartOrder(run)) {
    if (!(open.has(id) || id.startsWith(prefix)) || !isCallEffectUnknown(run, id, state)) continue;
    if (open.has(id)) add(state, [id], state.command ? { command: state.command.line } : {});
    if (recorded.has(id) || !id.startsWith(prefix)) continue;
    const [, index, number, inner] = /^((\d+)(?:r\d+)?)(?::(.+))?$/.exec(id.slice(prefix.length)) ?? [];
    const step = Number(number);
    if (index === undefined || step < steps) continue;
    if (inner === undefined && !run.calls[nextAttempt(id)]) add(state, [id], { step });
    // An unrecorded conversation is repeated as a whole: the step itself is interrupted.
    if (inner !== undefined && !isAgents(inner)) add(state, [`${prefix}${index}`, id], { step });
  }
  return found.calls.length === 0 ? undefined : found;
}

export interface InterruptedWork extends Interruption {
  label: string;
  items?: { count: number; of: number };
}

export function interruptedWork(run: Run): InterruptedWork[] {
  const { graph } = run;
  if (!graph) return [];
  const works = new Map<string, InterruptedWork>();
  for (const [branch, { at }] of [[undefined, graph.main] as const, ...sortedDictionaryEntries(graph.branches)]) {
    const one = at.length === 1 ? nodeInterruption(run, at[0]!, branch) : undefined;
    if (!one) continue;
    const key = `${one.node.replaceAll(/\[\d+\]/g, '[]')} ${one.step ?? 'call'}`;
    const known = works.get(key);
    const item = /^.*\]/.exec(one.node)?.[0];
    const of = (item !== undefined && graph.nodes[item]?.of) || 0;
    works.set(key, {
      ...one,
      calls: [...(known?.calls ?? []), ...one.calls],
      at: Math.max(known?.at ?? 0, one.at),
      label: escapeInvisibleInLine(one.command ?? one.node),
      ...(of > 0 && { items: { count: (known?.items?.count ?? 0) + 1, of } }),
    });
  }
  return [...works.values()];
}

export function interruptionMessage(
  { label, items }: Pick<InterruptedWork, 'label' | 'items'>,
  time?: string,
): LocalizedMessage {
  if (items?.count === 1) return message('1 of {0} items was interrupted. It may have run.', items.of);
  if (items) return message('{0} of {1} items were interrupted. They may have run.', items.count, items.of);
  if (time === undefined) return message('“{0}” was interrupted. It may have run.', label);
  return message('“{0}” was interrupted at {1}. It may have run.', label, time);
}

/** Returns a node whose step has a recorded outcome that the node has not received; undefined: none. */
export function nodeWithUndeliveredOutcome({
  graph,
  outcomes = createDictionary(),
}: Pick<Run, 'graph' | 'outcomes'>): string | undefined {
  const lines = graph ? [graph.main, ...sortedDictionaryEntries(graph.branches).map(([, track]) => track)] : [];
  return lines
    .filter(({ visit }) => visit !== undefined)
    .map(({ at }) => at[0]!)
    .find((node) =>
      sortedDictionaryEntries(outcomes).some(
        ([id, outcome]) =>
          'data' in outcome && id.startsWith(`${node}:`) && /^\d+:\d+(r\d+)?$/.test(id.slice(node.length + 1)),
      ),
    );
}

const interruptedAt = (run: Run, { ok, code, interruptedAt: at, startedAt = 0, ms = 0 }: CallState): number =>
  at ?? (ok === undefined || code === 'TOOL_INTERRUPTED' ? (ms > 0 ? startedAt + ms : run.updatedAt) : startedAt + ms);

export function isCallEffectUnknown({ outcomes }: Pick<Run, 'outcomes'>, id: string, state: CallState): boolean {
  const { startedAt, decision, onlyReads, ok, step, changes, moved, again } = state;
  if (startedAt === undefined || decision === undefined || onlyReads || again || outcomes?.[id]) return false;
  const isOfFiles = Boolean(changes || moved);
  if (ok === undefined) return !isOfFiles;
  return ok ? !(step || isOfFiles) : !(changes?.length === 0 && !moved);
}

const nextAttempt = (id: string): string =>
  id.replace(/^(.*?)(?:r(\d+))?$/, (_, first, attempt = 0) => `${first}r${Number(attempt) + 1}`);
