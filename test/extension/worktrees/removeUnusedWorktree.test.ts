import assert from 'node:assert/strict';
import { existsSync, rmSync, utimesSync } from 'node:fs';
import path from 'node:path';
import {
  isUnusedWorktree,
  maxUnusedDays,
  removeUnusedWorktree,
} from '../../../src/extension/worktrees/removeUnusedWorktree.ts';
import { readWorktreeFacts } from '../../../src/extension/worktrees/worktreeFacts.ts';
import type { WorktreeFacts } from '../../../src/extension/worktrees/worktreeLosses.ts';
import { gitIn, newWorktree, put } from '../../support/worktrees.ts';

const day = 24 * 60 * 60 * 1000;
const now = Date.now();
const long = now - (maxUnusedDays + 1) * day;
const recent = now - (maxUnusedDays - 1) * day;

const facts: WorktreeFacts = {
  ...{ isLinked: true, isLocked: false, branch: 'refs/heads/towpath/open', unfinished: [], changed: [], untracked: [] },
  ...{ uncompared: [], ignored: [], submodules: [], stashes: 0, unmerged: 0, unreferenced: 0, usedAt: long },
};

describe('a worktree that nobody uses', () => {
  const cases: [state: string, changes: Partial<WorktreeFacts>, usedAt: number, isUnused: boolean][] = [
    ['goes after its time', {}, long, true],
    ['goes if its run is unknown', {}, 0, true],
    ['stays while its files change', { usedAt: recent }, long, false],
    ['stays while its run goes on', {}, recent, false],
    ['stays with an ignored file', { ignored: ['.env'] }, long, false],
    ['stays with a commit that is nowhere else', { unmerged: 1 }, long, false],
  ];
  for (const [state, changes, usedAt, isUnused] of cases)
    it(state, () => assert.equal(isUnusedWorktree({ ...facts, ...changes }, usedAt, now), isUnused));

  it('is removed by its age on the disk, which the look for it leaves as it is', async () => {
    const { beside, root, folder } = newWorktree();
    const sweep = () => removeUnusedWorktree({ program: 'git', root }, folder, 0, now);
    const age = (time: number) => {
      const gitFolder = gitIn(folder, 'rev-parse', '--absolute-git-dir');
      for (const file of ['HEAD', 'index', 'logs/HEAD'])
        utimesSync(path.join(gitFolder, file), time / 1000, time / 1000);
      utimesSync(folder, time / 1000, time / 1000);
    };
    try {
      assert.equal(await sweep(), false);
      age(long);
      put(folder, 'new.txt', 'x');
      age(long);
      assert.equal(await sweep(), false);
      assert.ok(existsSync(path.join(folder, 'new.txt')));
      rmSync(path.join(folder, 'new.txt'));
      age(long);
      assert.equal(Math.round((await readWorktreeFacts(root, folder))!.usedAt), long);
      assert.equal(await sweep(), true);
      assert.equal(existsSync(folder), false);
      assert.notEqual(gitIn(root, 'rev-parse', 'towpath/open'), '');
    } finally {
      rmSync(beside, { recursive: true, force: true });
    }
  });
});
