import { type LocalizedMessage, localizedCount, message } from '../../protocol/text/l10n.ts';

/** State of a worktree as Git and its folder report it. Lists hold paths relative to the worktree, in full. */
export interface WorktreeFacts {
  /** True if Git lists the folder exactly once as a linked worktree of the repository, and answers for it from inside. */
  isLinked: boolean;
  isLocked: boolean;
  /** Branch in full (`refs/heads/…`); undefined for a detached HEAD. */
  branch?: string;
  /** Files and references in Git's folder of the worktree that belong to unfinished work, such as `rebase-merge`. */
  unfinished: readonly string[];
  /** Staged, unstaged and conflicted files. */
  changed: readonly string[];
  untracked: readonly string[];
  /** Tracked files that Git does not compare (`assume-unchanged`, `skip-worktree`). */
  uncompared: readonly string[];
  /** Ignored files, without folders that a build or an installation creates again, and without copies of files of the repository. */
  ignored: readonly string[];
  submodules: readonly string[];
  /** Stash entries that name the branch. */
  stashes: number;
  /** Commits of the branch that are on no remote and on no other branch. */
  unmerged: number;
  /** Commits that only the worktree's own reflog reaches. */
  unreferenced: number;
  /** Last change of the folder or of Git's folder of the worktree, in epoch milliseconds. */
  usedAt: number;
}

export type WorktreeLossKind =
  | 'unreadable'
  | 'not-linked'
  | 'locked'
  | 'detached'
  | 'unfinished'
  | 'changed'
  | 'untracked'
  | 'uncompared'
  | 'submodules'
  | 'stashed'
  | 'unreferenced'
  | 'unmerged'
  | 'ignored';

/** Reason to keep a worktree. `text` is a row without a final period. */
export interface WorktreeLoss {
  kind: WorktreeLossKind;
  text: LocalizedMessage;
}

/**
 * Returns what the removal of a worktree could lose; empty if nothing. `undefined` stands for facts that could not be read.
 *
 * @invariant worktrees-lose-nothing: Towpath removes a worktree only after Git and the folder show that nothing in it would be lost.
 */
export function worktreeLosses(facts: WorktreeFacts | undefined): WorktreeLoss[] {
  if (!facts) return [{ kind: 'unreadable', text: message('Git could not report its state') }];
  const { changed, untracked, uncompared, ignored, unfinished, submodules, stashes, unmerged, unreferenced } = facts;
  const rows: [isLost: boolean, kind: WorktreeLossKind, text: LocalizedMessage][] = [
    [!facts.isLinked, 'not-linked', message('Git does not list it as a worktree of this repository')],
    [facts.isLocked, 'locked', message('it is locked')],
    [facts.branch === undefined, 'detached', message('no branch is checked out')],
    [unfinished.length > 0, 'unfinished', message('a rebase, merge or other operation of Git is unfinished')],
    [changed.length > 0, 'changed', localizedCount(changed.length, 'uncommitted change')],
    [untracked.length > 0, 'untracked', localizedCount(untracked.length, 'untracked file')],
    [
      uncompared.length > 0,
      'uncompared',
      localizedCount(uncompared.length, 'file that Git does not compare', 'files that Git does not compare'),
    ],
    [submodules.length > 0, 'submodules', message('it contains submodules')],
    [stashes > 0, 'stashed', localizedCount(stashes, 'stash of its branch', 'stashes of its branch')],
    [unreferenced > 0, 'unreferenced', localizedCount(unreferenced, 'commit on no branch', 'commits on no branch')],
    [
      unmerged > 0,
      'unmerged',
      localizedCount(unmerged, 'commit neither pushed nor merged', 'commits neither pushed nor merged'),
    ],
    [ignored.length > 0, 'ignored', localizedCount(ignored.length, 'file that Git ignores', 'files that Git ignores')],
  ];
  return rows.filter(([isLost]) => isLost).map(([, kind, text]) => ({ kind, text }));
}
