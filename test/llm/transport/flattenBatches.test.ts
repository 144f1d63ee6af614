import assert from 'node:assert/strict';
import { flattenBatches } from '../../../src/llm/transport/flattenBatches.ts';

async function* of<Item>(...batches: (Item[] | Error)[]): AsyncGenerator<Item[], void> {
  for (const batch of batches) {
    if (batch instanceof Error) throw batch;
    yield batch;
  }
}

describe('batches, one by one', () => {
  it('are the items in order, empty batches or not', async () => {
    assert.deepEqual(await all(flattenBatches(of([1, 2], [], [3]))), [1, 2, 3]);
  });
  it('give what came before an error, then the error, then nothing', async () => {
    const items = flattenBatches(of([1], new Error('broken')));
    assert.deepEqual(await items.next(), { value: 1, done: false });
    await assert.rejects(items.next(), /broken/);
    assert.deepEqual(await items.next(), { value: undefined, done: true });
  });
  it('end where the reader leaves, and so do the batches', async () => {
    let closed = false;
    const endless = async function* () {
      try {
        for (;;) yield [1, 2, 3];
      } finally {
        closed = true;
      }
    };
    const items = flattenBatches(endless());
    for await (const item of items) if (item === 2) break;
    assert.equal(closed, true);
    assert.deepEqual(await items.next(), { value: undefined, done: true });
  });
  it('end at a stop with its reason, whatever of a batch is still there', async () => {
    const stop = new AbortController();
    const items = flattenBatches(of([1, 2, 3], [4]), stop.signal);
    assert.deepEqual(await items.next(), { value: 1, done: false });
    stop.abort(new Error('stopped'));
    await assert.rejects(items.next(), /stopped/);
    assert.deepEqual(await items.next(), { value: undefined, done: true });
  });
});

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}
