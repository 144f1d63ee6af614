import { callsInStartOrder, pathsToUndo, type Run } from '../../src/protocol/run/run.ts';
import { conversationCallId } from '../../src/protocol/run/tasks.ts';

/** Number of files changed since the message, according to the calls. */
export function countFilesChangedAfter(run: Run, at: number): number {
  const before = new Set(
    run.messages
      .slice(0, at)
      .flatMap((one) => (one.role === 'assistant' ? (one.toolCalls ?? []) : []))
      .map(({ id }) => id),
  );
  const files = new Set<string>();
  for (const [id, state] of callsInStartOrder(run))
    if (!before.has(conversationCallId(run, id))) for (const path of pathsToUndo(state)) files.add(path);
  return files.size;
}
