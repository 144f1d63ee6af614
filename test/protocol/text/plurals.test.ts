import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { englishCount } from '../../../src/protocol/text/plurals.ts';

describe('what is counted', () => {
  const cases: [number: number, words: [string, string?], said: string][] = [
    [0, ['call'], '0 calls'],
    [1, ['call'], '1 call'],
    [2, ['model call'], '2 model calls'],
    [12_345, ['token'], '12,345 tokens'],
    [1, ['branch', 'branches'], '1 branch'],
    [3, ['branch', 'branches'], '3 branches'],
  ];
  for (const [number, words, said] of cases)
    it(`reads: ${said}`, () => assert.equal(englishCount(number, ...words), said));

  it('is said by one function: nobody puts an s to a noun by himself', () => {
    const root = path.resolve(import.meta.dirname, '../../..');
    const files = ['src', 'webview'].flatMap((folder) =>
      readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => path.join(folder, file)),
    );
    // `=== 1 ? '' : 's'`, `=== 1 ? 'run' : 'runs'`, `=== 1 ? 'One run' : …`
    const own = /[!=]== 1 \? (?:['"`]['"`] : ['"`]s['"`]|['"`](?:One |A |1 )?(\w+)['"`] : [^\n]*\b\1(?:s|es)\b)/;
    const offenders = files.filter((file) => own.test(readFileSync(path.join(root, file), 'utf8')));
    assert.deepEqual(offenders, []);
    for (const written of ["n === 1 ? '' : 's'", "n === 1 ? 'node' : 'nodes'", "n === 1 ? '1 day' : 'many days'"])
      assert.match(written, own);
  });
});
