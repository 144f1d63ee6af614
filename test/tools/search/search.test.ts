import assert from 'node:assert/strict';
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import * as paths from 'node:path';
import { createGlobMatcher } from '../../../src/tools/core/glob.ts';
import { globToRipgrepExclusions } from '../../../src/tools/search/globLimits.ts';
import { runRipgrep, withRipgrepExclusions } from '../../../src/tools/search/ripgrep.ts';
import {
  comparePaths,
  type FileSearch,
  firstSortedHits,
  type SearchHit,
} from '../../../src/tools/search/sortedResults.ts';
import { randomFrom } from '../../support/random.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation, data, error } from '../conversation.ts';

let workspace: TemporaryWorkspace;
afterEach(() => workspace?.cleanup());

const never = new AbortController().signal;

/** In order; folders among them. */
const manyFiles = Array.from({ length: 620 }, (_, at) =>
  at % 3 === 0 ? `d${String(at % 7)}/${String(at).padStart(3, '0')}.txt` : `f${String(at).padStart(3, '0')}.txt`,
).sort(comparePaths);

// Holds searches-are-stable.
describe('a search in files with Windows line ends', () => {
  it('finds the end of a line as in any other file, and tells its text without them', async () => {
    workspace = await temporaryWorkspace({ 'a.ts': 'one;\r\ntwo\r\n', 'b.ts': 'one;\ntwo\n' });
    const found = await data<{ matches: number }>(conversation(workspace).call('fs.search', { pattern: '^one;$' }));
    assert.equal(found.matches, 2);
    assert.ok(!JSON.stringify(found).includes('\\r'));
  });
});

describe('a search with more results than are told', () => {
  it('fs.find gives the first files in order, whichever ripgrep comes upon first', async () => {
    workspace = await temporaryWorkspace(Object.fromEntries(manyFiles.map((path) => [path, 'x\n'])));
    for (let time = 0; time < 3; time++) {
      const { files, cut } = await data<{ files: string[]; cut: string }>(
        conversation(workspace).call('fs.find', { pattern: '*.txt' }),
      );
      assert.deepEqual(files, manyFiles.slice(0, 500));
      assert.match(cut, /More than 500 files/);
    }
  });

  it('fs.search gives the first matches in order, and no more than its bounds', async () => {
    workspace = await temporaryWorkspace(Object.fromEntries(manyFiles.map((path) => [path, 'a\nx\nb\n'])));
    for (const [args, matches] of [
      [{ pattern: 'x' }, 200],
      [{ pattern: '[ax]' }, 200],
      [{ pattern: 'x', context: 1, glob: 'f*' }, 200],
    ] as const) {
      const { call } = conversation(workspace);
      const found = await data<{ matches: number; files: { path: string }[]; cut: string }>(call('fs.search', args));
      const wanted = manyFiles.filter((path) => !('glob' in args) || path.startsWith('f'));
      assert.equal(found.matches, matches);
      assert.deepEqual(
        found.files.map(({ path }) => path),
        wanted.slice(0, args.pattern === 'x' ? 200 : 100),
      );
      assert.equal(found.cut, 'Only the first 200 matches. Narrow the pattern, or give a path or glob.');
    }
  });

  it('exactly as many as are told are all of them', async () => {
    workspace = await temporaryWorkspace({ 'a/a.txt': 'x\n'.repeat(150), 'a.txt': 'x\n'.repeat(50) });
    const { matches, files, cut } = await data<{ matches: number; files: { path: string }[]; cut?: string }>(
      conversation(workspace).call('fs.search', { pattern: 'x' }),
    );
    assert.deepEqual([matches, files.map(({ path }) => path), cut], [200, ['a/a.txt', 'a.txt'], undefined]);
  });

  it('goes on to the next folder only as far as it may', async () => {
    const files = { 'api/a.ts': 'x\n'.repeat(199), 'web/b.ts': 'x\nx\n', 'zoo/c.ts': 'x\n' };
    workspace = await temporaryWorkspace(files, { folders: ['api', 'web', 'zoo'] });
    const found = await data<{ matches: number; files: { path: string; lines: string[] }[]; cut?: string }>(
      conversation(workspace).call('fs.search', { pattern: 'x' }),
    );
    assert.deepEqual([found.matches, found.files.at(-1)], [200, { path: 'web/b.ts', lines: ['1: x'] }]);
    assert.ok(found.cut);
  });
});

