import type { RepositoryChange } from '../../protocol/content/repositoryChange.ts';
import type { StoredFileChange } from '../../protocol/run/events.ts';
import type { RecordedChanges } from './fileRecording.ts';
import type { PathChange, PathState } from './otherChanges.ts';

/** Returns the changes since an earlier record, which ended after the recording of these had begun: both may contain the same change. */
export function filesSince(changes: readonly PathChange[], earlier: RecordedChanges['changes'] = []): PathChange[] {
  const known = new Map(earlier.map((one) => [one.path, one]));
  return changes.flatMap((change) => {
    const one = known.get(change.path);
    if (!one) return [change];
    const before = stateAfter(one);
    const isSame = before?.id === change.after?.id && before?.mode === change.after?.mode;
    return isSame ? [] : [{ ...change, before }];
  });
}

/** As `filesSince`, for a repository; undefined: it has not changed since. */
export function repositorySince(change: RepositoryChange, earlier: RecordedChanges): RepositoryChange | undefined {
  const known = earlier.repositories?.find(({ path }) => path === change.path);
  if (!known) return change;
  const refs = change.refs
    .map((one) => ({
      ...one,
      before: (known.refs.find(({ name }) => name === one.name) ?? { after: one.before }).after,
    }))
    .filter(({ before, after }) => before !== after);
  const files = change.files.flatMap((one) => {
    const former = known.files.find(({ name }) => name === one.name);
    if (!former) return [one];
    const { afterMode: mode } = former;
    if (former.after === one.after && mode === one.afterMode) return [];
    const listing = one.listing && former.listing && { before: former.listing.after, after: one.listing.after };
    if (listing && listing.before === listing.after) return [];
    return [{ ...one, before: former.after, ...(mode !== undefined && { mode }), ...(listing && { listing }) }];
  });
  const head = { before: known.head.after, after: change.head.after };
  const isSame = head.before === head.after && refs.length + files.length === 0;
  return isSame ? undefined : { ...change, head, refs, files };
}

function stateAfter({ after, afterKind, afterMode }: StoredFileChange): PathState | null {
  if (after === null) return null;
  return {
    kind: afterKind ?? 'file',
    id: after,
    ...(!afterKind && { isText: true }),
    ...(afterMode !== undefined && { mode: afterMode }),
  };
}
