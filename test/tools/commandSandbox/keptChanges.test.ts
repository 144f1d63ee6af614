import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import * as paths from 'node:path';
import { applyOverlay } from '../../../src/tools/commandSandbox/applyOverlay.ts';
import type { SandboxReport } from '../../../src/tools/commandSandbox/commandSandbox.ts';
import { removeLeftovers } from '../../../src/tools/commandSandbox/linux/leftovers.ts';
import type { OverlayEntry } from '../../../src/tools/commandSandbox/overlayChanges.ts';
import { type TemporarySandbox, temporarySandbox } from '../../support/commandSandbox.ts';
import { eventually } from '../../support/eventually.ts';

// Holds sandboxed-changes-wait.
describe('what a sandboxed command has changed', () => {
  let sandbox: TemporarySandbox;
  let folder: string;

  before(async function () {
    const made = await temporarySandbox();
    if (!made) return this.skip();
    sandbox = made;
  });
  after(() => sandbox?.cleanup());
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(paths.join(tmpdir(), 'towpath-kept-')));
  });
  afterEach(() => {
    execFileSync('chmod', ['-R', 'u+rwx', folder]);
    rmSync(folder, { recursive: true, force: true });
  });

  const outside = (script: string) => execFileSync('bash', ['-ec', script], { cwd: folder, encoding: 'utf8' });
  const git = 'git -c user.name=a -c user.email=a@b.example -c init.defaultBranch=main -c protocol.file.allow=always';

  /** Runs a script inside; protected names are asked about, and denied. `meanwhile` runs outside before its changes are kept. */
  async function inside(
    script: string,
    meanwhile = '',
    { answer = () => false, signal }: { answer?(): boolean | Promise<boolean>; signal?: AbortSignal } = {},
  ): Promise<SandboxReport & { asked: string[]; output: string }> {
    const asked: string[] = [];
    const command = await sandbox.begin({
      runId: 'run',
      folder,
      folders: [folder],
      questions: {
        mayConnect: async () => false,
        async mayKeep(changes) {
          asked.push(...changes.map(({ path }) => path));
          return answer();
        },
      },
    });
    const child = command.spawn(['/bin/bash', '-ec', script], { ...process.env, ...command.environment });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    const code = await new Promise((resolve) => child.once('exit', resolve));
    assert.equal(code, 0, output);
    if (meanwhile) outside(meanwhile);
    return { ...(await command.keep(signal)), asked: asked.sort(), output };
  }

  it('is all there: files, folders, links, permissions, removals, and folders in place of others', async () => {
    outside('mkdir -p d/e gone; echo b > d/b; echo c > d/c; echo f > d/e/f; echo x > gone/x; touch tool; mkdir open');
    const report = await inside(
      'rm -r d gone; mkdir d; echo new > d/b; ln -s d/b link; chmod 755 tool; mkdir -p x/y; echo z > x/y/z; chmod 750 open; ln x/y/z same',
    );
    assert.deepEqual([report.asked, report.failed, report.conflicts], [[], [], []]);
    assert.equal(outside('find . -mindepth 1 -printf "%P %y %m\\n" | sort'), [
      'd d 755', 'd/b f 644', 'link l 777', 'open d 750', 'same f 644', 'tool f 755', 'x d 755', 'x/y d 755', 'x/y/z f 644', '',
    ].join('\n')); // biome-ignore format: a list
    assert.equal(lstatSync(paths.join(folder, 'same')).nlink, 1, 'a second name is a file of its own');
  });

  it('is kept with names in any encoding', async () => {
    const { failed } = await inside("touch $'caf\\xe9' 'ä'; mkdir $'\\xff'; echo 1 > $'\\xff/a'");
    assert.deepEqual(failed, []);
    assert.equal(readdirSync(folder, 'latin1').sort().join(), ['caf\xe9', '\xc3\xa4', '\xff'].sort().join());
  });

  it('is kept in folders without permissions', async () => {
    outside('mkdir e');
    const { failed } = await inside(
      'mkdir -p mod/sub; touch mod/sub/a; chmod -R a-w mod; touch e/new; chmod 555 e; mkdir none; touch none/b; chmod 0 none',
    );
    assert.deepEqual(failed, []);
    const modes = ['mod', 'mod/sub', 'e', 'none'].map((name) => lstatSync(paths.join(folder, name)).mode & 0o777);
    assert.deepEqual(modes, [0o555, 0o555, 0o555, 0]);
    assert.deepEqual(
      [existsSync(paths.join(folder, 'mod/sub/a')), existsSync(paths.join(folder, 'e/new'))],
      [true, true],
    );
  });

  const changed: [name: string, script: string, meanwhile: string, left: Record<string, string>, conflicts: string[]][] = [
    ['a file that it has written', 'echo command > a', 'echo user > a', { a: 'user\n' }, ['a']],
    ['a file that it has removed', 'rm a', 'echo user > a', { a: 'user\n' }, ['a']],
    ['a file in a folder that it has removed', 'rm -r d', 'echo user > d/b', { 'd/b': 'user\n' }, ['d/b']],
    ['a file that both have created', 'echo command > n', 'echo user > n', { n: 'user\n' }, ['n']],
  ]; // biome-ignore format: a table
  for (const [name, script, meanwhile, left, conflicts] of changed)
    it(`leaves ${name} to the user who has changed it meanwhile`, async () => {
      outside('echo one > a; mkdir d; echo two > d/b; echo three > d/c');
      const report = await inside(script, meanwhile);
      assert.deepEqual(report.conflicts, conflicts);
      for (const [file, text] of Object.entries(left))
        assert.equal(readFileSync(paths.join(folder, file), 'utf8'), text);
    });

  const repository = `${git} init -q; echo 1 > a; echo 2 > outside.txt; ${git} add .; ${git} commit -qm one`;
  const renameInIndex = (from: string, to: string) =>
    `python3 - <<'E'
import hashlib
data = open('.git/index', 'rb').read()[:-20].replace(b'${from}', b'${to}')
open('.git/index', 'wb').write(data + hashlib.sha1(data).digest())
E`;

  it('of a repository is kept: a commit, a branch, a stash, a rebase and a merge', async () => {
    outside(repository);
    const work = `echo 3 > b; ${git} add b; ${git} commit -qm two; ${git} checkout -qb side; echo 4 > c; ${git} add c; ${git} stash -q; ${git} stash pop -q; ${git} commit -qm three; ${git} checkout -q main; ${git} rebase -q side; ${git} merge -q side; ${git} branch -qd side`;
    const { asked, failed } = await inside(work);
    assert.deepEqual([asked, failed], [[], []]);
    assert.equal(
      outside('git log --format=%s; git status --short; git fsck --strict --no-dangling 2>&1'),
      'three\ntwo\none\n',
    );
  });

  it('of a repository that is packed anew is asked about, and is whole without what was removed', async () => {
    outside(repository);
    const { asked } = await inside(`${git} gc -q`);
    assert.ok(asked.every((path) => /^\.git\/objects\/..$/.test(path)) && asked.length > 0, asked.join());
    assert.equal(outside('git log --format=%s; git status --short; git fsck --strict --no-dangling 2>&1'), 'one\n');
  });

  it('of a rebase that stops is asked about: the user would continue it outside', async () => {
    outside(
      `${repository}; ${git} checkout -qb side; echo 3 > a; ${git} commit -qam side; ${git} checkout -q main; echo 4 > a; ${git} commit -qam main`,
    );
    const { asked } = await inside(`${git} rebase side || true`);
    assert.deepEqual(asked, ['.git/rebase-merge']);
  });

  it('of a repository is kept whole or not at all', async () => {
    outside(repository);
    const before = outside('git rev-parse HEAD');
    const { conflicts } = await inside(
      `echo 3 > b; ${git} add b; ${git} commit -qm two`,
      'git update-index --force-write-index',
    );
    assert.deepEqual(conflicts, ['.git/index']);
    assert.deepEqual([outside('git rev-parse HEAD'), outside('git status --short')], [before, '?? b\n']);
  });

  const protectedWork: [name: string, before: string, script: string, asked: string[]][] = [
    ['an index with a file of a Git folder', repository, renameInIndex('outside.txt', '.git/hooks/'), ['.git/index']],
    ['an index with a file outside of the working tree', repository, renameInIndex('outside.txt', '../side.txt'), ['.git/index']],
    ['history', repository, 'echo > .git/objects/pack/x; rm -rf .git/objects/??', ['.git/objects']],
    ['the history itself', repository, 'rm -rf .git/objects .git/refs .git/HEAD', ['.git/HEAD', '.git/objects', '.git/refs']],
    ['a repository moved away', repository, 'mv .git old; mkdir x; cp -r old/. x/.git', ['.git', 'old', 'x/.git']],
    ['settings and hooks', repository, 'git config a.b c; echo > .git/hooks/pre-commit; echo > .git/info/attributes', ['.git/config', '.git/hooks/pre-commit', '.git/info/attributes']],
    ['a plan of a rebase', repository, 'mkdir .git/rebase-merge; echo "exec x" > .git/rebase-merge/git-rebase-todo', ['.git/rebase-merge']],
    ['a strategy of a rebase', `${repository}; mkdir .git/rebase-merge; touch .git/rebase-merge/done`, 'echo x/y > .git/rebase-merge/strategy', ['.git/rebase-merge/strategy']],
    ['a plan of a cherry-pick', repository, 'mkdir .git/sequencer; echo x > .git/sequencer/opts', ['.git/sequencer']],
    ['an object with another content', repository, 'chmod -R u+w .git/objects; for f in .git/objects/??/*; do echo > $f; done', ['.git/objects']],
    ['objects of another repository', repository, 'mkdir -p .git/objects/info; echo /x > .git/objects/info/alternates', ['.git/objects/info/alternates']],
    ['a repository among the objects', repository, 'mkdir -p .git/objects/x/refs; touch .git/objects/x/config', ['.git/objects/x']],
    ['a branch outside of the branches', repository, 'echo "ref: refs/heads/../../config" > .git/HEAD', ['.git/HEAD']],
    ['a link among the data of Git', repository, 'ln -s /etc .git/logs/x', ['.git/logs/x']],
    ['settings of a submodule with the name of data', `${repository}; mkdir -p .git/modules/libs/logs; touch .git/modules/libs/logs/config`, 'echo 1 > .git/modules/libs/logs/config', ['.git/modules/libs/logs/config']],
    ['a folder in whose place is a link', 'mkdir -p sub/.vscode; touch sub/.vscode/tasks.json', 'rm -r sub; ln -s /etc sub', ['sub']],
    ['a folder in whose place is a file', 'mkdir -p sub/.github; touch sub/.github/x', 'rm -r sub; touch sub', ['sub']],
    ['what editors and builds run', 'echo 1 > eslint.config.mjs', 'for f in eslint.config.mjs Makefile build.rs; do echo 2 > $f; done', ['Makefile', 'build.rs', 'eslint.config.mjs']],
    ['a repository without the name', 'mkdir -p b/objects b/refs', 'echo ref > b/HEAD; echo > b/config', ['b/HEAD', 'b/config']],
  ]; // biome-ignore format: a table
  for (const [name, before, script, names] of protectedWork)
    it(`is asked about: ${name}`, async () => {
      outside(before);
      const state = () => outside('find . -path ./.git/objects -prune -o -type f -exec sha256sum {} + | sort');
      const was = state();
      const { asked } = await inside(script);
      assert.deepEqual(asked.map((path) => names.find((one) => path === one || path.startsWith(`${one}/`)) ?? path).filter((one, at, all) => all.indexOf(one) === at), names); // biome-ignore format: one statement
      assert.equal(state(), was);
    });

  const moves: [name: string, before: string, script: string, meanwhile: string, left: string][] = [
    ['into a folder that it has removed', 'mkdir d docs; touch d/x; echo user > docs/p', 'rm -rf d', 'mv docs d/docs', 'd/docs/p'],
    ['in place of a file that it has changed', 'touch a; mkdir docs; echo user > docs/p', 'echo 2 > a', 'rm a; mv docs a', 'a/p'],
    ['in place of a folder that it has created', 'mkdir docs; echo user > docs/p', 'mkdir n; echo command > n/p', 'mv docs n', 'n/p'],
    ['in place of a folder that it has changed', 'mkdir d docs; echo user > docs/p; touch d/p', 'echo command > d/p', 'rm -r d; mv docs d', 'd/p'],
  ]; // biome-ignore format: a table
  for (const [name, before, script, meanwhile, left] of moves)
    it(`leaves a folder that the user moves ${name}`, async () => {
      outside(before);
      const { conflicts } = await inside(script, meanwhile);
      assert.equal(readFileSync(paths.join(folder, left), 'utf8'), 'user\n');
      assert.equal(conflicts.length, 1, conflicts.join());
    });

  describe('where the user mounts a folder meanwhile', () => {
    const cases: [name: string, before: string, script: string, at: string, entry: Partial<OverlayEntry>][] = [
      ['in a folder that it has removed', 'mkdir -p d/mnt', 'rm -rf d', 'd/mnt', { name: 'd', kind: 'removed' }],
      ['in place of a folder that it has changed', 'mkdir d; touch d/precious', 'echo 2 > d/precious', 'd', { name: 'd', kind: 'folder' }],
    ]; // biome-ignore format: a table
    for (const [name, before, script, at, entry] of cases)
      it(`is not kept ${name}`, async function () {
        const real = mkdtempSync(paths.join(tmpdir(), 'towpath-mounted-'));
        const mount = paths.join(folder, at);
        try {
          writeFileSync(paths.join(real, 'precious'), 'user\n');
          outside(before);
          if (spawnSync('mount', ['--bind', real, mount]).status !== 0) return this.skip(); // only root mounts
          execFileSync('umount', [mount]);
          await assert.rejects(inside(script, `mount --bind ${real} ${at}`), /something may be mounted in it/);
          // The same between the look at the layers and the change.
          const upper = mkdtempSync(paths.join(real, 'upper-'));
          execFileSync('bash', ['-ec', `mkdir ${upper}/d; echo 2 > ${upper}/d/precious`]);
          const file: OverlayEntry = { name: 'precious', path: 'd/precious', kind: 'file', mode: 0o644 };
          const change = { path: 'd', mode: 0o755, children: [file], ...entry } as OverlayEntry;
          const layers = { upper, target: folder, within: 'workspace', segments: [] } as const;
          const { conflicts } = await applyOverlay(layers, [change], Date.now() + 1000, () => true);
          assert.equal(conflicts.length, 1);
          assert.equal(readFileSync(paths.join(real, 'precious'), 'utf8'), 'user\n');
        } finally {
          spawnSync('umount', [mount]);
          rmSync(real, { recursive: true });
        }
      });
  });

  it('is kept but for a path that is too long', async () => {
    const deep = `python3 -c "
import os
for _ in range(600):
    os.mkdir('d' * 10); os.chdir('d' * 10)
"; echo 1 > ok`;
    const { failed } = await inside(deep);
    assert.deepEqual([failed.length, readFileSync(paths.join(folder, 'ok'), 'utf8')], [1, '1\n']);
    assert.match(failed[0]!, /^.{1,230} \(ENAMETOOLONG\)$/);
    const commands = paths.join(sandbox.folder, 'store/commands');
    const written = () =>
      readdirSync(commands).filter((name) => existsSync(paths.join(commands, name, 'upper0', 'ok')));
    await eventually('the folder of the command is removed', () => written().length === 0); // also what could not be kept
    execFileSync('rm', ['-rf', paths.join(folder, 'd'.repeat(10))]);
  });

  it('is not kept while another command holds a file of it', async () => {
    const python = (text: string) => `python3 -c '${text}'`;
    const send = python(`
import array, os, socket, time
os.mkdir("x"); open("x/plain", "w").close()
while True:
    try:
        other = socket.socket(socket.AF_UNIX); other.connect("/tmp/s"); break
    except OSError: time.sleep(0.02)
other.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [os.open("x", os.O_RDONLY)]))])
other.recv(1)
`);
    const receive = python(`
import array, os, socket, time
waiting = socket.socket(socket.AF_UNIX); waiting.bind("/tmp/s"); waiting.listen()
other, _ = waiting.accept()
_, parts, _, _ = other.recvmsg(1, 64)
held = array.array("i", parts[0][2])[0]
other.send(b"x")
while not os.path.exists("/tmp/over"):
    try: os.mkdir(".vscode", dir_fd=held)
    except OSError: pass
    time.sleep(0.01)
os.remove("/tmp/s"); os.remove("/tmp/over")
`);
    const holding = inside(receive);
    await assert.rejects(inside(send), /another command still uses files of this one/);
    await inside('touch /tmp/over');
    await holding;
    assert.equal(existsSync(paths.join(folder, 'x')), false);
  });

  it('by two commands is judged one after the other', async () => {
    const kept = await Promise.all([
      inside('mkdir -p x/objects; echo > x/HEAD; echo > x/config'),
      inside('mkdir -p x/refs; echo > x/refs/y'),
    ]);
    assert.notDeepEqual(
      kept.flatMap(({ asked }) => asked),
      [],
    );
  });

  it('is forgotten on a stop, also while another command waits for an answer', async () => {
    let answer = (_: boolean) => {};
    let asking: Promise<unknown> | undefined;
    const asked = new Promise<void>((resolve) => {
      const answered = new Promise<boolean>((give) => {
        answer = give;
      });
      asking = inside('mkdir .vscode', '', {
        answer: () => {
          resolve();
          return answered;
        },
      });
    });
    await asked;
    await assert.rejects(inside('touch stopped', '', { signal: AbortSignal.abort() }), { name: 'AbortError' });
    answer(true);
    await asking;
    assert.deepEqual(readdirSync(folder), ['.vscode']);
  });

  it('is forgotten with its window', async () => {
    const store = mkdtempSync(paths.join(tmpdir(), 'towpath-left-'));
    const ended = spawnSync('true').pid;
    try {
      for (const name of [`${ended}-a/upper0`, `${process.pid}-b`, 'others'])
        mkdirSync(paths.join(store, name), { recursive: true });
      await removeLeftovers(store);
      assert.deepEqual(readdirSync(store).sort(), [`${process.pid}-b`, 'others'].sort());
    } finally {
      rmSync(store, { recursive: true });
    }
  });

  it('is not asked about if builds read nothing from it: folders, empty locks and caches', async () => {
    outside('mkdir -p target/old && : > target/old/a.lock && echo 1 > yarn.lock');
    const harmless = await inside(
      'mkdir -p build target/debug && : > target/debug/s.lock && echo {} > .eslintcache; rm -r target/old',
    );
    assert.deepEqual([harmless.asked, outside('ls -A target')], [[], 'debug\n']);
    const others = await inside(
      ': > yarn.lock; mkdir -p build/x && echo all: > build/x/Makefile; echo 1 > target/debug/s.lock',
    );
    assert.deepEqual(others.asked.sort(), ['build/x/Makefile', 'target/debug/s.lock', 'yarn.lock']);
  });

  it('is not asked about if the content is the same', async () => {
    outside('mkdir .vscode; echo 1 > .vscode/settings.json');
    assert.deepEqual((await inside('echo 1 > .vscode/settings.json')).asked, []);
  });

  it('ends before it is kept: nothing is written afterwards', async () => {
    for (let round = 0; round < 5; round++) {
      const late =
        "setsid bash -c 'while kill -0 $PPID 2>/dev/null; do :; done; mkdir -p plain/.vscode; touch plain/.vscode/t' & mkdir plain";
      const { asked } = await inside(late);
      assert.ok(asked.length > 0 || !existsSync(paths.join(folder, 'plain/.vscode')));
      outside('rm -rf plain');
    }
  });

  it('does not reach the repository of another project that a file names', async () => {
    const other = mkdtempSync(paths.join(tmpdir(), 'towpath-other-'));
    try {
      execFileSync('bash', ['-ec', `cd ${other}; ${repository}`]);
      outside(`echo "gitdir: ${other}/.git" > .git`);
      await inside(`rm -rf ${other}/.git/objects; echo x > ${other}/.git/index || true`);
      assert.ok(existsSync(paths.join(other, '.git/objects')));
    } finally {
      rmSync(other, { recursive: true });
    }
  });

  it('reaches the repository of a worktree and of a folder above', async () => {
    outside(`mkdir main; cd main; ${repository}; ${git} worktree add -q ../tree -b tree`);
    const above = folder;
    folder = paths.join(above, 'tree');
    try {
      const { asked } = await inside(`echo 5 > e; ${git} add e; ${git} commit -qm five; git config x.y z`);
      assert.deepEqual(asked, [paths.join(above, 'main/.git/config')]);
      assert.equal(outside('git log -1 --format=%s; git status --short'), 'five\n');
    } finally {
      folder = above;
    }
  });
});
