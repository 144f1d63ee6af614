import * as paths from 'node:path';
import { isLeftoverTempFile } from '../../core/tempFiles.ts';
import { secretFileReason } from '../../policy/secretFiles.ts';
import type { GitStatusEntry, IsolatedGitRepository } from './repository.ts';

/**
 * Data discarded or moved by a Git command; paths are absolute. `discarded`: files whose changes are in no commit or stash afterwards.
 * `deleted`: untracked files. `stashed`: files whose changes move to the stash. `stashEntries`: dropped stash entries.
 */
interface GitLoss {
  discarded?: readonly string[];
  deleted?: readonly string[];
  stashed?: readonly string[];
  stashEntries?: number;
  commits?: UnreachableCommits;
}

/** Commits that become unreachable, and the branch or tag that moves or is deleted. `isRemote`: in another repository, by a push. */
export interface UnreachableCommits {
  ref: string;
  count: number;
  isRemote?: true;
  kind: 'moves' | 'deletes' | 'removes';
}

/** Tests if an ignored file (absolute path) cannot be rebuilt; only secret files count. */
export const isIrreplaceable = (top: string, path: string): boolean =>
  !isLeftoverTempFile(paths.basename(path)) &&
  secretFileReason(paths.relative(top, path).split(paths.sep)) !== undefined;

const unstaged = ({ index, file }: GitStatusEntry): boolean => /[MTAU]/.test(file) || (index === 'U' && file !== 'D');
const uncommitted = (entry: GitStatusEntry): boolean => unstaged(entry) || /[MTARCU]/.test(entry.index);
const onlyStaged = ({ index, file }: GitStatusEntry): boolean => /[MTARC]/.test(index) && /[MTD]/.test(file);
const untracked = ({ index }: GitStatusEntry): boolean => index === '?';

const pathsOf = (entries: readonly GitStatusEntry[], test: (entry: GitStatusEntry) => boolean): string[] =>
  entries.filter(test).map(({ path }) => path);

const longOptions =
  'hard merge mixed soft keep force force-with-lease force-create discard-changes staged worktree source include-untracked all abort skip quit delete mirror prune onto interactive pathspec-from-file patch cached dry-run move branches'.split(
    ' ',
  );

function inFull(option: string): string {
  const [, name, value = ''] = /^--([a-z-]+)(=.*)?$/s.exec(option) ?? [];
  if (name === undefined || longOptions.includes(name)) return option;
  const long = longOptions.find((one) => one.startsWith(name));
  return long === undefined ? option : `--${long}${value}`;
}

// Built-in Git commands; Git ignores aliases for them.
const builtIn =
  /^(add|am|branch|checkout|apply|checkout-index|cherry-pick|clean|commit|diff|fetch|filter-branch|gc|init|log|merge|mv|prune|pull|push|read-tree|rebase|reflog|reset|restore|revert|rm|show|stash|status|submodule|switch|tag|update-ref|worktree)$/;

/** Returns the value of an alias: a Git command with options, or a shell command after `!`. Undefined if Git has no such alias. */
export const resolveGitAlias = async (
  repository: IsolatedGitRepository,
  command: string,
): Promise<string | undefined> =>
  builtIn.test(command) || !/^[\w-]+$/.test(command) ? undefined : repository.alias(command);

/**
 * Returns the loss of one Git command; undefined if there is none. Throws if Git fails.
 * @param folder working folder; `args`: arguments after the command
 */
