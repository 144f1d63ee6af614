import type { RefChange, RepositoryChange, RepositoryFileChange } from '../../protocol/content/repositoryChange.ts';
import { callsInStartOrder, type Run } from '../../protocol/run/run.ts';
import { isDecisiveFile, isRemoteRef } from '../../tools/snapshot/repositoryState.ts';

/**
 * Change of a repository that undoes the changes of calls. `pushed`: remote names of pushes, whose refs stay. `isBroken`: something else
 * changed the repository between the calls.
 */
export interface RepositoryUndo {
  change: RepositoryChange;
  toolCallIds: string[];
  pushed: string[];
  isBroken?: true;
}

/** Returns one undo for each repository that the chosen calls have changed, without the calls that are undone already. */
export function planRepositoryUndos(
  run: Run,
  toolCallIds: readonly string[],
  paths?: readonly string[],
): RepositoryUndo[] {
  const chosen = new Set(toolCallIds);
  const undos = new Map<string, RepositoryUndo>();
  const standing = callsInStartOrder(run).flatMap(
    ([id, { repositories = [], undone = [], startSeq = Number.MAX_SAFE_INTEGER }]) =>
      repositories
        .filter(({ path }) => chosen.has(id) && !undone.includes(path) && (!paths || paths.includes(path)))
        .map(({ seq = startSeq, ...change }) => ({ id, seq, change })),
  );
  for (const { id, change } of standing.sort((one, other) => other.seq - one.seq)) {
    const newer = undos.get(change.path);
    const older = undoOf(change, id);
    undos.set(change.path, newer ? joined(newer, older) : older);
  }
  return [...undos.values()];
}

function undoOf(change: RepositoryChange, toolCallId: string): RepositoryUndo {
  const pushed = change.refs.filter(({ isPushed }) => isPushed);
  const logs = new Set(pushed.map(({ name }) => `logs/${name}`));
  return {
    change: reverseRepositoryChange({
      ...change,
      refs: change.refs.filter(({ isPushed }) => !isPushed),
      files: change.files.filter(({ name }) => !logs.has(name)),
    }),
    toolCallIds: [toolCallId],
    pushed: pushed.map(({ name }) => name.split('/')[2] ?? name),
  };
}

/** Reverses a change; `isNew` of a ref then describes the commit of `before`. */
export const reverseRepositoryChange = (change: RepositoryChange): RepositoryChange => ({
  ...change,
  head: { before: change.head.after, after: change.head.before },
  refs: change.refs.map((one) => ({ ...one, before: one.after, after: one.before })),
  files: change.files.map(({ name, before, after, mode, afterMode, listing, isLink }) => ({
    name,
    before: after,
    after: before,
    ...(afterMode !== undefined && { mode: afterMode }),
    ...(mode !== undefined && { afterMode: mode }),
    ...(listing && { listing: { before: listing.after, after: listing.before } }),
    ...(isLink && { isLink }),
  })),
});

function joined(newer: RepositoryUndo, older: RepositoryUndo): RepositoryUndo {
  const [one, other] = [newer.change, older.change];
  let isBroken = newer.isBroken === true || one.head.after !== other.head.before;
  const isNext = (from: RefChange | RepositoryFileChange, to: RefChange | RepositoryFileChange) => {
    const [left, found] = [from, to].map((end) => ('listing' in end ? end.listing : undefined));
    return from.after === to.before || (left !== undefined && left.after === found?.before);
  };
  // What something else changed in between goes back to that at most; for what decides, nothing goes back.
  const chain = <Change extends RefChange | RepositoryFileChange>(
    changes: readonly Change[],
    earlier: readonly Change[],
    isDecisive: (name: string) => boolean,
    join: (one: Change, other: Change) => Change,
  ): Change[] => {
    const all = new Map(changes.map((change) => [change.name, change]));
    for (const change of earlier) {
      const known = all.get(change.name);
      if (!known || isNext(known, change)) all.set(change.name, known ? join(known, change) : change);
      else if (isDecisive(change.name)) isBroken = true;
    }
    return [...all.values()];
  };
  const refs = chain(
    one.refs,
    other.refs,
    (name) => !isRemoteRef(name),
    (late, early) => ({
      ...late,
      after: early.after,
      ...((late.isNew || early.isNew) && { isNew: true as const }),
    }),
  );
  const files = chain(one.files, other.files, isDecisiveFile, (late, early) => {
    const { afterMode: _, ...rest } = late;
    const listing = late.listing && early.listing && { before: late.listing.before, after: early.listing.after };
    return {
      ...rest,
      after: early.after,
      ...(early.afterMode !== undefined && { afterMode: early.afterMode }),
      ...(listing && { listing }),
    };
  });
  return {
    change: {
      path: one.path,
      head: { before: one.head.before, after: other.head.after },
      refs: refs.filter(({ before, after }) => before !== after),
      files: files.filter(({ before, after, mode, afterMode }) => before !== after || mode !== afterMode),
      ...((one.mixed || other.mixed) && { mixed: true as const }),
    },
    toolCallIds: [...older.toolCallIds, ...newer.toolCallIds],
    pushed: [...new Set([...older.pushed, ...newer.pushed])],
    ...(isBroken && { isBroken: true as const }),
  };
}
