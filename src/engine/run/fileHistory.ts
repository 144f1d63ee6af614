import type { StoredFileChange } from '../../protocol/run/events.ts';
import { type CallState, callsInStartOrder, type Run } from '../../protocol/run/run.ts';
import { pathAfterMove, reverseMove } from '../../runs/undoSteps.ts';

/** Change of the text of a file by a call. Contents are ids; null: no file. */
interface TextChange {
  before: string | null;
  after: string | null;
  isApproved: boolean;
}

/** History of a text file in a run, oldest change first; `before` is the content before the run. Undos are not approved changes. */
interface FileHistory {
  before: string | null;
  changes: TextChange[];
}

/**
 * Returns the history of a text that a run has changed, also under earlier paths of the run; undefined if a part of it is not text. Undone
 * changes are part of the history.
 */
export function fileHistory(run: Run, path: string): FileHistory | undefined {
  const changes: TextChange[] = [];
  let name = path;
  for (const { call, change, moved } of effectsOf(run).reverse()) {
    if (moved && !call.undone?.includes(moved.to)) name = pathAfterMove(name, reverseMove(moved));
    if (change?.path !== name) continue;
    const { before, after, kind, afterKind } = change;
    if (kind || afterKind) return undefined;
    const source = before === null && after !== null ? sourceOf(call, name, after) : undefined;
    if (source === undefined) changes.push({ before, after, isApproved: isIndividuallyApproved(call) });
    else name = source;
  }
  const first = changes.at(-1);
  const before = run.files?.[name]?.before ?? first?.before;
  if (before === undefined) return undefined;
  return { before, changes: [...changes.reverse(), ...undosOf(run, path)] };
}

/** Returns the undos since the newest change of a call. */
const undosOf = ({ undos = [] }: Run, path: string): TextChange[] =>
  undos
    .flatMap(({ changes }) => changes)
    .filter((one) => one.path === path && one.kind === undefined && one.afterKind === undefined)
    .map(({ before, after }) => ({ before, after, isApproved: false }));

function effectsOf(run: Run) {
  const effects = callsInStartOrder(run).flatMap(([, call]) => {
    const { changes = [], moved, startSeq = Number.MAX_SAFE_INTEGER } = call;
    return [
      ...changes.map((change) => ({ call, change, moved: undefined, seq: change.seq ?? startSeq })),
      ...(moved ? [{ call, change: undefined, moved, seq: startSeq }] : []),
    ];
  });
  return effects.sort((one, other) => one.seq - other.seq);
}

/** Returns the earlier path of a file that the call has renamed: the same text, deleted by the same call. */
const sourceOf = ({ changes = [] }: CallState, path: string, content: string): string | undefined =>
  changes.find(
    (one: StoredFileChange) =>
      one.path !== path && one.before === content && one.after === null && one.kind === undefined,
  )?.path;

/** Tests if the user has allowed exactly this change. What a command or a tool of a server writes, no approval shows. */
const isIndividuallyApproved = ({ decision, automatic, basis, command, snapshot }: CallState): boolean =>
  decision !== undefined &&
  automatic === undefined &&
  basis === undefined &&
  command === undefined &&
  snapshot === undefined;