describe('the first in order', () => {
  const paths = ['a/b/c', 'a/b.c', 'a-b', 'a.b/c', 'b', 'ä', '\uffee', '😀'];
  const hits = Array.from({ length: 3000 }, (_, at) => ({ path: `${paths[at % 8]}/${at % 800}`, at }));

  it('is that of the bytes, name by name', () => {
    const bytes = (path: string) => path.split('/').map((name) => Buffer.from(name).toString('hex'));
    const byBytes = (one: string, other: string) => {
      const [mine, theirs] = [bytes(one), bytes(other)];
      const at = mine.findIndex((name, index) => name !== theirs[index]);
      if (at < 0 || theirs[at] === undefined) return mine.length - theirs.length;
      return mine[at]! < theirs[at] ? -1 : 1;
    };
    const random = randomFrom(3);
    const made = Array.from({ length: 500 }, () =>
      Array.from({ length: 1 + random.upTo(5) }, () =>
        random.pick(['a', '-', '.', '/', 'é', '\uffee', '😀', '😁']),
      ).join(''),
    ).map((path) => path.replace(/^\/+|\/+$|(?<=\/)\/+/g, 'x'));
    assert.deepEqual(made.toSorted(comparePaths), made.toSorted(byBytes));
  });

  const ways = [
    ['is found by the one that goes in order', 'in order'],
    ['is found by the one that goes through all at once', 'at once'],
    ['is found when the one that goes in order fails', 'fails'],
    ['is found when the one that goes in order comes upon nothing', 'finds nothing'],
  ] as const;
  for (const [what, way] of ways)
    it(`${what}, and is the same`, async () => {
      const files = new Map<string, SearchHit[]>();
      for (const hit of hits) files.set(hit.path, [...(files.get(hit.path) ?? []), hit]);
      const sorted = [...files.keys()].sort(comparePaths).flatMap((path) => files.get(path)!);
      for (const most of [0, 1, 100, 2999, 3000]) {
        const taking = () => {
          let taken = 0;
          return () => ++taken <= most;
        };
        const found = await firstSortedHits({ run: race(sorted, way, most < 1000), taking }, never);
        assert.deepEqual(found.hits, sorted.slice(0, most + 1));
      }
    });

  /** Two that go through the same files. The one at once waits for the other where it `isEnough` early: for its beginning, or its end. */
  function race(
    sorted: readonly SearchHit[],
    way: (typeof ways)[number][1],
    isEnough: boolean,
  ): FileSearch<SearchHit>['run'] {
    const paths = [...new Set(sorted.map((hit) => hit.path))].reverse();
    const shuffled = paths.flatMap((path) => sorted.filter((hit) => hit.path === path));
    const inOrderRuns = async (onHit: (hit: SearchHit) => boolean, signal: AbortSignal) => {
      if (way === 'fails') throw new Error('it could not be started');
      if (way !== 'in order') await new Promise((resolve) => signal.addEventListener('abort', resolve));
      signal.throwIfAborted();
      return { cut: sorted.some((hit) => !onHit(hit)) };
    };
    let begin: (run: Promise<unknown>) => void;
    const begun = new Promise<unknown>((resolve) => {
      begin = (run) => resolve([run]); // as a list: a promise would be waited for
    });
    return async ({ inOrder, onHit, signal }) => {
      if (inOrder) {
        const run = inOrderRuns(onHit, signal);
        begin(run.catch(() => undefined));
        return run;
      }
      for (const hit of shuffled) onHit(hit);
      if (isEnough) {
        const [run] = (await begun) as [Promise<unknown>];
        if (way !== 'at once') await run;
      }
      signal.throwIfAborted();
      return { cut: false };
    };
  }
});

const odd = [
  'a.ts',
  'a.tsx',
  'b.md',
  '.hidden.ts',
  'src/a.ts',
  'src/é.ts',
  'src/日本/b.ts',
  'src/deep/er/c.test.ts',
  'src/odd.ts/p.ts',
  'src/odd.ts/p.txt',
  'src/with space /d.ts',
  'src/[x]/e.ts',
  'src/{y}/!f.ts',
  'src/#g/h.ts',
  'src/a-b/i.ts',
  'packages/one/src/j.ts',
  'packages/one/test/j.ts',
  'packages/two/src/k.css',
  'ws/a.ts',
  'ws/ws/a.ts',
  'dist/l.ts',
  'src/dist/m.ts',
  'n.log',
  'kept.log',
];

