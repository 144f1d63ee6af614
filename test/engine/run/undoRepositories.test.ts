import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { UndoConfirmationRequest, UndoResult } from '../../../src/engine/run/undo.ts';
import { newestRedoableUndo } from '../../../src/protocol/run/runFiles.ts';
import { undoableCallIds } from '../../../src/runs/undoSteps.ts';
import { call } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

const user = '-c user.name=U -c user.email=u@example.com -c commit.gpgsign=false -c init.defaultBranch=main';

describe('undo of what commands did to a repository', () => {
  let talk: Conversation;
  let beside: string;
  let asked: UndoConfirmationRequest[];
  /** Work of the user while the question is open. */
  let during: () => void;
  /** Shell script that completes the project. */
  let project: string;
  beforeEach(() => {
    project = '';
    beside = mkdtempSync(path.join(tmpdir(), 'towpath-repository-'));
    asked = [];
    during = () => {};
  });
  afterEach(async () => {
    await talk.end();
    rmSync(beside, { recursive: true, force: true });
  });

  const root = () => talk.workspace.roots[0]!.path;
  const sh = (script: string, folder = root()) =>
    execFileSync('sh', ['-ec', script.replaceAll('git ', `git ${user} `)], { cwd: folder, encoding: 'utf8' });

  const turnOf = (commands: readonly string[]) => [
    ...commands.map((command) => ({
      calls: [call('shell.run', { command: command.replaceAll('git ', `git ${user} `) })],
    })),
    { text: 'Done.' },
  ];
  /** Project with two commits, two branches, a stash, a remote and unfinished work; then one turn with these commands. */
  const begin = (...commands: string[]) => beginTurns(commands);
  const beginTurns = async (...turns: string[][]) => {
    talk = new Conversation(await temporaryWorkspace({ 'a.txt': '1\n', 'b.txt': '1\n' }), turns.flatMap(turnOf));
    talk.maxTurns = 100;
    sh(`git init -q --bare ${beside}/remote.git
      git init -q . && git add -A && git commit -qm one && git remote add origin ${beside}/remote.git
      git push -q -u origin main
      git checkout -q -b topic && echo t > t.txt && git add -A && git commit -qm topic
      git checkout -q main && echo 2 > a.txt && git commit -qam two
      echo stashed > b.txt && git stash -q
      echo dirty > a.txt && echo new > new.txt && echo staged > s.txt && git add s.txt`);
    sh(project);
    talk.recordCommands(path.join(beside, 'snapshots'), { budget: 10_000_000 });
    const before = state();
    await talk.start();
    return before;
  };
  const undo = async (): Promise<UndoResult> => {
    const toolCallIds = undoableCallIds(await talk.kept(), 'run');
    const result = await talk.engine.undo(talk.runId, { toolCallIds }, talk.workspace, async (question) => {
      asked.push(question);
      during();
      return 'all';
    });
    assert.ok('undone' in result, JSON.stringify(result));
    return result;
  };
  const redo = async () => {
    const undone = newestRedoableUndo(await talk.kept(), () => true);
    return talk.engine.undo(talk.runId, { undo: undone!.seq }, talk.workspace, async () => 'none');
  };
  /** Everything that Git and a user can see, and every file of the repository that is not an object, the index or a list of refs. */
  const state = () => {
    const files: Record<string, string> = {};
    const look = (folder: string) => {
      for (const entry of readdirSync(path.join(root(), folder), { withFileTypes: true })) {
        const at = path.join(folder, entry.name);
        if (/^\.git\/((modules|worktrees)\/\w+\/)?(objects|refs|packed-refs|index)$/.test(at)) continue;
        if (entry.isDirectory()) look(at);
        else files[at] = readFileSync(path.join(root(), at), 'latin1');
      }
    };
    look('');
    const status = sh('git status --porcelain=v2 --branch --show-stash --ignored');
    const folders = readdirSync(root()).filter((name) => existsSync(path.join(root(), name, '.git')));
    const inside = folders.map((name) =>
      sh('git status --porcelain=v2 --branch; git for-each-ref', path.join(root(), name)),
    );
    return {
      files,
      inside,
      folders: readdirSync(root()),
      status,
      refs: sh('git for-each-ref'),
      index: sh('git ls-files -s -v'),
    };
  };

  /** Undoes and redoes the commands; returns the state before them. */
  const undoneAndRedone = async (commands: readonly string[]) => {
    const before = await begin(...commands);
    const after = state();
    assert.notDeepEqual(after, before);
    assert.deepEqual((await undo()).left, []);
    assert.deepEqual(state(), before);
    assert.deepEqual(((await redo()) as UndoResult).left, []);
    assert.deepEqual(state(), after);
    return before;
  };

  for (const commands of [
    ['git commit -qm staged'],
    ['git commit -qam all', 'git commit -q --amend -m again'],
    ['git add -A'],
    ['git reset -q --hard'],
    ['git reset -q --hard HEAD~1'],
    ['git checkout -q .'],
    ['git stash -q -u'],
    ['git stash -q', 'git checkout -q topic', 'git commit -q --allow-empty -m more'],
    ['git stash drop -q'],
    ['git stash clear'],
    ['git reset -q --hard && git stash pop -q'],
    ['git branch -D topic'],
    ['git branch -m topic topic/deep'],
    ['git tag v1 && git tag -a v2 -m two'],
    ['git reset -q --hard && git merge -q topic -m merged'],
    ['git reset -q --hard && git rebase -q topic'],
    ['git reset -q --hard && git checkout -q topic && echo c > a.txt && git commit -qam c && (git merge main || true)'],
    [
      'git reset -q --hard && git checkout -q topic && echo c > a.txt && git commit -qam c && (git rebase main || true)',
    ],
    ['git checkout -q --detach'],
    ['git config user.name Other && echo ignored >> .git/info/exclude'],
    ["printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit"],
    ['git rm -q -f b.txt s.txt'],
    ['git update-index --assume-unchanged b.txt'],
    ['git remote remove origin'],
    ['git pack-refs --all && git branch -D topic && git reflog expire --expire=now --all'],
    ['git worktree add -q ../beside-$$ topic'],
    ['git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main'],
    ['git add -N new.txt'],
    ['git bisect start -q HEAD HEAD~1'],
  ])
    it(commands.join(', then '), async () => {
      const before = await undoneAndRedone(commands);
      assert.deepEqual((await undo()).left, []);
      assert.deepEqual(state(), before);
      sh('git fsck --strict');
    });

  describe('with a submodule and a linked working tree', () => {
    beforeEach(() => {
      project = `git init -q ${beside}/lib && cd ${beside}/lib && echo 1 > l.txt && git add -A && git commit -qm lib && cd -
        git -c protocol.file.allow=always submodule --quiet add ${beside}/lib sub && git commit -qm sub
        git worktree add -q tree topic && echo mine > tree/mine.txt && echo mine > sub/mine.txt`;
    });

    for (const commands of [
      ['rm -rf sub tree && git worktree prune'],
      ['rm sub/.git; rm tree/.git'],
      ['git submodule deinit -f sub', 'git rm -q -f sub'],
      ['git worktree remove --force tree', 'git branch -D topic'],
      ['git -C sub checkout -q -b x && git -C tree checkout -q --detach'],
    ])
      it(commands.join(', then '), async () => {
        await undoneAndRedone(commands);
      });

    it('leaves what the user has put in the place of the link', async () => {
      await begin('rm sub/.git');
      sh('git init -q sub');
      assert.deepEqual((await undo()).left, [{ path: 'sub/.git', why: 'HEAD has moved since.' }]);
      assert.ok(existsSync(path.join(root(), 'sub/.git/HEAD')));
    });

    it('links no other folder that has taken its place', async () => {
      await begin('rm -rf sub');
      sh('mkdir other; ln -s other sub');
      const { left } = await undo();
      assert.ok(left.some((one) => one.path === 'sub/.git'));
      assert.ok(!existsSync(path.join(root(), 'other/.git')));
    });

    it('names a submodule whose repository is removed', async () => {
      await begin('rm -rf sub .git/modules/sub');
      const [state] = Object.values((await talk.kept()).calls);
      assert.ok(state!.lost?.includes('sub/.git'));
    });
  });

  it('says which branch moves where, and that a push stays', async () => {
    await begin('git commit -qm staged && git push -q origin main');
    const [from, to] = ['HEAD', 'HEAD~1'].map((one) => sh(`git rev-parse ${one}`).trim());
    const pushed = sh('git rev-parse origin/main');
    await undo();
    assert.deepEqual(asked[0]!.repositories, [
      { path: '.git', branches: [{ name: 'main', from, to }], pushed: ['origin'] },
    ]);
    assert.equal(sh('git rev-parse main').trim(), to);
    assert.equal(sh('git rev-parse origin/main'), pushed);
  });

  it('says which branch is checked out again', async () => {
    await begin('git checkout -q -b work');
    await undo();
    const branches = [{ name: 'work', from: sh('git rev-parse HEAD').trim(), to: null }];
    assert.deepEqual(asked[0]!.repositories, [{ path: '.git', branches, head: 'main', pushed: [] }]);
  });

  it('is not recorded for a command that only refreshes the index', async () => {
    await begin('touch a.txt; git status; git diff');
    const [state] = Object.values((await talk.kept()).calls);
    assert.equal(state!.repositories, undefined);
  });

  for (const [what, theirs, reason] of [
    ['a commit of the user', 'git commit -q --allow-empty -m mine', 'main has moved since.'],
    ['a branch of the user on the commit', 'git branch mine', 'mine contains its commits.'],
    ['a switch of the branch', 'git stash -q -u; git checkout -q topic', 'HEAD has moved since.'],
    ['a staged file', 'git add new.txt', 'You have staged other changes since.'],
  ] as const)
    it(`leaves the repository after ${what}, and names it`, async () => {
      await begin('git add b.txt; git commit -qam all; git config x.y z; echo 3 > a.txt; git add a.txt');
      sh(theirs);
      const { files, ...mine } = state();
      const { undone, left } = await undo();
      const { files: _, ...now } = state();
      assert.deepEqual(left, [{ path: '.git', why: reason }]);
      assert.ok(!undone.includes('.git'));
      assert.deepEqual([now.refs, now.index], [mine.refs, mine.index]);
    });

  it('deletes no branch that the user has checked out meanwhile', async () => {
    await begin('git branch feature');
    sh('git stash -q -u; git checkout -q feature');
    assert.deepEqual((await undo()).left, [{ path: '.git', why: 'feature is checked out.' }]);
    sh('git rev-parse HEAD');
  });

  it('changes nothing if the user commits while the question is open', async () => {
    await begin('git commit -qm staged && git branch feature');
    during = () => sh('git commit -q --allow-empty -m mine');
    const refs = () => sh('git for-each-ref refs/heads/feature');
    const before = refs();
    assert.deepEqual((await undo()).left, [{ path: '.git', why: 'main has moved since.' }]);
    assert.equal(refs(), before);
  });

  it('leaves the entries of the stash if the user has stashed since', async () => {
    await begin('git stash -q -u', 'git stash drop -q stash@{1}');
    sh('echo mine > mine.txt; git stash -q -u');
    const entries = sh('git stash list');
    const [left] = (await undo()).left;
    assert.equal(left?.path, '.git');
    assert.equal(sh('git stash list'), entries);
  });

  it('restores the permissions of a hook', async () => {
    const before = await begin('chmod -x .git/hooks/pre-push.sample');
    const mode = () => statSync(path.join(root(), '.git/hooks/pre-push.sample')).mode & 0o111;
    assert.equal(mode(), 0);
    assert.deepEqual((await undo()).left, []);
    assert.notEqual(mode(), 0);
    assert.deepEqual(state(), before);
  });

  it('leaves a changed setting alone, and names it', async () => {
    await begin('git config x.y z; git commit -qm staged');
    sh('git config a.b c');
    assert.deepEqual((await undo()).left, [{ path: '.git/config', why: 'It has changed since.' }]);
    assert.deepEqual([sh('git config a.b'), sh('git config x.y')], ['c\n', 'z\n']);
    assert.match(sh('git log -1 --format=%s'), /two/);
  });

  it('goes no further back than a setting of the user between two commands', async () => {
    await beginTurns(['git config x.y 1'], ['git config x.y 3']);
    sh('git config x.y 2');
    await talk.continue('More');
    assert.deepEqual((await undo()).left, []);
    assert.equal(sh('git config x.y'), '2\n');
  });

  it('is not hindered by a fetch', async () => {
    await begin('git fetch -q; git reset -q --hard HEAD~1');
    sh(`git push -q origin topic:main -f; git fetch -q`);
    assert.deepEqual((await undo()).left, [{ path: '.git/FETCH_HEAD', why: 'It has changed since.' }]);
    assert.match(sh('git log -1 --format=%s'), /two/);
  });

  it('restores the branch of a removed working tree', async () => {
    await begin(
      'git worktree add -q ../beside-tree topic',
      'git worktree remove --force ../beside-tree; git branch -D topic',
    );
    assert.deepEqual((await undo()).left, []);
    assert.match(sh('git rev-parse topic'), /^[0-9a-f]{40}/);
  });

  it('leaves a repository that changed between two undone commands', async () => {
    await beginTurns(['git commit -qm staged'], ['git commit -q --allow-empty -m more']);
    sh('git commit -q --allow-empty -m mine');
    await talk.continue('More');
    const refs = sh('git for-each-ref');
    assert.deepEqual((await undo()).left, [{ path: '.git', why: 'Something else changed it between these commands.' }]);
    assert.equal(sh('git for-each-ref'), refs);
  });

  it('finishes an undo that was interrupted in the repository', async () => {
    const before = await begin('git stash -q -u');
    sh('git update-ref refs/stash "$(git rev-parse stash@{1})"'); // Git adds an entry to the log of the stash
    writeFileSync(path.join(root(), '.git/index.lock'), `Towpath: undo in ${talk.runId}\n`);
    writeFileSync(path.join(root(), '.git/.towpath-4194305-01234567-89ab-cdef-0123-456789abcdef.tmp'), '');
    assert.deepEqual((await undo()).left, []);
    assert.deepEqual(state(), before);
  });

  for (const [lock, command] of [
    ['index.lock', 'git add -A'],
    ['refs/heads/main.lock', 'git commit -qm staged'],
  ] as const)
    it(`waits for no other Git, and changes nothing beside it: ${lock}`, async () => {
      await begin(command);
      writeFileSync(path.join(root(), '.git', lock), '');
      const { left } = await undo();
      assert.deepEqual(left, [{ path: '.git', why: `Git is busy: ${lock} exists.` }]);
      assert.ok(existsSync(path.join(root(), '.git', lock)));
      rmSync(path.join(root(), '.git', lock));
      assert.deepEqual((await undo()).left, []);
    });

  it('names a removed repository', async () => {
    await begin('NAME=.git; rm -rf "$NAME"');
    const [state] = Object.values((await talk.kept()).calls);
    assert.deepEqual(state!.lost, ['.git']);
  });
});
