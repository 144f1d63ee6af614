import { type CallState, callsInStartOrder, type Run } from '../../protocol/run/run.ts';

/**
 * Returns the other calls that ran at the same time as this one, in the order of their starts, if something in both may be a change of the
 * other. Undone calls do not count.
 */
export function overlappingCallIds({ calls }: Pick<Run, 'calls'>, toolCallId: string): string[] {
  const own = calls[toolCallId];
  if (!own || !hasSharedChange(own)) return [];
  return callsInStartOrder({ calls }).flatMap(([id, other]) =>
    id !== toolCallId && hasSharedChange(other) && startOf(own) <= endOf(other) && startOf(other) <= endOf(own)
      ? [id]
      : [],
  );
}

const hasSharedChange = ({ changes = [], undone = [] }: CallState): boolean =>
  changes.some(({ path, mixed }) => mixed && !undone.includes(path));

const startOf = ({ startedAt = 0 }: CallState): number => startedAt;
const endOf = ({ startedAt = 0, ms = 0, interruptedAt, background, ended }: CallState): number =>
  background ? (ended?.at ?? Number.POSITIVE_INFINITY) : (interruptedAt ?? startedAt + ms);

/** Returns the ended commands from before the first call that a version with recording made. Their changes are unknown. */
export function callIdsBeforeRecording({ calls }: Pick<Run, 'calls'>): string[] {
  const all = callsInStartOrder({ calls });
  const first = all.findIndex(([, { snapshot, unrecorded }]) => snapshot !== undefined || unrecorded !== undefined);
  return all
    .slice(0, first === -1 ? all.length : first)
    .flatMap(([id, { command, status }]) => (command && status === 'done' ? [id] : []));
}
