import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import type { SnapshotComparison } from '../../../src/tools/snapshot/compareSnapshot.ts';
import { generator } from '../../support/random.ts';
import { RecordedFolder } from './folder.ts';

const sources = {
  'src/a.ts': 'export const a = 1;\n',
  'src/b.ts': 'export const b = 2;\r\nmixed\n',
  'src/deep/c.bin': Buffer.from([0, 1, 2, 255]),
  'docs/c.md': '# c\n',
  '.gitignore': 'node_modules/\n.env\n*.log\n',
  'package.json': '{}\n',
};

describe('Changes of a command', () => {
  let folder: RecordedFolder;
  beforeEach(() => {
    folder = new RecordedFolder();
  });
  afterEach(() => folder.remove());

  const discards: [command: string, needsGit: boolean][] = [
    ['git checkout -- .', true],
    ['git restore .', true],
    ['git reset --hard', true],
    ['git stash -u', true],
    ['git clean -fdx -e node_modules', true],
    ['git rm -rqf src', true],
    ['rm -rf src', false],
    ['find src -delete', false],
    [': > src/a.ts', false],
    ["sed -i 's/a/z/' src/a.ts", false],
    ['mv src/a.ts src/z.ts', false],
    ['mv src lib', false],
    ['cp docs/c.md src/a.ts', false],
    ['truncate -s 3 src/b.ts', false],
    ['chmod 755 src/a.ts', false],
    ['ln -sf a.ts src/existing', false],
    ['rm docs/c.md && mkdir docs/c.md', false],
    ['rm -rf src && printf x > src', false],
    ['mkdir empty && touch -r package.json package.json', false],
    ['tar cf t.tar src && rm -rf src && tar xf t.tar', false],
    ["printf 'm1ne\\n' > src/t && touch -r src/a.ts src/t && cp -p src/t src/a.ts", false],
    ['dd if=/dev/zero of=src/deep/c.bin bs=1 count=2 conv=notrunc', false],
    ['rm .env', false],
    ['echo more >> .env; echo x > new.log', false],
  ];
  for (const [command, needsGit] of discards)
    for (const hasGit of needsGit ? [true] : [true, false])
      it(`of “${command}” ${hasGit ? 'in a repository' : 'without Git'} are put back to the byte`, async () => {
        folder.write(sources);
        if (hasGit) folder.commit();
        const own = { 'src/a.ts': 'mine\n', 'notes.txt': 'n\n', '.env': 'SECRET=1\n', 'node_modules/m.js': 'm' };
        folder.write(own);
        fs.symlinkSync('../docs/c.md', path.join(folder.root, 'src/existing'));
        const before = folder.state();
        const changes = await folder.during(() => folder.run(command));
        assert.deepEqual(changes.lost, []);
        folder.restore(changes);
        assert.deepEqual(folder.state(), before);
      });

  it('leave out what was only touched, and folders that a pattern ignores', async () => {
    folder.write(sources).commit().write({ 'node_modules/m.js': 'm' });
    const command = 'touch src/*.ts && cp src/a.ts t && cat t > src/a.ts && rm t && echo n > node_modules/n.js';
    assert.deepEqual(folder.names(await folder.during(() => folder.run(command))), []);
  });

  it('leave out a new folder that a pattern ignores, and name one that is gone', async () => {
    folder.write(sources).commit().write({ 'node_modules/m.js': 'm' });
    const command = 'rm -rf node_modules && mkdir -p lib/node_modules && touch lib/node_modules/x';
    const changes = await folder.during(() => folder.run(command));
    assert.deepEqual(folder.names(changes), ['lib']);
    assert.deepEqual(changes.deletedFolders, [path.join(folder.root, 'node_modules')]);
  });

  it('are seen where size, modification time and inode are as before', async () => {
    folder.write(sources).commit();
    const write = "printf 'export const a = 7;\\n' | dd of=src/a.ts conv=notrunc";
    const changes = await folder.during(() =>
      folder.run(`touch -r src/a.ts stamp; ${write}; touch -r stamp src/a.ts; rm stamp`),
    );
    assert.deepEqual(folder.names(changes), ['src/a.ts']);
    folder.restore(changes);
    assert.equal(fs.readFileSync(path.join(folder.root, 'src/a.ts'), 'utf8'), sources['src/a.ts']);
  });

  it('of files with converted line endings, a filter or a flag of the index are put back to the byte', async () => {
    const attributes = '*.md text eol=crlf\n*.up filter=up\n*.id ident\n';
    folder.write({ ...sources, '.gitattributes': attributes, 'x.up': 'lower\n', 'y.id': '$Id$\n' }).commit();
    folder.run("git config filter.up.clean 'tr a-z A-Z' && git config filter.up.smudge 'tr A-Z a-z'");
    folder.run('git add --renormalize . && git commit -qm filtered && rm docs/c.md x.up y.id && git checkout -- .');
    folder.run('git update-index --assume-unchanged src/b.ts && echo mine > src/b.ts');
    const before = folder.state();
    assert.match(before['docs/c.md']!, /\r\n/);
    assert.match(before['y.id']!, /\$Id: /);
    const changes = await folder.during(() => folder.run('rm -rf src docs x.up y.id'));
    assert.deepEqual(changes.lost, []);
    folder.restore(changes);
    assert.deepEqual(folder.state(), before);
  });

  it('of files of many megabytes are put back', async () => {
    folder.write({ 'big.bin': Buffer.alloc(12_000_000, 7), 'a.txt': 'a' });
    const before = folder.state();
    const changes = await folder.during(() => folder.run('printf x >> big.bin; cp big.bin other.bin; rm a.txt'));
    assert.deepEqual(folder.names(changes), ['a.txt', 'big.bin', 'other.bin']);
    folder.restore(changes);
    assert.deepEqual(folder.state(), before);
  });

  it('in a nested repository are put back', async () => {
    folder.write(sources).commit();
    folder.run(
      'mkdir -p vendor/lib && cd vendor/lib && git init -q . && echo 1 > one && git add one && git commit -qm 1',
    );
    folder.write({ 'vendor/lib/two': '2\n' });
    const before = folder.state();
    const changes = await folder.during(() => folder.run('cd vendor/lib && rm one && git clean -fdq'));
    assert.deepEqual(folder.names(changes), ['vendor/lib/one', 'vendor/lib/two']);
    folder.restore(changes);
    assert.deepEqual(folder.state(), before);
  });

  it('do not need a repository that the command removes', async () => {
    folder.write(sources).commit();
    const before = folder.state();
    const changes = await folder.during(() => folder.run('rm -rf .git src'), { withoutGit: true });
    assert.deepEqual(changes.lost, [path.join(folder.root, '.git')]);
    folder.restore(changes);
    assert.deepEqual(folder.state(), before);
  });

  it('name files above the budget, and store changed tracked and small files first', async () => {
    folder.write(sources).commit();
    folder.write({ 'src/a.ts': 'm'.repeat(900), 'big.bin': Buffer.alloc(5000, 1), 'small.txt': 'small', '.env': 'e' });
    const changes = await folder.during(() => folder.run('rm src/a.ts big.bin small.txt .env'), { budget: 1000 });
    assert.deepEqual(changes.lost, [path.join(folder.root, 'big.bin')]);
    assert.deepEqual(folder.names(changes), ['.env', 'small.txt', 'src/a.ts']);
  });

  it('store what Git holds last where Git is not relied on, and still take it from there', async () => {
    folder.write({ ...sources, 'clean.txt': 'c'.repeat(900) }).commit();
    folder.write({ 'notes.txt': 'n'.repeat(500) });
    const before = folder.state();
    const changes = await folder.during(() => folder.run('rm notes.txt clean.txt'), { withoutGit: true, budget: 1000 });
    assert.deepEqual(changes.lost, []);
    folder.restore(changes);
    assert.deepEqual(folder.state(), before);
  });

  it('need no second read of an unchanged file', async () => {
    folder.write({ 'a.txt': 'a'.repeat(10_000), 'b.txt': 'b' });
    await folder.during(() => folder.run('echo c > c.txt'));
    await folder.during(() => folder.run('echo d >> b.txt'));
    assert.ok(folder.storedBytes() < 12_000, `${folder.storedBytes()} bytes`);
    const before = folder.state();
    const third = await folder.during(() => folder.run('rm *.txt'));
    folder.restore(third);
    assert.deepEqual(folder.state(), before);
  });

  it('are not recorded in a folder of too many files', async () => {
    folder.run('seq 1 11 | xargs touch');
    await assert.rejects(
      folder.during(() => {}, { maxEntries: 10 }),
      /too-many-files/,
    );
  });

  it('of random commands are put back to the byte', async () => {
    const random = generator(38);
    const pick = <One>(all: readonly One[]): One => all[Math.floor(random() * all.length)]!;
    folder.write(sources).commit().write({ 'notes.txt': 'n\n', '.env': 'E=1\n' });
    const files = ['src/a.ts', 'src/b.ts', 'docs/c.md', 'notes.txt', '.env', 'src/deep/c.bin', 'new.txt', 'src/x/y.ts'];
    const commands = [
      () => `rm -f ${pick(files)}`,
      () => `mkdir -p src/x && echo ${Math.floor(random() * 1e6)} > ${pick(files)}`,
      () => `mv -f ${pick(files)} ${pick(files)}`,
      () => `cp ${pick(files)} ${pick(files)}`,
      () => `git checkout -q -- ${pick(['.', 'src', 'docs'])}`,
      () => 'git add -A && git commit -qm more',
      () => 'git stash -qu',
      () => 'git stash pop -q',
      () => 'git clean -fdq',
      () => `sed -i 's/[0-9]/x/' ${pick(files)}`,
      () => `chmod ${pick(['600', '644', '755'])} ${pick(files)}`,
      () => `rm -rf ${pick(['src', 'docs', 'src/deep'])}`,
      () => `ln -sf ${pick(files)} ${pick(['link', 'src/link'])}`,
    ];
    const states: Record<string, string>[] = [];
    const recorded: (SnapshotComparison & { pack: string })[] = [];
    for (let step = 0; step < 40; step++) {
      states.push(folder.state());
      const command = pick(commands)();
      recorded.push(await folder.during(() => folder.run(`${command} || true`)));
      assert.deepEqual(recorded.at(-1)!.lost, [], command);
    }
    for (const changes of recorded.reverse()) {
      folder.restore(changes);
      assert.deepEqual(folder.state(), states.pop());
    }
  }).timeout(60_000);
});
