import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { removeWorktree } from '../../../src/extension/worktrees/removeWorktree.ts';
import { writeActivationMarker } from '../../../src/extension/worktrees/worktree.ts';
import { readWorktreeFacts } from '../../../src/extension/worktrees/worktreeFacts.ts';
import { worktreeLosses } from '../../../src/extension/worktrees/worktreeLosses.ts';
import { commit, gitIn, newWorktree, put } from '../../support/worktrees.ts';

// Holds worktrees-lose-nothing.
describe('the removal of a worktree', function () {
  this.timeout(60_000);
  let beside: string;
  let root: string;
  let folder: string;

  beforeEach(() => {
    ({ beside, root, folder } = newWorktree());
  });
  afterEach(() => rmSync(beside, { recursive: true, force: true }));

  const remove = (accepted = {}) => removeWorktree({ program: 'git', root }, folder, accepted);
  const kinds = async () => worktreeLosses(await readWorktreeFacts(root, folder)).map(({ kind }) => kind);
  const git = (...args: string[]) => gitIn(folder, ...args);
  const fails = (...args: string[]) => assert.throws(() => git(...args));
  const allFiles = () => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const conflict = () => {
    commit(root, 'gate.txt', 'half\n');
    commit(folder, 'gate.txt', 'open\n');
  };

  /** States in which something would be lost, and the reasons to keep the worktree. */
  const kept: [state: string, arrange: () => void, kinds: string[]][] = [
    ['a changed file', () => put(folder, 'gate.txt', 'open\n'), ['changed']],
    ['a deleted file', () => rmSync(path.join(folder, 'gate.txt')), ['changed']],
    ['a renamed file', () => git('mv', 'gate.txt', 'lock gate.txt'), ['changed']],
    [
      'a staged file',
      () => {
        put(folder, 'new.txt', 'x');
        git('add', '.');
      },
      ['changed'],
    ],
    [
      'a file to be added later',
      () => {
        put(folder, 'new.txt', 'x');
        git('add', '-N', '.');
      },
      ['changed'],
    ],
    ['an untracked file', () => put(folder, 'deep/new file.txt', 'x'), ['untracked']],
    [
      'an untracked file that the status of Git leaves out',
      () => {
        git('config', 'status.showUntrackedFiles', 'no');
        put(folder, 'new.txt', 'x');
      },
      ['untracked'],
    ],
    [
      'a repository inside',
      () => {
        put(folder, 'inner/a', 'x');
        gitIn(path.join(folder, 'inner'), 'init', '-q');
      },
      ['untracked'],
    ],
    [
      'a change that Git is told to overlook',
      () => {
        git('update-index', '--assume-unchanged', 'gate.txt');
        put(folder, 'gate.txt', 'open\n');
      },
      ['uncompared'],
    ],
    [
      'a change of a file that Git skips',
      () => {
        git('update-index', '--skip-worktree', 'gate.txt');
        put(folder, 'gate.txt', 'open\n');
      },
      ['uncompared'],
    ],
    ['an ignored file', () => put(folder, '.env', 'KEY=1\n'), ['ignored']],
    [
      'a changed copy',
      () => {
        put(root, '.env', 'KEY=1\n');
        put(folder, '.env', 'KEY=2\n');
      },
      ['ignored'],
    ],
    ['an ignored folder', () => put(folder, 'local/notes.md', 'x'), ['ignored']],
    ['a commit', () => commit(folder, 'gate.txt', 'open\n'), ['unmerged']],
    [
      'a commit after the last push',
      () => {
        gitIn(beside, 'init', '-q', '--bare', 'remote');
        git('remote', 'add', 'origin', path.join(beside, 'remote'));
        commit(folder, 'gate.txt', 'half\n');
        git('push', '-q', '-u', 'origin', 'towpath/open');
        commit(folder, 'gate.txt', 'open\n');
      },
      ['unmerged'],
    ],
    [
      'a stash',
      () => {
        put(folder, 'gate.txt', 'open\n');
        git('stash');
      },
      ['stashed'],
    ],
    [
      'a stash with a text',
      () => {
        put(folder, 'gate.txt', 'open\n');
        git('stash', 'push', '-m', 'mine');
      },
      ['stashed'],
    ],
    ['a detached HEAD', () => git('checkout', '-q', '--detach'), ['detached']],
    [
      'a commit on a detached HEAD',
      () => {
        git('checkout', '-q', '--detach');
        commit(folder, 'gate.txt', 'open\n');
      },
      ['detached', 'unreferenced'],
    ],
    [
      'a commit that was left on a detached HEAD',
      () => {
        git('checkout', '-q', '--detach');
        commit(folder, 'gate.txt', 'open\n');
        git('checkout', '-q', 'towpath/open');
      },
      ['unreferenced'],
    ],
    [
      'a rebase',
      () => {
        conflict();
        fails('rebase', 'main');
      },
      ['detached', 'unfinished', 'changed'],
    ],
    [
      'a rebase that waits with nothing changed',
      () => {
        commit(folder, 'gate.txt', 'open\n');
        git('-c', 'sequence.editor=echo break >', 'rebase', '-q', '-i', 'HEAD~1');
      },
      ['detached', 'unfinished'],
    ],
    [
      'a merge',
      () => {
        conflict();
        fails('merge', 'main');
      },
      ['unfinished', 'changed', 'unmerged'],
    ],
    [
      'a cherry-pick',
      () => {
        conflict();
        fails('cherry-pick', 'main');
      },
      ['unfinished', 'changed', 'unmerged'],
    ],
    [
      'a revert',
      () => {
        commit(folder, 'gate.txt', 'open\n');
        git('revert', '--no-commit', 'HEAD');
      },
      ['unfinished', 'changed', 'unmerged'],
    ],
    ['a bisection', () => git('bisect', 'start'), ['unfinished']],
    ['a reference of its own', () => git('update-ref', 'refs/worktree/mine', 'HEAD'), ['unfinished']],
    [
      'a process of Git at work',
      () => writeFileSync(path.join(git('rev-parse', '--git-dir'), 'index.lock'), ''),
      ['unfinished'],
    ],
    ['a lock', () => git('worktree', 'lock', folder), ['locked']],
    ['a lock with a reason', () => git('worktree', 'lock', '--reason', 'on a disk', folder), ['locked']],
    [
      'a submodule',
      () => {
        git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', root, 'sub');
        git('commit', '-qm', 'Add');
        gitIn(root, 'merge', '-q', 'towpath/open');
      },
      ['submodules'],
    ],
    ['no link to its repository', () => rmSync(path.join(folder, '.git')), ['unreadable']],
    ['a damaged index', () => writeFileSync(path.join(git('rev-parse', '--git-dir'), 'index'), 'x'), ['unreadable']],
    ['a repository that is gone', () => rmSync(path.join(root, '.git'), { recursive: true }), ['unreadable']],
  ];
  for (const [state, arrange, expected] of kept)
    it(`does not happen with ${state}`, async () => {
      arrange();
      const files = allFiles();
      assert.deepEqual(await kinds(), expected);
      await assert.rejects(remove(), { name: 'WorktreeKeptError' });
      assert.deepEqual(allFiles(), files);
    });

  const removed: [state: string, arrange: () => unknown][] = [
    ['nothing changed', () => {}],
    [
      'a merged commit',
      () => {
        commit(folder, 'gate.txt', 'open\n');
        gitIn(root, 'merge', '-q', 'towpath/open');
      },
    ],
    [
      'a pushed commit',
      () => {
        gitIn(beside, 'init', '-q', '--bare', 'remote');
        git('remote', 'add', 'origin', path.join(beside, 'remote'));
        commit(folder, 'gate.txt', 'open\n');
        git('push', '-q', 'origin', 'towpath/open:reviewed');
      },
    ],
    ['installed packages', () => put(folder, 'node_modules/boat/index.js', 'x')],
    [
      'an unchanged copy',
      () => {
        put(root, '.env', 'KEY=1\n');
        put(folder, '.env', 'KEY=1\n');
      },
    ],
    [
      'the stash of another branch',
      () => {
        put(root, 'gate.txt', 'half\n');
        gitIn(root, 'stash');
      },
    ],
    [
      'a lock on another worktree',
      () => {
        gitIn(root, 'worktree', 'add', '-q', '-b', 'other', path.join(beside, 'other'));
        gitIn(root, 'worktree', 'lock', path.join(beside, 'other'));
      },
    ],
    ['the file that wakes its window', () => writeActivationMarker(folder)],
    [
      'an amended commit',
      () => {
        commit(folder, 'gate.txt', 'half\n');
        git('commit', '-q', '--amend', '-m', 'Again');
        gitIn(root, 'merge', '-q', 'towpath/open');
      },
    ],
  ];
  for (const [state, arrange] of removed)
    it(`leaves the branch with ${state}`, async () => {
      await arrange();
      const tip = git('rev-parse', 'HEAD');
      assert.deepEqual(await kinds(), []);
      await remove();
      assert.equal(existsSync(folder), false);
      assert.equal(gitIn(root, 'rev-parse', 'towpath/open'), tip);
    });

  it('is never that of the repository itself, or of another folder', async () => {
    for (const other of [root, path.join(folder, 'deep')]) {
      put(other, 'node_modules/a', 'x');
      const losses = worktreeLosses(await readWorktreeFacts(root, other));
      assert.ok(
        losses.some(({ kind }) => kind === 'not-linked' || kind === 'unreadable'),
        other,
      );
    }
  });

  it('keeps commits on the branch if the user accepts that, and no more', async () => {
    const tip = commit(folder, 'gate.txt', 'open\n');
    put(folder, 'new.txt', 'x');
    await assert.rejects(remove({ unmerged: true }), /1 untracked file/);
    rmSync(path.join(folder, 'new.txt'));
    await remove({ unmerged: true });
    assert.equal(gitIn(root, 'rev-parse', 'towpath/open'), tip);
  });

  it('takes only the ignored files that the user has seen', async () => {
    put(folder, 'a.log', 'x');
    put(folder, 'b.log', 'x');
    await assert.rejects(remove({ ignored: ['a.log'] }), /1 file that Git ignores/);
    assert.deepEqual(allFiles(), ['.git', '.gitignore', 'a.log', 'b.log', 'gate.txt']);
    await remove({ ignored: ['a.log', 'b.log'] });
    assert.equal(existsSync(folder), false);
  });

  it('compares no link with a file', async () => {
    put(root, '.env', 'KEY=1\n');
    symlinkSync(path.join(root, '.env'), path.join(folder, '.env'));
    assert.deepEqual(await kinds(), ['ignored']);
  });

  it('writes nothing to learn the state, so that the age stays', async () => {
    const before = await readWorktreeFacts(root, folder);
    chmodSync(path.join(folder, 'gate.txt'), 0o644);
    assert.deepEqual(await readWorktreeFacts(root, folder), before);
  });
});