describe('what ripgrep is kept from by a glob', () => {
  const globs = [
    ...['*.ts', '*.{ts,tsx}', '**/*.md', 'a.ts', '*', '**', '**/*', './a.ts', '.*', 'src/', 'src/**', 'src/*', 'src/**/*.ts'],
    ...['src/?.ts', 'src/[é].ts', 'src/日本/**', 'src/日*/*', '**/with space /*', 'src/[[]x]/*', 'src/{y}/**', '**/!f.ts', '**/#g/**'],
    ...['{src,packages}/**/*.ts', 'packages/*/src/**', 'packages/{one/test,two/src}/*', '**/src/*.ts', '**/deep/**/*.test.ts', '**/{src,er}/*.{ts,test.ts}', '**/*.ts/**/*.ts'],
    ...['s{rc/**,}/a.ts', 'src{**}a.ts', 'src{/**/,/}a.ts', 'a{.ts', '{a,{b,c}}.*', 'src//a.ts', 'ws/a.ts', 'ws/**', '*/a.ts', '**/ws/**/a.ts'],
    ...['*.log', 'dist/*', '**/dist/**', 'kept.log', `{${'a,'.repeat(90)}b}.md`, `${'{a,b}'.repeat(9)}`, '*a*b*', '**/**/**', 'src/***/a.ts'],
  ]; // biome-ignore format: a table

  const names = async (prefix: string, glob?: string) => {
    const found: string[] = [];
    await withRipgrepExclusions(
      glob === undefined ? { options: [] } : globToRipgrepExclusions(glob, prefix),
      async (limits) => {
        const onName = (name: string) => found.push(name.slice(2)) > 0;
        const place = { folder: workspace.root, target: './', prefix };
        return runRipgrep(workspace, place, ['--files', ...limits], onName, never);
      },
    );
    return found.sort();
  };

  for (const prefix of ['', 'ws/', 'my/ws/'])
    it(`is never what it matches, below ${prefix || 'the only folder'}`, async () => {
      workspace = await temporaryWorkspace(Object.fromEntries(odd.map((path) => [path, ''])));
      workspace.write('.gitignore', 'dist/\n*.log\n!kept.log\n');
      const all = await names(prefix);
      assert.ok(all.includes('kept.log') && !all.includes('n.log') && !all.includes('dist/l.ts'));
      for (const glob of prefix === '' ? globs : globs.filter((one) => /ws|^\*|^[^/]*$/.test(one))) {
        const matches = createGlobMatcher(glob);
        const isMatch = (path: string) => matches(path) || matches(prefix + path);
        const limited = await names(prefix, glob);
        assert.deepEqual(limited.filter(isMatch), all.filter(isMatch), glob);
        assert.deepEqual(
          limited.filter((path) => !all.includes(path)),
          [],
          `${glob}: what is ignored`,
        );
      }
    });

  const plain: [glob: string, prefix: string, told: string[]][] = [
    ['*.md', '', ['b.md']],
    ['**/*.{md,css}', '', ['b.md', 'packages/two/src/k.css']],
    ['packages/*/src/**', '', ['packages/one/src/j.ts', 'packages/two/src/k.css']],
    ['ws/packages/one/**', 'ws/', ['packages/one/src/j.ts', 'packages/one/test/j.ts']],
    ['src/deep/**/*.ts', '', ['src/deep/er/c.test.ts']],
    ['nowhere/**', '', []],
  ];
  for (const [glob, prefix, told] of plain)
    it(`is all but ${told.join(', ') || 'nothing'} for ${glob}`, async () => {
      workspace = await temporaryWorkspace(Object.fromEntries(odd.map((path) => [path, ''])));
      assert.deepEqual(await names(prefix, glob), told);
    });

  it('is not even read', async function () {
    if (process.platform === 'win32') this.skip();
    workspace = await temporaryWorkspace({ 'a.ts': 'needle', 'b/c.md': 'needle', 'b/d.ts': 'needle' });
    const spy = paths.join(workspace.root, '..', 'rg.sh');
    workspace.write('../rg.sh', `#!/bin/sh\n"${workspace.ripgrep}" "$@" | tee -a "${spy}.said"\n`);
    chmodSync(spy, 0o755);
    Object.assign(workspace, { ripgrep: spy });
    const { call } = conversation(workspace);
    await data(call('fs.search', { pattern: 'needle', glob: 'b/*.md' }));
    await data(call('fs.find', { pattern: '*.md' }));
    const said = readFileSync(`${spy}.said`, 'utf8');
    assert.ok(said.includes('c.md') && !said.includes('a.ts') && !said.includes('d.ts'), said);
  });
});

describe('a ripgrep that ends in the middle', () => {
  it('is a failure, not an answer', async function () {
    if (process.platform === 'win32') this.skip();
    workspace = await temporaryWorkspace({ 'a.txt': 'x\n' });
    const begin = JSON.stringify({ type: 'begin', data: { path: { text: './a.txt' } } });
    for (const end of ['kill -9 $$', 'printf {']) {
      workspace.write('../rg.sh', `#!/bin/sh\necho '${begin}'\n${end}\n`);
      chmodSync(paths.join(workspace.root, '..', 'rg.sh'), 0o755);
      Object.assign(workspace, { ripgrep: paths.join(workspace.root, '..', 'rg.sh') });
      const { code, message } = await error(conversation(workspace).call('fs.search', { pattern: 'x' }));
      assert.deepEqual([code, message], ['TOOL_EXEC_FAILED', 'ripgrep ended in the middle of its answer.']);
    }
  });
});

