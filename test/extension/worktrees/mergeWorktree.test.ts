import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { mergeWorktree } from '../../../src/extension/worktrees/mergeWorktree.ts';
import { commit, gitIn, newWorktree, put } from '../../support/worktrees.ts';

describe('the merge of a worktree', function () {
  this.timeout(60_000);
  let beside: string;
  let root: string;
  let folder: string;

  beforeEach(() => {
    ({ beside, root, folder } = newWorktree());
    gitIn(root, 'config', 'user.name', 't');
    gitIn(root, 'config', 'user.email', 't@t');
  });
  afterEach(() => rmSync(beside, { recursive: true, force: true }));

  const merge = () => mergeWorktree({ program: 'git', root }, folder);
  /** Everything that a merge could change: files, commits, and the state of Git in both folders. */
  const state = () =>
    [root, folder].map((one) => [
      gitIn(one, 'rev-parse', 'HEAD'),
      gitIn(one, 'status', '--porcelain'),
      readFileSync(path.join(one, 'gate.txt'), 'utf8'),
    ]);
  const isAncestor = (commit: string) => gitIn(root, 'merge-base', '--is-ancestor', commit, 'main') === '';

  it('brings its commits to the branch of the repository', async () => {
    const tip = commit(folder, 'gate.txt', 'open\n');
    put(root, 'untracked.txt', 'x');
    const merged = await merge();
    assert.deepEqual(merged, { from: 'refs/heads/towpath/open', into: 'refs/heads/main', commits: 1 });
    assert.ok(isAncestor(tip));
    assert.equal(readFileSync(path.join(root, 'gate.txt'), 'utf8'), 'open\n');
    await assert.rejects(merge(), /merged already/);
  });

  it('joins commits of both', async () => {
    const tip = commit(folder, 'gate.txt', 'open\n');
    const other = commit(root, 'lock.txt', 'full\n');
    await merge();
    assert.ok(isAncestor(tip) && isAncestor(other));
    assert.equal(gitIn(root, 'log', '-1', '--format=%s'), "Merge branch 'towpath/open'");
  });

  it('is a merge even where the repository is set to squash', async () => {
    gitIn(root, 'config', 'branch.main.mergeOptions', '--squash');
    const tip = commit(folder, 'gate.txt', 'open\n');
    commit(root, 'lock.txt', 'full\n');
    await merge();
    assert.ok(isAncestor(tip));
  });

  const refused: [why: string, arrange: () => unknown, message: RegExp][] = [
    ['conflicts', () => commit(root, 'gate.txt', 'half\n'), /conflicts in gate\.txt\. Nothing has changed/],
    ['uncommitted changes of the repository', () => put(root, 'gate.txt', 'half\n'), /has uncommitted changes/],
    ['a detached HEAD of the repository', () => gitIn(root, 'checkout', '-q', '--detach'), /no branch checked out/],
    ['a bisection of the repository', () => gitIn(root, 'bisect', 'start'), /operation of Git is unfinished/],
    ['uncommitted changes of the worktree', () => put(folder, 'gate.txt', 'half\n'), /1 uncommitted change/],
    ['an untracked file of the worktree', () => put(folder, 'new.txt', 'x'), /1 untracked file/],
    ['a detached HEAD of the worktree', () => gitIn(folder, 'checkout', '-q', '--detach'), /no branch is checked out/],
    [
      'a file in its way',
      () => {
        commit(folder, 'new.txt', 'theirs\n');
        put(root, 'new.txt', 'mine\n');
      },
      /Aborting|untracked/,
    ],
    [
      'a hook that refuses it',
      () => {
        commit(root, 'lock.txt', 'full\n');
        writeFileSync(path.join(root, '.git/hooks/pre-merge-commit'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
      },
      /./,
    ],
  ];
  for (const [why, arrange, message] of refused)
    it(`changes nothing with ${why}`, async () => {
      commit(folder, 'gate.txt', 'open\n');
      await arrange();
      const before = state();
      await assert.rejects(merge(), message);
      assert.deepEqual(state(), before);
      assert.equal(existsSync(path.join(root, '.git/MERGE_HEAD')), false);
    });
});
