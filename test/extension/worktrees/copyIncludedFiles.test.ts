import assert from 'node:assert/strict';
import {
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { copyIncludedFiles } from '../../../src/extension/worktrees/copyIncludedFiles.ts';
import { readWorktreeFacts } from '../../../src/extension/worktrees/worktreeFacts.ts';
import { gitIn, newWorktree, put } from '../../support/worktrees.ts';

describe('the ignored files of a new worktree', function () {
  this.timeout(60_000);
  let beside: string;
  let root: string;
  let folder: string;

  beforeEach(() => {
    ({ beside, root, folder } = newWorktree());
  });
  afterEach(() => rmSync(beside, { recursive: true, force: true }));

  const added = () =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => statSync(path.join(folder, file)).isFile())
      .filter((file) => !['.git', '.gitignore', 'gate.txt'].includes(file))
      .sort();
  const putAll = (...files: string[]) => {
    for (const file of files) put(root, file, `${file}\n`);
  };

  it('are its .env files, without those of packages, and none that Git would commit', async () => {
    putAll('.env', '.env.local', 'api/.env', 'node_modules/boat/.env', 'local/notes.md', 'a.log');
    assert.deepEqual(await copyIncludedFiles(root, folder), []);
    assert.deepEqual(added(), ['.env', 'api/.env']); // .gitignore has no .env.local
    assert.equal(readFileSync(path.join(folder, 'api/.env'), 'utf8'), 'api/.env\n');
    assert.equal(gitIn(folder, 'status', '--porcelain'), '');
    assert.deepEqual((await readWorktreeFacts(root, folder))?.ignored, []);
  });

  it('are those that .worktreeinclude names', async () => {
    putAll('.env', 'local/a.json', 'local/b.json', 'a.log', 'mine.txt');
    put(root, '.worktreeinclude', '# local\nlocal/*\n!local/b.json\n*.txt\n/a.log\ngate.txt\n');
    assert.deepEqual(await copyIncludedFiles(root, folder), []);
    assert.deepEqual(added(), ['a.log', 'local/a.json']);
    assert.equal(gitIn(folder, 'status', '--porcelain'), '');
  });

  it('are none with an empty .worktreeinclude', async () => {
    putAll('.env');
    put(root, '.worktreeinclude', '');
    assert.deepEqual(await copyIncludedFiles(root, folder), []);
    assert.deepEqual(added(), []);
  });

  it('are none that only an uncommitted .gitignore ignores', async () => {
    put(root, '.gitignore', '.env\n.env.local\n');
    putAll('.env.local');
    await copyIncludedFiles(root, folder);
    assert.deepEqual(added(), []);
  });

  it('keep their permissions, and replace nothing', async () => {
    putAll('api/.env');
    writeFileSync(path.join(root, '.env'), 'KEY=1\n', { mode: 0o600 });
    put(folder, 'api/.env', 'other\n');
    assert.deepEqual(await copyIncludedFiles(root, folder), ['api/.env']);
    assert.equal(readFileSync(path.join(folder, 'api/.env'), 'utf8'), 'other\n');
    if (process.platform !== 'win32') assert.equal(statSync(path.join(folder, '.env')).mode & 0o777, 0o600);
  });

  it('are neither read nor written through a link', async () => {
    put(beside, 'secret', 'x');
    symlinkSync(path.join(beside, 'secret'), path.join(root, '.env'));
    putAll('api/.env');
    symlinkSync(beside, path.join(folder, 'api'), 'junction');
    await copyIncludedFiles(root, folder).catch(() => undefined);
    assert.equal(existsSync(path.join(folder, '.env')), false);
    assert.equal(existsSync(path.join(beside, '.env')), false);
    assert.equal(realpathSync(path.join(folder, 'api')), beside);
  });
});