export async function findGitDataLoss(
  repository: IsolatedGitRepository,
  folder: string,
  command: string,
  args: readonly string[],
): Promise<GitLoss | undefined> {
  const end = args.indexOf('--');
  const options = args.filter((word, at) => word.startsWith('-') && word !== '-' && (end < 0 || at < end)).map(inFull);
  const before = (end < 0 ? args : args.slice(0, end)).filter((word) => !word.startsWith('-'));
  const behind = end < 0 ? [] : args.slice(end + 1);
  const has = (pattern: RegExp) => options.some((word) => pattern.test(word));
  const all = async (
    test: (entry: GitStatusEntry) => boolean,
    pathspecs: readonly string[] = [],
  ): Promise<GitLoss> => ({
    discarded: pathsOf(await repository.changes(folder, pathspecs), test),
  });
  switch (command) {
    case 'checkout': {
      if (has(/^-p$|^--patch$/)) return undefined;
      if (has(/^-f$|^--force$/) && behind.length === 0 && !before.includes('.')) return all(uncommitted);
      const moved = await movedBranch(repository, args, /^-B$/);
      if (moved) return moved;
      if (end >= 0 || has(/^--pathspec-from-file/)) {
        const tree = before.length > 0;
        return all(tree ? uncommitted : unstaged, behind);
      }
      if (before.length === 0 || has(/^(-b|--orphan|--detach|-d|-t|--track)/)) return undefined;
      const [first, ...others] = before;
      // The first argument may be a revision; the others, or all, are files.
      const isRevision = first === '-' || (await repository.has(first!));
      if (isRevision && others.length === 0) return undefined;
      return all(isRevision ? uncommitted : unstaged, isRevision ? others : before);
    }
    case 'switch':
      if (has(/^-f$|^--force$|^--discard-changes$/)) return all(uncommitted);
      return movedBranch(repository, args, /^(-C|--force-create)$/);
    case 'restore': {
      if (has(/^-p$|^--patch$/)) return undefined;
      const source = args.findIndex((word) => /^(-s|--source)$/.test(word));
      const pathspecs = [...before.filter((word) => source < 0 || word !== args[source + 1]), ...behind];
      const staged = has(/^(-\w*S|--staged)/);
      const files = !staged || has(/^(-\w*W|--worktree)/);
      return all(files ? (staged ? uncommitted : unstaged) : onlyStaged, pathspecs);
    }
    case 'checkout-index':
      return has(/^-\w*f|^--force$/) ? all(unstaged, has(/^-\w*a|^--all$/) ? [] : [...before, ...behind]) : undefined;
    case 'read-tree':
      return has(/^--reset$/) && has(/^-u$/) ? all(uncommitted) : undefined;
    case 'reset': {
      if (has(/^-p$|^--patch$/)) return undefined;
      const [target] = before;
      const isRevision = target !== undefined && (await repository.has(target));
      const commits = isRevision && behind.length === 0 ? await lostCommits(repository, target) : undefined;
      const hard = has(/^--(hard|merge)$/);
      const files = has(/^--(soft|keep)$/)
        ? {}
        : await all(hard ? uncommitted : onlyStaged, [...(isRevision ? before.slice(1) : before), ...behind]);
      return { ...files, ...(commits && { commits }) };
    }
    case 'clean': {
      if (!has(/^-\w*f|^--force$/) || has(/^-\w*n|^--dry-run$/)) return undefined;
      const exclusions = args.filter((_, at) => /^(-\w*e|--exclude)$/.test(args[at - 1] ?? ''));
      const pathspecs = [...before.filter((word) => !exclusions.includes(word)), ...behind];
      const secrets = has(/^-\w*[xX]/)
        ? (await repository.ignored(folder, pathspecs)).filter((path) => isIrreplaceable(repository.top, path))
        : [];
      const entries = has(/^-\w*X/) ? [] : await repository.changes(folder, pathspecs);
      return { deleted: [...pathsOf(entries, untracked), ...secrets] };
    }
    case 'stash': {
      const [what = 'push'] = before;
      if (what === 'clear' || what === 'drop') {
        const stashEntries = await repository.stashed();
        return { stashEntries: what === 'drop' ? Math.min(stashEntries, 1) : stashEntries };
      }
      if (!/^(push|save)$/.test(what) && before.length > 0) return undefined;
      const takes = has(/^-\w*[ua]|^--include-untracked$|^--all$/)
        ? () => true
        : (one: GitStatusEntry) => !untracked(one);
      return { stashed: pathsOf(await repository.changes(folder, behind), takes) };
    }
    case 'rebase':
      return has(/^--(abort|skip|quit)$/) ? all(uncommitted) : rebased(repository, args, before, has);
    case 'merge':
    case 'cherry-pick':
    case 'revert':
    case 'am':
      return has(/^--(abort|skip)$/) ? all(uncommitted) : undefined;
    case 'branch':
      return has(/^-\w*[DM]/) || (has(/^(-d|-m|--delete|--move)$/) && has(/^(-f|--force)$/))
        ? deletedRefs(repository, before.slice(has(/^-\w*M|^(-m|--move)$/) ? 1 : 0), 'refs/heads/')
        : has(/^-\w*f|^--force$/) && before.length > 0
          ? deletedRefs(repository, before.slice(0, 1), 'refs/heads/', [before[1] ?? 'HEAD'])
          : undefined;
    case 'tag':
      return has(/^(-d|--delete)$/) ? deletedRefs(repository, before, 'refs/tags/') : undefined;
    case 'update-ref':
      return deletedRefs(repository, before.slice(0, 1), '', has(/^-\w*d/) ? [] : before.slice(1, 2));
    case 'worktree':
      if (before[0] !== 'remove' || !has(/^-\w*f|^--force$/) || before[1] === undefined) return undefined;
      return removedTree(repository.workingTree(paths.resolve(folder, before[1])));
    case 'submodule':
      return has(/^-\w*f|^--force$/) && /^(update|deinit)$/.test(before[0] ?? '') ? failUnknown() : undefined;
    case 'push':
      return pushed(repository, before, has);
    case 'fetch':
      return before.some((word) => /^\+[^:]*:(?!refs\/(remotes|tags)\/)./.test(word)) ||
        (has(/^-f$|^--force$/) && before.some((word) => word.includes(':')))
        ? failUnknown()
        : undefined;
    case 'reflog':
      return before[0] === 'expire' || before[0] === 'delete' ? failUnknown() : undefined;
    case 'gc':
    case 'prune':
      return command === 'prune' || has(/^--prune=(now|all)/) ? failUnknown() : undefined;
    case 'filter-branch':
    case 'filter-repo':
      return failUnknown();
    default:
      return undefined;
  }
}

