import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const folder = path.join(import.meta.dirname, '../../../src/extension');
const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .sort();

// The editor makes links of `[text](command:…)` in these texts; only dialogs (`modal`) show them as they are.
const places = [
  /show(?:Information|Warning|Error)Message\(\s*(?<text>withoutLinks\(|`[^`]*`|[\w.]+\([^()]*\)|[\w.]+|'[^']*')(?!.{0,20}modal)/gs,
  /progress\.report\(\{ message(?<text>: [^,}]*|)/g,
];

describe('what a notification says', () => {
  for (const name of names)
    it(`${name}: text of others makes no link in it`, () => {
      const source = readFileSync(path.join(folder, name), 'utf8');
      const said = places.flatMap((place) => [...source.matchAll(place)]);
      const risky = said.filter(({ groups }) => {
        const text = groups!.text!.replace(/^: /, '');
        return !text.startsWith("'") && !text.startsWith('withoutLinks(');
      });
      assert.deepEqual(
        risky.map(([whole]) => whole),
        [],
      );
    });

  it('dialogs are shown from two places, which give the keys back where they were', () => {
    const sources = names.filter((name) => /modal: true/.test(readFileSync(path.join(folder, name), 'utf8')));
    assert.deepEqual(sources, ['dialogs/modals.ts', 'gate/approvals.ts']);
  });
});
