import assert from 'node:assert/strict';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { archiveLimits, unpackArchive } from '../../../src/workflows/package/archive.ts';
import { loadPackage } from '../../../src/workflows/package/load.ts';
import { sampleFiles } from './sample.ts';
import { type ZipEntry, zip } from './zip.ts';

const many = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `${index}.md` }));
const zeros = (bytes: number) => Buffer.alloc(bytes);

const refused: [what: string, archive: ZipEntry[] | Buffer, message: string | RegExp][] = [
  ['a name that goes up', [{ name: '../evil.md' }], /not a whole zip archive: invalid relative path/],
  ['a name that goes up in the middle', [{ name: 'a/../../evil.md' }], /invalid relative path/],
  ['an absolute name', [{ name: '/tmp/evil.md' }], /absolute path/],
  ['a drive', [{ name: 'C:/evil.md' }], /absolute path/],
  ['backslashes', [{ name: '..\\evil.md' }], /invalid characters in fileName/],
  ['a dot in the path', [{ name: './a.md' }], /"\.\/a\.md" leads out of its folder or is not a relative path/],
  ['an empty name in the path', [{ name: 'a//b.md' }], /is not a relative path/],
  ['a NUL', [{ name: 'a\0.md' }], /invisible characters|no name for every system/],
  ['a name drawn in another order', [{ name: 'a\u202egm.md' }], /invisible characters/],
  ['a stream of a file', [{ name: 'a.md:evil' }], /not a valid name on every system/],
  ['a device', [{ name: 'con.md' }], /not a valid name on every system/],
  ['a link', [{ name: 'a.md', content: '/etc/passwd', mode: 0o120777 }], /"a\.md" is a link/],
  ['a pipe', [{ name: 'a.md', mode: 0o010644 }], /is not a regular file/],
  ['a password', [{ name: 'a.md', flags: 0x801 }], /is encrypted or packed in an unknown way/],
  ['the same name twice', [{ name: 'a.md' }, { name: 'a.md' }], /"a\.md" occurs twice/],
  ['the same name in other letters', [{ name: 'a.md' }, { name: 'A.MD' }], /"A\.MD" occurs twice/],
  ['the same name in other code points', [{ name: 'é.md' }, { name: 'e\u0301.md' }], /occurs twice/],
  ['a file inside of a file', [{ name: 'a.md' }, { name: 'a.md/b.md' }], /is inside a file/],
  ['a file in place of a folder', [{ name: 'a/b.md' }, { name: 'a' }], /"a" occurs twice/],
  ['a bomb', [{ name: 'a.md', content: zeros(4_000_000) }], /unpacks to more than 200 times its size/],
  ['a large file', [{ name: 'a.md', content: zeros(5_000_001) }], /unpacks to more than 5000000 bytes/],
  [
    'a bomb that says it is small',
    [{ name: 'a.md', content: zeros(4_000_000), saysSize: 10 }],
    /not a whole zip archive: too many bytes in the stream/,
  ],
  [
    'a file that is smaller than it says',
    [{ name: 'a.md', content: 'ten bytes!', saysSize: 100 }],
    /not enough bytes in the stream/,
  ],
  [
    'many large files',
    Array.from({ length: 11 }, (_, index) => ({ name: `${index}.md`, content: zeros(4_900_000), stored: true })),
    /larger than 50000000 bytes/,
  ],
  ['many entries', many(2001), /more than 2000 entries/],
  ['deep folders', [{ name: `${'a/'.repeat(17)}b.md` }], /is nested too deeply/],
  ['nothing', [], /contains no files/],
  ['text', Buffer.from('not a zip'), /not a whole zip archive/],
  ['half an archive', zip([{ name: 'a.md', content: 'x'.repeat(1000) }]).subarray(0, 60), /not a whole zip archive/],
];

describe('unpacking an archive', () => {
  let outer: string;
  let file: string;
  const storage = () => path.join(outer, 'storage');
  const unpack = (entries: ZipEntry[] | Buffer) => {
    writeFileSync(file, Buffer.isBuffer(entries) ? entries : zip(entries));
    return unpackArchive(file, storage());
  };
  beforeEach(() => {
    outer = realpathSync(mkdtempSync(path.join(tmpdir(), 'archive-')));
    file = path.join(outer, 'letters.bmad');
  });
  afterEach(() => rmSync(outer, { recursive: true }));

  it('gives the package in a folder of its own, once', async () => {
    const entries = Object.entries(sampleFiles).map(([name, content]) => ({ name: `letters/${name}`, content }));
    const folder = await unpack([{ name: 'letters/', mode: 0o040755 }, ...entries]);
    assert.equal(path.dirname(folder), storage());
    assert.match(path.basename(folder), /^[0-9a-f]{64}$/);
    assert.equal((await loadPackage(folder)).title, 'Letters');
    assert.equal(readFileSync(path.join(folder, 'letters/write/steps/judge.md'), 'utf8'), 'Judge the letter.\n');
    if (process.platform !== 'win32')
      assert.equal(statSync(path.join(folder, 'letters/agents.json')).mode & 0o777, 0o600);
    const before = statSync(path.join(folder, 'letters/agents.json')).mtimeMs;
    assert.equal(await unpackArchive(file, storage()), folder);
    assert.equal(statSync(path.join(folder, 'letters/agents.json')).mtimeMs, before);
    assert.deepEqual(readdirSync(storage()), [path.basename(folder)]);
  });

  it('unpacks the same archive twice at the same time', async () => {
    writeFileSync(file, zip([{ name: 'a.md', content: 'x' }]));
    const [one, two] = await Promise.all([unpackArchive(file, storage()), unpackArchive(file, storage())]);
    assert.equal(one, two);
    assert.deepEqual(readdirSync(storage()), [path.basename(one)]);
  });

  for (const [what, archive, message] of refused)
    it(`refuses ${what}, and writes nothing`, async () => {
      await assert.rejects(unpack(archive), { name: 'PackageError', message });
      assert.deepEqual(readdirSync(outer), ['letters.bmad']);
      assert.equal(existsSync('/tmp/evil.md'), false);
    });

  it('leaves an archive inside of it packed', async () => {
    const inner = zip([{ name: '../evil.md', content: zeros(4_000_000) }]);
    const folder = await unpack([
      { name: 'a.md', content: 'x' },
      { name: 'inner.bmad', content: inner, stored: true },
    ]);
    assert.deepEqual(readdirSync(folder, { recursive: true }).sort(), ['a.md', 'inner.bmad']);
  });

  it('refuses files that are too much together', async () => {
    writeFileSync(file, zip(['a', 'b', 'c'].map((name) => ({ name, content: 'x'.repeat(400), stored: true }))));
    await assert.rejects(unpackArchive(file, storage(), { ...archiveLimits, total: 1000 }), {
      message: 'letters.bmad: unpacks to more than 1000 bytes',
    });
    assert.deepEqual(readdirSync(outer), ['letters.bmad']);
  });
});