async function removedTree(tree: IsolatedGitRepository): Promise<GitLoss> {
  const entries = await tree.changes(tree.top);
  return { discarded: pathsOf(entries, uncommitted), deleted: pathsOf(entries, untracked) };
}

// Returns the commits dropped by a rebase. Rewritten commits still exist; commits dropped in the editor are unknown.
async function rebased(
  repository: IsolatedGitRepository,
  args: readonly string[],
  before: readonly string[],
  has: (pattern: RegExp) => boolean,
): Promise<GitLoss | undefined> {
  if (has(/^(-i|--interactive)$/)) return failUnknown();
  const at = args.indexOf('--onto');
  const onto = at >= 0 ? args[at + 1] : args.find((word) => word.startsWith('--onto='))?.slice('--onto='.length);
  if (onto === undefined) return undefined;
  const [upstream, named] = before.filter((word) => word !== onto || at < 0);
  const branch = named ?? (await repository.branch());
  if (upstream === undefined || branch === undefined) return failUnknown();
  const count = await repository.commitsOnlyIn(`refs/heads/${branch}`, [onto], upstream);
  return count > 0 ? { commits: { ref: branch, count, kind: 'removes' } } : undefined;
}

// As of the last fetch.
async function pushed(
  repository: IsolatedGitRepository,
  [remote = 'origin', ...given]: readonly string[],
  has: (pattern: RegExp) => boolean,
): Promise<GitLoss | undefined> {
  const isSafe = has(/^--force-with-lease|^--force-if-includes/);
  const forces = has(/^-\w*f|^--force$/);
  const deletes = has(/^-\w*d|^--delete$/);
  if (has(/^-\w*n|^--dry-run$/)) return undefined;
  if (has(/^--(mirror|prune)$/) || (forces && has(/^--(all|branches)$/))) return failUnknown();
  const current = await repository.branch();
  const specs = given.length > 0 ? given : current === undefined ? [] : [current];
  for (const spec of specs) {
    const isForced = forces || isSafe || spec.startsWith('+');
    const [source = '', target = source] = spec.replace(/^\+/, '').split(':');
    const isDeleted = deletes || (source === '' && spec.includes(':'));
    if (!isForced && !isDeleted) continue;
    const name = (isDeleted && source !== '' ? source : target).replace(/^refs\/heads\//, '');
    const branch = name === 'HEAD' ? (current ?? name) : name;
    const ref = `refs/remotes/${remote}/${branch}`;
    if (!(await repository.has(ref))) return isSafe ? undefined : failUnknown();
    const count = await repository.commitsOnlyIn(ref, isDeleted ? [] : [source]);
    if (count > 0)
      return { commits: { ref: `${remote}/${branch}`, count, isRemote: true, kind: isDeleted ? 'deletes' : 'moves' } };
    if (isForced && !isSafe) return failUnknown(); // others may have pushed since
  }
  return undefined;
}

function failUnknown(): never {
  throw new Error('Git cannot say what this discards.');
}

async function movedBranch(
  repository: IsolatedGitRepository,
  args: readonly string[],
  option: RegExp,
): Promise<GitLoss | undefined> {
  const at = args.findIndex((word) => option.test(word));
  const name = at < 0 ? undefined : args[at + 1];
  if (name === undefined) return undefined;
  return deletedRefs(repository, [name], 'refs/heads/', [args[at + 2] ?? 'HEAD']);
}

async function lostCommits(repository: IsolatedGitRepository, target: string): Promise<GitLoss['commits']> {
  const branch = await repository.branch();
  const count = await repository.commitsOnlyIn(branch === undefined ? 'HEAD' : `refs/heads/${branch}`, [target]);
  return count > 0 ? { ref: branch ?? 'HEAD', count, kind: 'moves' } : undefined;
}

/**
 * Returns the commits lost by deleted or moved references.
 * @param leadTo revisions that the names point to afterwards
 */
async function deletedRefs(
  repository: IsolatedGitRepository,
  names: readonly string[],
  below: string,
  leadTo: readonly string[] = [],
): Promise<GitLoss | undefined> {
  const current = await repository.branch();
  for (const name of names) {
    const ref = `${below}${name}`;
    if (!(await repository.has(ref))) continue;
    const head = ref === `refs/heads/${current}` ? [] : ['HEAD'];
    const count = await repository.commitsOnlyIn(ref, [...leadTo, ...head]);
    if (count > 0)
      return {
        commits: {
          ref: name.replace(/^refs\/(heads|tags)\//, ''),
          count,
          kind: leadTo.length > 0 ? 'moves' : 'deletes',
        },
      };
  }
  return undefined;
}
