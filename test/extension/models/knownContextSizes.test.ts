import assert from 'node:assert/strict';
import { KnownContextSizes } from '../../../src/extension/models/knownContextSizes.ts';
import { eventually } from '../../support/eventually.ts';

/** Memory of the editor, which outlives its windows. */
function memory(stored?: unknown) {
  const values = new Map<string, unknown>(stored === undefined ? [] : [['towpath.contextWindows', stored]]);
  return {
    values,
    get: <Value>(name: string) => values.get(name) as Value,
    update: async (name: string, value: unknown) => void values.set(name, JSON.parse(JSON.stringify(value))),
  };
}

describe('sizes of context windows', () => {
  it('are asked for once per window of the editor, and known in the next one before anybody asks', async () => {
    const stored = memory();
    let changes = 0;
    const windows = new KnownContextSizes(stored as never, () => changes++);
    let asked = 0;
    for (let times = 0; times < 3; times++)
      windows.ask('a/one http://here', async () => {
        asked++;
        return 32_768;
      });
    await eventually('it is known', () => windows.of('a/one http://here') === 32_768);
    assert.deepEqual([asked, changes, windows.of('a/one http://there')], [1, 1, undefined]);
    const next = new KnownContextSizes(stored as never, () => changes++);
    assert.equal(next.of('a/one http://here'), 32_768);
    next.ask('a/one http://here', async () => 65_536);
    await eventually('another size counts', () => next.of('a/one http://here') === 65_536);
    next.ask('a/two http://here', async () => undefined);
    assert.equal(next.of('a/two http://here'), undefined);
  });

  it('are asked for again after a failure, and stay as they were meanwhile', async () => {
    const windows = new KnownContextSizes(memory([['a/one x', 8000]]) as never, () => {});
    let asked = 0;
    await eventually('it is asked for twice', () => {
      windows.ask('a/one x', async () => {
        asked++;
        throw new Error('Nobody answers.');
      });
      return asked >= 2;
    });
    assert.equal(windows.of('a/one x'), 8000);
  });

  it('are the newest hundred', async () => {
    const stored = memory();
    const windows = new KnownContextSizes(stored as never, () => {});
    for (let at = 0; at < 120; at++) windows.ask(`a/${at}`, async () => 1000 + at);
    await eventually('the last is known', () => windows.of('a/119') === 1119);
    await eventually('it is stored', () => (stored.values.get('towpath.contextWindows') as unknown[])?.length === 100);
    assert.equal(windows.of('a/0'), undefined);
  });

  for (const odd of [5, 'x', [1], [['a', 'b']], [['a', -1]], { a: 1 }, null])
    it(`${JSON.stringify(odd)}, which something else has stored, is nothing`, () =>
      assert.equal(new KnownContextSizes(memory(odd) as never, () => {}).of('a'), undefined));
});