describe('a folder that becomes a link out of the workspace', () => {
  it('while it is searched is not told of', async function () {
    if (process.platform === 'win32') this.skip();
    workspace = await temporaryWorkspace({ '../outside/a.txt': 'needle', '../rg.sh': '' });
    const rg = workspace.ripgrep;
    workspace.write('../rg.sh', `#!/bin/sh\nrm -rf sub\nln -s ../outside sub\nexec "${rg}" "$@"\n`);
    chmodSync(paths.join(workspace.root, '..', 'rg.sh'), 0o755);
    Object.assign(workspace, { ripgrep: paths.join(workspace.root, '..', 'rg.sh') });
    for (const [tool, args] of [
      ['fs.search', { pattern: 'needle', path: 'sub' }],
      ['fs.search', { pattern: 'needle', path: 'sub/a.txt' }],
      ['fs.find', { pattern: '*.txt', path: 'sub' }],
    ] as const) {
      rmSync(paths.join(workspace.root, 'sub'), { recursive: true, force: true });
      workspace.write('sub/a.txt', 'mine');
      assert.equal((await error(conversation(workspace).call(tool, args))).reason, 'SYMLINK_ESCAPE');
    }
  });
});

describe('a named file', () => {
  it('is searched, or not, by its glob', async () => {
    workspace = await temporaryWorkspace({ 'a.ts': 'x\n', 'dist/b.ts': 'x\n', '.gitignore': 'dist/\n' });
    const { call } = conversation(workspace);
    const matches = async (path: string, glob: string) =>
      (await data<{ matches: number }>(call('fs.search', { pattern: 'x', path, glob }))).matches;
    assert.deepEqual([await matches('a.ts', '*.ts'), await matches('a.ts', '*.md')], [1, 0]);
    assert.deepEqual([await matches('dist/b.ts', 'dist/*.ts'), await matches('dist/b.ts', 'src/*.ts')], [1, 0]);
  });
});

describe('an ignore file above the workspace', () => {
  for (const [file, line] of [
    ['.gitignore', 'b/'],
    ['.ignore', '/ws/b/'],
    ['.rgignore', '*.ts'],
    ['.git/info/exclude', 'c.ts'],
  ] as const)
    it(`counts: ${file}`, async () => {
      workspace = await temporaryWorkspace({ 'a.md': 'x\n', 'b/c.ts': 'x\n' });
      const { call } = conversation(workspace);
      const found = async () => [
        (await data<{ files: string[] }>(call('fs.find', { pattern: '*' }))).files,
        (await data<{ files: { path: string }[] }>(call('fs.search', { pattern: 'x' }))).files.map(({ path }) => path),
        (await data<{ files: string[] }>(call('fs.find', { pattern: '*', path: 'b' }))).files,
      ];
      assert.deepEqual(await found(), [['a.md', 'b/c.ts'], ['a.md', 'b/c.ts'], ['b/c.ts']]);
      workspace.write(`../${file}`, `${line}\n`);
      const below = line.endsWith('/') ? ['b/c.ts'] : []; // who names a folder means it
      assert.deepEqual(await found(), [['a.md'], ['a.md'], below]);
    });
});

describe('what is being written or deleted just now', () => {
  it('is not told', async () => {
    const id = '01234567-89ab-cdef-0123-456789abcdef';
    workspace = await temporaryWorkspace({
      'a.ts': 'x\n',
      [`b/.towpath-12345-${id}.tmp`]: 'x\n',
      [`b/.towpath-0123456789abcdef-${id}/c.ts`]: 'x\n',
      'b/.towpath-mine/d.ts': 'x\n',
    });
    const { call } = conversation(workspace);
    const told = ['a.ts', 'b/.towpath-mine/d.ts'];
    assert.deepEqual(await data(call('fs.find', { pattern: '*' })), { files: told });
    const { files } = await data<{ files: { path: string }[] }>(call('fs.search', { pattern: 'x' }));
    assert.deepEqual(
      files.map(({ path }) => path),
      told,
    );
    const { note } = await data<{ note: string }>(call('fs.find', { pattern: `towpath-12345-${id}.tmp` }));
    assert.doesNotMatch(note, /mean/);
  });
});

describe('a file name of several lines', () => {
  it('is one name', async function () {
    if (process.platform === 'win32') this.skip();
    workspace = await temporaryWorkspace({ 'a\nb.ts': '', 'c.ts\r': '' });
    const found = await data(conversation(workspace).call('fs.find', { pattern: '*' }));
    assert.deepEqual(found, { files: ['a\nb.ts', 'c.ts\r'] });
  });
});
