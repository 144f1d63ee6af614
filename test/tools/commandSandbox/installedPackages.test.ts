import assert from 'node:assert/strict';
import {
  existsSync,
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
import { deniedPaths } from '../../../src/tools/commandSandbox/deniedPaths.ts';
import { runSandboxed, type TemporarySandbox, temporarySandbox } from '../../support/commandSandbox.ts';

interface Ended {
  output: string;
  /** Protected names that were asked about. */
  asked: string[];
  /** Paths that the model is told. */
  denied: string[];
}

describe('installed packages in the sandbox', () => {
  let sandbox: TemporarySandbox;
  let folder: string;

  before(async function () {
    const made = await temporarySandbox();
    if (!made) return this.skip();
    sandbox = made;
  });
  after(() => sandbox?.cleanup());
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(paths.join(tmpdir(), 'towpath-installed-')));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function write(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(paths.dirname(paths.join(folder, name)), { recursive: true });
      writeFileSync(paths.join(folder, name), text);
    }
  }
  const read = (name: string) => readFileSync(paths.join(folder, name), 'utf8');
  const names = (name: string) => readdirSync(paths.join(folder, name)).sort().join(' ');

  async function run(line: string, folders: readonly string[] = [folder]): Promise<Ended> {
    const asked: string[] = [];
    const mayKeep = async (changes: readonly { path: string }[]) => {
      asked.push(...changes.map(({ path }) => path));
      return true;
    };
    const questions = { mayConnect: async () => false, mayKeep };
    const command = await sandbox.begin({ runId: 'run', folder: folders[0]!, folders, questions });
    const { output, report } = await runSandboxed(command, line);
    assert.deepEqual([report.conflicts, report.failed, report.special], [[], [], []]);
    return { output, asked, denied: deniedPaths(output, folder, report.isWritable) };
  }

  it('have private caches, which the next command sees and nothing outside', async () => {
    write({ 'node_modules/vite/index.js': 'vite', 'node_modules/.vite/deps/a.js': 'of the user' });
    const line =
      'cd node_modules; echo 1 > .vite-temp/config.mjs; mkdir .cache/babel .tmp/b; ls -A .vite; echo 2 > .vite/own; cat vite/index.js';
    assert.deepEqual(await run(line), { output: 'vite', asked: [], denied: [] });
    assert.equal((await run('cd node_modules; cat .vite/own .vite-temp/config.mjs; ls .cache .tmp')).output, '2\n1\n.cache:\nbabel\n\n.tmp:\nb\n'); // biome-ignore format: one line
    assert.deepEqual([names('node_modules'), names('node_modules/.vite')], ['.vite vite', 'deps']);
    assert.equal(read('node_modules/.vite/deps/a.js'), 'of the user');
  });

  it('have private caches in the packages of a workspace, whose folders keep what else they have', async () => {
    write({ 'packages/a/node_modules/vitest/index.js': '', 'packages/a/b.txt': 'b', 'packages/c.txt': 'c' });
    const line = 'cd packages/a; echo 1 > node_modules/.vitest/x; cat b.txt ../c.txt; rm ../c.txt; echo new > d.txt';
    assert.deepEqual(await run(line), { output: 'bc', asked: [], denied: [] });
    assert.equal((await run('cat packages/a/node_modules/.vitest/x')).output, '1\n');
    assert.deepEqual([names('packages'), names('packages/a')], ['a', 'b.txt d.txt node_modules']);
    assert.equal(names('packages/a/node_modules'), 'vitest');
  });

  it('share no cache with another workspace', async () => {
    write({ 'one/node_modules/a.js': '', 'two/node_modules/a.js': '' });
    const [one, two] = ['one', 'two'].map((name) => [paths.join(folder, name)]) as [string[], string[]];
    const caches = async (folders: string[]) => (await run('ls -A node_modules/.cache', folders)).output;
    await run('echo 1 > node_modules/.cache/x', one);
    assert.deepEqual([await caches(one), await caches(two), names('one/node_modules')], ['x\n', '', 'a.js']);
  });

  it('have a cache only where the name is a folder, or missing', async () => {
    write({ 'node_modules/.cache': 'a file', 'node_modules/.bin/tool': '', 'node_modules/.prisma/client.js': 'code' });
    const { output, denied } = await run(
      'cat node_modules/.cache node_modules/.prisma/client.js; echo > node_modules/.bin/tool; echo > node_modules/.prisma/client.js',
    );
    assert.match(output, /^a filecode/);
    assert.deepEqual(
      denied,
      ['.bin/tool', '.prisma/client.js'].map((name) => paths.join(folder, 'node_modules', name)),
    );
  });

  it('cannot be removed or changed through their caches', async () => {
    write({ 'node_modules/vite/index.js': 'vite', 'node_modules/.vite/a.js': 'a' });
    await run(
      'cd node_modules; rm -rf .vite .cache vite; mv .cache .bin; mv .vite vite; ln -s ../vite .cache/link; echo x > .cache/link/index.js; ln vite/index.js .cache/hard',
    );
    await run('rm -rf node_modules; mv node_modules other; mkdir -p node_modules/.bin');
    assert.deepEqual([names('node_modules'), names('.')], ['.vite vite', 'node_modules']);
    assert.deepEqual([read('node_modules/vite/index.js'), read('node_modules/.vite/a.js')], ['vite', 'a']);
  });

  it('have no cache that a command can replace by a link, whose target the next one could write', async () => {
    write({ 'node_modules/a.js': '' });
    const link = 'rm -rf "$1"; mv "$1" "$1-old"; ln -sfn ../../../../../../../../.. "$1"';
    const all = 'for at in node_modules/.cache $(find "$XDG_CACHE_HOME/.." -name .cache -o -name modules)';
    await run(`replace() { ${link}; }; ${all}; do replace "$at"; done`);
    const { output } = await run(`ls -A node_modules/.cache; echo x > node_modules/.cache${folder}/node_modules/b.js`);
    assert.deepEqual([output.includes('usr'), names('node_modules')], [false, 'a.js']);
  });

  it('are read-only as soon as they are installed', async () => {
    assert.deepEqual((await run('mkdir node_modules; echo > node_modules/a.js')).asked, ['node_modules']);
    assert.match((await run('echo > node_modules/a.js')).output, /Read-only file system/);
    assert.equal((await run('echo 1 > node_modules/.cache/x')).output, '');
    rmSync(paths.join(folder, 'node_modules'), { recursive: true });
    assert.deepEqual((await run('mkdir node_modules; echo > node_modules/b.js')).asked, ['node_modules']);
    assert.equal(existsSync(paths.join(folder, 'node_modules/b.js')), true);
  });

  const inNode = 'require("fs").mkdirSync(process.cwd() + "/node_modules/b/c", { recursive: true })';
  const refused: [line: string, path: string][] = [
    [`'${process.execPath}' -e '${inNode}'`, 'node_modules/b/c'],
    ['rm "$PWD/node_modules/a.js"', 'node_modules/a.js'],
    ['touch node_modules/x', 'node_modules/x'],
    ['echo > node_modules/x', 'node_modules/x'],
    ['cp -r node_modules/a.js node_modules/b.js', 'node_modules/b.js'],
  ];
  for (const [line, path] of refused)
    it(`are named when a command could not change them: ${line}`, async () => {
      write({ 'node_modules/a.js': '' });
      assert.deepEqual((await run(line)).denied, [paths.join(folder, path)]);
    });
});
