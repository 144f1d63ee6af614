import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const documents = [
  ...readdirSync(root),
  ...readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' }).map((file) => path.join('src', file)),
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

  for (const file of documents.filter((one) => one === 'README.md' || path.dirname(one) === path.join('src', 'help')))
    it(`${file} has no line of more than 200 characters, except in tables`, () => {
      const lines = readFileSync(path.join(root, file), 'utf8').split('\n');
      assert.deepEqual(
        lines.filter((line) => line.length > 200 && !line.startsWith('|')),
        [],
      );
    });

  it('tell of a path that does not exist', () => {
    assert.deepEqual(pathsIn('src/a.md', '[b](help/b.md#c) and `test/none.ts`, `npm test`, [d](https://d.example)'), [
      'src/help/b.md',
      'test/none.ts',
    ]);
  });
});
