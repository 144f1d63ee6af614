import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { foldCase } from '../core/caseFold.ts';
import { isLookalikePathSegment, protectedPathReason } from '../policy/protectedPaths.ts';
import { findProtectedPathRow } from '../policy/protectedTable.ts';

/** Kind of a change in an overlay: an entry of this kind is there now, or it is removed. */
export type ChangeKind = 'file' | 'link' | 'folder' | 'removed' | 'special';

/**
 * Returns the reason to ask before a change by a sandboxed command is kept; undefined for ordinary files, and for what Git itself writes in
 * the folder of an existing repository.
 * @param segments path below an open folder, or below a Git folder outside of it
 * @param within `git`: the path is below a Git folder
 */
export function protectedChangeReason(
  segments: readonly string[],
  within: 'workspace' | 'git',
  kind: ChangeKind,
): LocalizedMessage | undefined {
  const inside = segmentsInGit(segments, within);
  if (inside) return isGitData(inside, kind) ? undefined : repositoryReason;
  if (segments.some((segment) => isGitName(segment) || isLookalikePathSegment(segment))) return repositoryReason;
  const build = findProtectedPathRow([foldCase(segments.at(-1) ?? '')], ['run']); // editors run some of them
  return protectedPathReason(segments) ?? build?.reason;
}

/** Returns the path below the Git folder; undefined if it is in none. */
export function segmentsInGit(segments: readonly string[], within: 'workspace' | 'git'): readonly string[] | undefined {
  if (within === 'git') return segments;
  const git = segments.indexOf('.git');
  return git < 0 ? undefined : segments.slice(git + 1);
}

export const repositoryReason = message('It belongs to a version control system that can run programs in it.');

const isGitName = (name: string): boolean => /^(?:\.git|git~1)$/.test(foldCase(name));

// What Git commands write, and does not run. Not here: `config`, `hooks`, `info`, `commondir`, `gitdir`, shared indexes, `rr-cache`.
const dataNames = new Set(
  (
    'objects refs logs index HEAD ORIG_HEAD FETCH_HEAD MERGE_HEAD MERGE_MSG MERGE_MODE MERGE_RR MERGE_AUTOSTASH AUTO_MERGE ' +
    'CHERRY_PICK_HEAD REVERT_HEAD REBASE_HEAD COMMIT_EDITMSG SQUASH_MSG TAG_EDITMSG NOTES_EDITMSG NOTES_MERGE_REF ' +
    'NOTES_MERGE_PARTIAL NOTES_MERGE_WORKTREE packed-refs rebase-merge rebase-apply sequencer shallow reftable gc.log gc.pid ' +
    'BISECT_LOG BISECT_NAMES BISECT_START BISECT_TERMS BISECT_EXPECTED_REV BISECT_ANCESTORS_OK BISECT_FIRST_PARENT'
  ).split(' '),
);
const lockName = /^(?:index|HEAD|packed-refs|shallow|next-index-\d+)\.lock$/;
// The history itself: Git removes files below these names, and never all of them.
const lastingNames = new Set('objects refs HEAD logs'.split(' '));

function isGitData(segments: readonly string[], kind: ChangeKind): boolean {
  const [first, ...rest] = segments;
  if (first === undefined) return kind === 'folder'; // the folder itself, which exists
  if (kind === 'link' || kind === 'special') return false; // Git would write through a link
  if (rest.length === 0 && kind !== 'folder' && kind !== 'file' && lastingNames.has(first)) return false;
  if (rest.at(-1) === 'git-rebase-todo' || rest.at(-1) === 'git-rebase-todo.backup') return kind === 'removed';
  if (dataNames.has(first) || lockName.test(first)) return true;
  if (first === 'info') return rest.length === 1 && /^refs(?:_\w+)?$/.test(rest[0]!); // a list of branches
  // Folders of linked worktrees and submodules have the same form.
  if (first === 'worktrees')
    return kind === 'folder' ? rest.length > 0 : rest.length > 1 && isGitData(rest.slice(1), kind);
  // The name of a submodule can contain `/` and the names of data.
  if (first === 'modules')
    return !rest.slice(1).some(isSettingsName) && rest.some((_, at) => at > 0 && isGitData(rest.slice(at), kind));
  return false;
}

const isSettingsName = (name: string): boolean =>
  /^(?:config(?:\..*)?|hooks|info|attributes|commondir|gitdir|worktrees|rr-cache)$/.test(foldCase(name));
