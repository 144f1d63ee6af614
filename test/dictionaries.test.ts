import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import ts from 'typescript';
import { newRun, restoreRunDictionaries } from '../src/protocol/run/run.ts';
import { createDictionary, sortedDictionaryEntries, toDictionary } from '../src/protocol/values/dictionary.ts';
import { keyBreaches } from './support/dictionaries.ts';

const root = path.resolve(import.meta.dirname, '..');
const sources = (folder: string) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => path.join(root, folder, file));

/** Holds the invariant `dictionary-keys`. */
describe('records with keys from outside', () => {
  const options = (folder: string): ts.CompilerOptions =>
    ts.parseJsonConfigFileContent(
      ts.readConfigFile(path.join(root, folder, 'tsconfig.json'), ts.sys.readFile).config,
      ts.sys,
      path.join(root, folder),
    ).options;

  it('are dictionaries everywhere, and nowhere listed in the order of their keys', () => {
    assert.deepEqual(keyBreaches([...sources('src'), ...sources('webview')], options('.'), root), []);
  });

  it('are noticed where they are not', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'dictionaries-'));
    try {
      const file = path.join(folder, 'a.ts');
      const from = path.join(root, 'src/protocol/values/dictionary.ts');
      const text = `
import { createDictionary, type Dictionary } from '${from}';
const made: Dictionary<number> = {};
const right = createDictionary<number>();
const plain: Record<string, number> = {};
const table: Record<'a' | 'b', number> = { a: 1, b: 2 };
declare const name: string;
declare const known: 'a' | 'b';
plain[name] = 1;
delete plain[name];
plain['a'] = 1;
table[known] = 1;
right[name] = 1;
for (const key in right) key.length;
export const all = [Object.entries(right), Object.keys(plain), made];
`;
      writeFileSync(file, text);
      assert.deepEqual(keyBreaches([file], { ...options('.'), types: [] }, folder), [
        'a.ts:3 makes a Dictionary with a prototype: {}',
        'a.ts:9 writes any name into a record that is no Dictionary: plain[name]',
        'a.ts:10 writes any name into a record that is no Dictionary: plain[name]',
        'a.ts:14 goes by the order of keys: for (const key in right) key.length;',
        'a.ts:15 goes by the order of keys: Object.entries(right)',
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('have any name for a key, also after a way through JSON, and are listed by name', () => {
    const made = createDictionary<number>();
    for (const [at, name] of ['b', '__proto__', 'constructor', '10', '9'].entries()) made[name] = at;
    assert.equal(made.toString, undefined);
    const back = toDictionary(JSON.parse(JSON.stringify(made)) as Record<string, number>);
    for (const one of [made, back])
      assert.deepEqual(sortedDictionaryEntries(one), [
        ['10', 3],
        ['9', 4],
        ['__proto__', 1],
        ['b', 0],
        ['constructor', 2],
      ]);
    const run = newRun('one');
    run.calls.__proto__ = { status: 'done' };
    const { calls } = restoreRunDictionaries(JSON.parse(JSON.stringify(run)));
    assert.deepEqual([calls.__proto__, calls.constructor], [{ status: 'done' }, undefined]);
  });
});
