import assert from 'node:assert/strict';
import path from 'node:path';
import {
  exportedNames,
  privateNames,
  privateWords,
  repeatedNames,
  sharedFileNames,
  unusedNames,
  wordsIn,
} from './support/exportedNames.ts';

const root = path.resolve(import.meta.dirname, '..');

describe('Exported names', () => {
  const names = exportedNames(root);

  it('are terms of the field', () => {
    assert.ok(names.length > 2000, `${names.length} names`);
    assert.deepEqual(privateNames(names), [], `Use another term: ${JSON.stringify(privateWords)}`);
  });

  it('are exported from one file, except for the files of providers', () => assert.deepEqual(repeatedNames(names), []));

  it('are used by another file', () => assert.deepEqual(unusedNames(root, names), []));

  it('stand in files of which at most 150 share their name', () => {
    const shared = sharedFileNames(root);
    assert.ok(shared.length <= 150, `${shared.length} files`);
  });

  it('are found by their words, however they are written', () => {
    assert.deepEqual(
      privateNames(
        ['toldEnds', 'mostCalls', 'atMost', 'LENT_TOOLS', 'placeholderOf', 'replaceAll'].map((name) => ({
          name,
          file: 'a.ts',
        })),
      ),
      ['a.ts toldEnds', 'a.ts mostCalls', 'a.ts LENT_TOOLS'],
    );
    assert.deepEqual(wordsIn('readURLOf_now'), ['read', 'URL', 'Of', 'now']);
  });

  it('may be the same in two files of providers, and nowhere else', () =>
    assert.deepEqual(
      repeatedNames([
        { name: 'toWire', file: 'src/llm/google/wire.ts' },
        { name: 'toWire', file: 'src/llm/ollama/wire.ts' },
        { name: 'Row', file: 'src/tools/a.ts' },
        { name: 'Row', file: 'src/tools/b.ts' },
      ]),
      ['Row: src/tools/a.ts, src/tools/b.ts'],
    ));
});
