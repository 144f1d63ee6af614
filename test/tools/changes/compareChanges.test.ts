import assert from 'node:assert/strict';
import { compareFileVersions } from '../../../src/tools/changes/compareChanges.ts';

describe('what is left of a change', () => {
  const before = ['a', 'b', 'c', 'd', 'e', 'f', ''].join('\n');
  const left = before.replace('b\n', 'B\n').replace('e\n', 'E\nE2\n');
  const cases: [name: string, now: string | null, expected: object][] = [
    ['all of it', left, { added: 3, removed: 2, places: 2, taken: 0, others: false, goneLines: [] }],
    ['a part', before.replace('e\n', 'E\nE2\n'), { added: 2, removed: 1, places: 2, taken: 1, others: false, goneLines: ['-b', '+B'] }],
    ['nothing', before, { added: 0, removed: 0, places: 2, taken: 2, others: false, goneLines: ['-b', '+B', '-e', '+E', '+E2'] }],
    ['it, and more', `${left}mine\n`, { added: 4, removed: 2, places: 2, taken: 0, others: true, goneLines: [] }],
    ['something else in its place', left.replace('B\n', 'mine\n'), { added: 3, removed: 2, places: 2, taken: 0, others: true, goneLines: [] }],
    ['no file', null, { added: 0, removed: 6, places: 2, taken: 0, others: true, goneLines: [] }],
  ]; // biome-ignore format: a table
  for (const [name, now, expected] of cases)
    it(name, () => assert.deepEqual(compareFileVersions(before, left, now), expected));

  it('is not looked for in what is too long', () => {
    assert.equal(compareFileVersions(before, left, 'x'.repeat(1_000_001)), undefined);
  });
});
