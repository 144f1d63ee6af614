import type { Moved } from '../protocol/events.ts';
import { after } from '../runs/undo.ts';
import { resolvePath } from '../tools/gate/paths.ts';
import type { Workspace } from '../tools/workspace.ts';

/**
 * Moves that an undo or redo before this one has made already, which was killed before it was recorded.
 * @param moves in the order in which they are made
 * @param isBehind whether what is at this path now has come there after the move away from it
 */
export async function movesDone<Move extends Moved>(
  workspace: Workspace,
  moves: readonly Move[],
  isBehind: (path: string) => Promise<boolean>,
): Promise<Set<Move>> {
  const isThere = (path: string) =>
    resolvePath(workspace.roots, path, 'delete').then(
      ({ kind }) => kind !== 'missing',
      () => false,
    );
  const done = new Set<Move>();
  for (const [index, move] of moves.entries()) {
    if ((await isThere(move.from)) && !(await isBehind(move.from))) continue;
    let place = move.to;
    for (const later of [undefined, ...moves.slice(index + 1)]) {
      if (later) place = after(place, later);
      if (!(await isThere(place))) continue;
      done.add(move);
      break;
    }
  }
  return done;
}
