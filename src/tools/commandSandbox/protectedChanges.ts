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
 * @param isWithoutContent it is an empty file, and was one or missing before, or a folder
 */
export function protectedChangeReason(
  segments: readonly string[],
  within: 'workspace' | 'git',
  kind: ChangeKind,
  isWithoutContent = kind === 'folder',
): LocalizedMessage | undefined {
  const inside = segmentsInGit(segments, within);
  if (inside) return isGitData(inside, kind) ? undefined : repositoryReason;
  if (segments.some((segment) => isGitName(segment) || isLookalikePathSegment(segment))) return repositoryReason;
  const name = foldCase(segments.at(-1) ?? '');
  // Builds read files by these names, and editors run some of them. A folder, an empty lock and a cache (`.eslintcache`) are none of them.
  const build = isWithoutContent || name.endsWith('cache') ? undefined : findProtectedPathRow([name], ['run']);
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

// What Git commands write and never run. Not here: settings, hooks, attributes, shared indexes, `rr-cache`, and the plans of a rebase, a
// cherry-pick or a bisection, which can name programs.
const dataNames = new Set(
  (
    'refs logs index HEAD ORIG_HEAD FETCH_HEAD MERGE_HEAD MERGE_MSG MERGE_MODE MERGE_RR MERGE_AUTOSTASH AUTO_MERGE ' +
    'CHERRY_PICK_HEAD REVERT_HEAD REBASE_HEAD COMMIT_EDITMSG SQUASH_MSG TAG_EDITMSG NOTES_EDITMSG NOTES_MERGE_REF ' +
    'NOTES_MERGE_PARTIAL NOTES_MERGE_WORKTREE packed-refs shallow reftable gc.log gc.pid ' +
    'BISECT_LOG BISECT_NAMES BISECT_START BISECT_TERMS BISECT_EXPECTED_REV BISECT_ANCESTORS_OK BISECT_FIRST_PARENT'
  ).split(' '),
);
const planNames = new Set('rebase-merge rebase-apply sequencer'.split(' '));
// Folders and files without which there is no repository.
const lastingNames = new Set('refs HEAD logs'.split(' '));

function isGitData(segments: readonly string[], kind: ChangeKind): boolean {
  const [first, ...rest] = segments;
  if (first === undefined) return kind === 'folder'; // the folder itself, which exists
  if (kind === 'link' || kind === 'special') return false; // Git would write through a link
  if (first === 'objects') return kind !== 'removed' && isObjectPath(rest, kind);
  if (planNames.has(first)) return kind === 'removed';
  if (kind === 'removed' && rest.length === 0 && lastingNames.has(first)) return false;
  if (dataNames.has(first)) return true;
  if (first === 'info') return rest.length === 1 && /^refs(?:_\w+)?$/.test(rest[0]!); // a list of branches
  // Folders of linked worktrees and submodules have the same form.
  if (first === 'worktrees')
    return kind === 'folder' ? rest.length > 0 : rest.length > 1 && isGitData(rest.slice(1), kind);
  // The name of a submodule can contain `/` and the names of data.
  if (first === 'modules')
    return !rest.slice(1).some(isSettingsName) && rest.some((_, at) => at > 0 && isGitData(rest.slice(at), kind));
  return false;
}

// Objects and packs, and what Git derives from them. Other objects than those of the repository (`info/alternates`) are not data.
function isObjectPath(segments: readonly string[], kind: ChangeKind): boolean {
  const path = segments.join('/');
  if (kind === 'folder') return /^(?:|[0-9a-f]{2}|pack|info|info\/commit-graphs)$/.test(path);
  return /^(?:[0-9a-f]{2}\/(?:[0-9a-f]{38}|[0-9a-f]{62}|tmp_obj_\w+)|pack\/[\w.-]+|info\/(?:packs|commit-graphs?(?:\/[\w.-]+)?))$/.test(
    path,
  );
}

/** Tests for a file of a repository that Git never changes after it was written. */
export const isLastingObject = (segments: readonly string[]): boolean =>
  segments.some(
    (segment, at) =>
      segment === 'objects' &&
      /^(?:[0-9a-f]{2}\/[0-9a-f]+|pack\/pack-[0-9a-f]+\.(?:pack|idx))$/.test(segments.slice(at + 1).join('/')),
  );

const isSettingsName = (name: string): boolean =>
  /^(?:config(?:\..*)?|hooks|info|attributes|commondir|gitdir|worktrees|rr-cache|rebase-merge|rebase-apply|sequencer)$/.test(
    foldCase(name),
  );
