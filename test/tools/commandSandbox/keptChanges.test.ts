import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as paths from 'node:path';
import type { Readable } from 'node:stream';
import type { SandboxReport } from '../../../src/tools/commandSandbox/commandSandbox.ts';
import { type TemporarySandbox, temporarySandbox } from '../../support/commandSandbox.ts';

// Holds sandboxed-changes-wait.
describe('what a sandboxed command has changed', function () {
  this.timeout(60_000);
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
  async function inside(script: string, meanwhile = ''): Promise<SandboxReport & { asked: string[]; output: string }> {
    const asked: string[] = [];
    const command = await sandbox.begin({
      runId: 'run',
      folder,
      folders: [folder],
      questions: {
        mayConnect: async () => false,
        async mayKeep(changes) {
          asked.push(...changes.map(({ path }) => path));
          return false;
        },
      },
    });
    const filter = await open(command.filter);
    const [program, ...args] = command.commandLine(['/bin/bash', '-ec', script]);
    const env = { ...process.env, ...command.environment };
    const child = spawn(program!, args, { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe', filter.fd, 'pipe'] });
    command.started(child.stdio[4] as Readable);
    await filter.close();
    let output = '';
    for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (output += chunk));
    const code = await new Promise((resolve) => child.once('exit', resolve));
    assert.equal(code, 0, output);
    if (meanwhile) outside(meanwhile);
    return { ...(await command.keep()), asked: asked.sort(), output };
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

  it('of a repository is kept: a commit, a branch, a stash, a merge, and what collects garbage', async () => {
    outside(repository);
    const work = `echo 3 > b; ${git} add b; ${git} commit -qm two; ${git} checkout -qb side; echo 4 > c; ${git} add c; ${git} stash -q; ${git} stash pop -q; ${git} commit -qm three; ${git} checkout -q main; ${git} merge -q side; ${git} branch -qd side; ${git} gc -q`;
    const { asked, failed } = await inside(work);
    assert.deepEqual([asked, failed], [[], []]);
    assert.equal(
      outside('git log --format=%s; git status --short; git fsck --strict --no-dangling 2>&1'),
      'three\ntwo\none\n',
    );
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
    ['history without a copy', repository, 'rm -rf .git/objects/??', ['.git/objects']],
    ['the history itself', repository, 'rm -rf .git/objects .git/refs .git/HEAD', ['.git/HEAD', '.git/objects', '.git/refs']],
    ['a repository moved away', repository, 'mv .git old; mkdir x; cp -r old/. x/.git', ['.git', 'old', 'x/.git']],
    ['settings and hooks', repository, 'git config a.b c; echo > .git/hooks/pre-commit; echo > .git/info/attributes', ['.git/config', '.git/hooks/pre-commit', '.git/info/attributes']],
    ['a plan of a rebase', repository, 'mkdir .git/rebase-merge; echo "exec x" > .git/rebase-merge/git-rebase-todo', ['.git/rebase-merge/git-rebase-todo']],
    ['a link among the data of Git', repository, 'ln -s /etc .git/logs/x', ['.git/logs/x']],
    ['settings of a submodule with the name of data', `${repository}; mkdir -p .git/modules/libs/logs; touch .git/modules/libs/logs/config`, 'echo 1 > .git/modules/libs/logs/config', ['.git/modules/libs/logs/config']],
    ['a folder in whose place is a link', 'mkdir -p sub/.vscode; touch sub/.vscode/tasks.json', 'rm -r sub; ln -s /etc sub', ['sub']],
    ['a folder in whose place is a file', 'mkdir -p sub/.github; touch sub/.github/x', 'rm -r sub; touch sub', ['sub']],
    ['what editors and builds run', 'echo 1 > eslint.config.mjs', 'echo 2 > eslint.config.mjs; touch Makefile build.rs', ['Makefile', 'build.rs', 'eslint.config.mjs']],
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
