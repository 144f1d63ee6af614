import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  addWorktree,
  invalidBranchReason,
  removeActivationMarker,
  worktreeBranchName,
  worktreeFolder,
  writeActivationMarker,
} from '../../../src/extension/worktrees/worktree.ts';
import { eventually } from '../../support/eventually.ts';

describe('a worktree for a run', () => {
  let beside: string;
  let root: string;
  const repository = () => ({ program: 'git', root });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: root, encoding: 'utf8' });
  const add = (branch: string, folder = worktreeFolder(root, branch), signal = new AbortController().signal) =>
    addWorktree(repository(), { branch, folder }, signal).then(() => folder);

  beforeEach(() => {
    beside = realpathSync(mkdtempSync(path.join(tmpdir(), 'worktree-')));
    root = path.join(beside, 'canal');
    mkdirSync(root);
    git('init', '-q', '-b', 'main');
    writeFileSync(path.join(root, 'gate.txt'), 'shut\n');
    git('add', '.');
    git('commit', '-qm', 'Shut the gate');
  });
  afterEach(() => rmSync(beside, { recursive: true, force: true }));

  it('begins at the last commit, beside the repository, on its own branch', async () => {
    writeFileSync(path.join(root, 'gate.txt'), 'open\n');
    const branch = await worktreeBranchName(repository(), 'Open the gate for the boats that come in spring');
    assert.equal(branch, 'towpath/open-the-gate-for-the');
    const folder = await add(branch);
    assert.equal(folder, path.join(beside, 'canal-open-the-gate-for-the'));
    assert.equal(readFileSync(path.join(folder, 'gate.txt'), 'utf8'), 'shut\n');
    assert.match(git('worktree', 'list'), /canal-open-the-gate-for-the .*\[towpath\/open-the-gate-for-the\]/);
    assert.equal(git('branch', '--show-current').trim(), 'main');
    assert.equal(git('status', '--short').trim(), 'M gate.txt');
  });

  it('takes neither a branch nor a folder that is there', async () => {
    const folder = await add(await worktreeBranchName(repository(), 'Open'));
    const second = await worktreeBranchName(repository(), 'Open');
    assert.equal(second, 'towpath/open-2');
    mkdirSync(path.join(beside, 'canal-open-2'));
    assert.equal(worktreeFolder(root, second), path.join(beside, 'canal-open-2-2'));
    await assert.rejects(add('towpath/open', path.join(beside, 'other')), /already exists/);
    await assert.rejects(add('other', folder), /already exists/);
    assert.deepEqual(readdirSync(beside).sort(), ['canal', 'canal-open', 'canal-open-2']);
    assert.doesNotMatch(git('branch'), /other/); // the branch goes with the folder that could not be made
  });

  const named: [task: string, branch: string][] = [
    ['Öffne das Tor!', 'towpath/offne-das-tor'],
    ['水門を開ける', 'towpath/run'],
    ['--force ../../x', 'towpath/force-x'],
    ['fix `rm -rf /`; $(touch x)', 'towpath/fix-rm-rf-touch-x'],
    [`${'a'.repeat(60)} b`, `towpath/${'a'.repeat(40)}`],
  ];
  for (const [task, branch] of named)
    it(`${task} goes on ${branch}`, async () => assert.equal(await worktreeBranchName(repository(), task), branch));

  const refused = ['', '-b', '--detach', 'a..b', 'a b', 'x.lock', '@{-1}', 'main', '/x', 'a\nb'];
  for (const name of refused)
    it(`no branch can be called ${JSON.stringify(name)}`, async () => {
      assert.notEqual(await invalidBranchReason(repository(), name), undefined);
    });

  it('a folder keeps no more of a branch than a name', () => {
    assert.equal(worktreeFolder(root, 'feature/../../x y'), path.join(beside, 'canal-feature-..-..-x-y'));
  });

  it('a repository without a commit says so', async () => {
    rmSync(path.join(root, '.git'), { recursive: true });
    git('init', '-q');
    await assert.rejects(add('towpath/x'), /no commits yet/);
  });

  it('what wakes its window is overlooked by Git, and leaves nothing', async () => {
    await writeActivationMarker(root);
    assert.deepEqual(readdirSync(path.join(root, '.towpath/new-run')), ['.gitignore']);
    assert.equal(git('status', '--short'), '');
    await removeActivationMarker(root);
    assert.deepEqual(readdirSync(root).sort(), ['.git', 'gate.txt']);
  });

  it('what the repository has there stays', async () => {
    const mine = path.join(root, '.towpath/new-run/.gitignore');
    mkdirSync(path.dirname(mine), { recursive: true });
    writeFileSync(mine, 'mine\n');
    await writeActivationMarker(root);
    await removeActivationMarker(root);
    assert.equal(readFileSync(mine, 'utf8'), 'mine\n');
  });

  for (const link of ['.towpath', '.towpath/new-run'])
    it(`nothing is written through a link at ${link} that leads out`, async () => {
      const outside = path.join(beside, 'outside');
      mkdirSync(path.join(outside, 'new-run'), { recursive: true });
      mkdirSync(path.dirname(path.join(root, link)), { recursive: true });
      symlinkSync(outside, path.join(root, link), 'junction');
      await writeActivationMarker(root);
      assert.deepEqual(readdirSync(outside, { recursive: true }), ['new-run']);
      writeFileSync(path.join(outside, '.gitignore'), '*\n');
      writeFileSync(path.join(outside, 'new-run/.gitignore'), '*\n');
      await removeActivationMarker(root);
      assert.equal(readdirSync(outside, { recursive: true }).length, 3);
    });

  it('stopped, nothing is left of it', async () => {
    const hook = path.join(root, '.git', 'hooks', 'post-checkout');
    const begun = path.join(beside, 'begun');
    writeFileSync(hook, `#!/bin/sh\ntouch '${begun}'\nsleep 60\n`, { mode: 0o755 });
    const stop = new AbortController();
    const adding = add('towpath/x', undefined, stop.signal);
    await eventually('the hook runs', async () => existsSync(begun));
    stop.abort();
    await assert.rejects(adding);
    assert.doesNotMatch(git('worktree', 'list'), /towpath/);
    assert.doesNotMatch(git('branch'), /towpath/);
    assert.deepEqual(readdirSync(beside).sort(), ['begun', 'canal']);
  });
});
