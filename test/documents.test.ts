import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { invariantsFile } from './support/help/pages.ts';
import { invariants, invariantsIn, invariantsPage, testsOf } from './support/invariants.ts';

const root = path.resolve(import.meta.dirname, '..');
const documents = [
  ...readdirSync(root),
  ...['src', 'webview'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => path.join(folder, file)),
  ),
].filter((file) => file.endsWith('.md'));

/** Paths of the repository that a text names: targets of links to files, and paths in backticks. */
function pathsIn(file: string, text: string): string[] {
  const folder = path.dirname(file);
  const links = [...text.matchAll(/\]\((?!https?:|mailto:|command:|#)([^)#\s]+)(?:#[^)]*)?\)/g)].map((link) =>
    path.join(folder, decodeURI(link[1]!)),
  );
  const named = [...text.matchAll(/`((?:src|webview|test)\/[\w./-]+)`/g)].map((name) => name[1]!);
  return [...links, ...named];
}

describe('The documents of the repository', () => {
  for (const file of documents)
    it(`${file} names paths that exist`, () => {
      const text = readFileSync(path.join(root, file), 'utf8').replace(/^```[\s\S]*?^```/gm, '');
      const missing = pathsIn(file, text).filter((one) => !existsSync(path.join(root, one)));
      assert.deepEqual(missing, []);
    });

  for (const file of documents.filter((one) => one !== 'CHANGELOG.md'))
    it(`${file} has no line of more than 200 characters, except in tables`, () => {
      const lines = readFileSync(path.join(root, file), 'utf8').split('\n');
      assert.deepEqual(
        lines.filter((line) => line.length > 200 && !line.startsWith('|')),
        [],
      );
    });

  const limits: [file: RegExp, words: number][] = [
    [/^README\.md$/, 900],
    [/^CONTRIBUTING\.md$/, 700],
    [/^AGENTS\.md$/, 400],
    [/^src\/README\.md$/, 2000],
    [/^src\/decisions\//, 250],
    [/^(src\/\w+|webview)\/README\.md$/, 150],
    [/^src\/help\/developing\.md$/, 600],
  ];
  for (const file of documents) {
    const [, limit] = limits.find(([pattern]) => pattern.test(file.split(path.sep).join('/'))) ?? [];
    if (limit === undefined) continue;
    it(`${file} has at most ${limit} words`, () => {
      const words = readFileSync(path.join(root, file), 'utf8')
        .split(/\s+/)
        .filter((word) => /[\p{L}\d]/u.test(word)).length;
      assert.ok(words <= limit, `${words} words`);
    });
  }

  it('every top folder says what it contains, what it may import, and where to start', () => {
    const folders = readdirSync(path.join(root, 'src'), { withFileTypes: true }).filter((one) => one.isDirectory());
    const silent = [...folders.map(({ name }) => `src/${name}`), 'webview'].filter(
      (folder) => !/src\/(help|decisions)$/.test(folder) && !existsSync(path.join(root, folder, 'README.md')),
    );
    assert.deepEqual(silent, []);
  });

  it('src/concepts.md names an export of a file in each row, and at most 80', () => {
    const rows = readFileSync(path.join(root, 'src/concepts.md'), 'utf8').matchAll(
      /^\|.*\| `(\w+)` \| `([^`]+)` \|$/gm,
    );
    const all = [...rows].map(([, name, file]) => ({ name: name!, file: file! }));
    assert.ok(all.length > 50 && all.length <= 80, `${all.length} rows`);
    const missing = all.filter(({ name, file }) => {
      const text = readFileSync(path.join(root, file), 'utf8');
      return !new RegExp(
        `^export (?:async |abstract )?(?:class|interface|type|const|function\\*?) ${name}\\b`,
        'm',
      ).test(text);
    });
    assert.deepEqual(missing, []);
  });

  it('src/invariants.md is what the sources say, and each invariant is held by a test', () => {
    const all = invariants(root);
    const slugs = all.map(({ slug }) => slug);
    assert.deepEqual(
      slugs.filter((slug, index) => slugs.indexOf(slug) !== index),
      [],
      'a slug is unique',
    );
    assert.deepEqual(
      slugs.filter((slug) => testsOf(root, slug).length === 0),
      [],
    );
    assert.deepEqual(
      all.filter(({ sentence }) => !sentence.endsWith('.')),
      [],
      'a whole sentence',
    );
    assert.equal(readFileSync(invariantsFile, 'utf8'), invariantsPage(root));
  });

  it('read an invariant to the end of its comment', () => {
    const text =
      '// @invariant a-b: One line\n// and another.\nimport x;\n/**\n * Text.\n * @invariant c: It holds.\n */\n';
    assert.deepEqual(
      invariantsIn('a.ts', text).map(({ slug, sentence }) => `${slug}: ${sentence}`),
      ['a-b: One line and another.', 'c: It holds.'],
    );
  });

  it('tell of a path that does not exist', () => {
    assert.deepEqual(pathsIn('src/a.md', '[b](help/b.md#c) and `test/none.ts`, `npm test`, [d](https://d.example)'), [
      'src/help/b.md',
      'test/none.ts',
    ]);
  });
});
