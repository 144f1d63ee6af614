import assert from 'node:assert/strict';
import { createConcurrencyLimiter, mapLimit } from '../../../src/protocol/values/concurrency.ts';

describe('work with a limit', () => {
  /** Work that is ended from outside, and what happened so far. */
  function works(limit: ReturnType<typeof createConcurrencyLimiter>) {
    const log: string[] = [];
    const ends = new Map<string, { resolve: (name: string) => void; reject: (error: Error) => void }>();
    const add = (name: string) =>
      limit(() => {
        log.push(`${name} starts`);
        return new Promise<string>((resolve, reject) => ends.set(name, { resolve, reject }));
      }).then(
        (value) => void log.push(`${value} ends`),
        (error: Error) => void log.push(`${name} fails: ${error.message}`),
      );
    return {
      log,
      add,
      end: (name: string) => ends.get(name)!.resolve(name),
      fail: (name: string) => ends.get(name)!.reject(new Error('full')),
    };
  }

  it('starts at once up to the limit, then in order', async () => {
    const { log, add, end } = works(createConcurrencyLimiter(2));
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(add);
    assert.deepEqual(log, ['a starts', 'b starts']);
    end('b');
    await b;
    assert.deepEqual(log.sort(), ['a starts', 'b ends', 'b starts', 'c starts']);
    for (const [name, work] of [
      ['a', a],
      ['c', c],
    ] as const) {
      end(name);
      await work;
    }
    end('d');
    await d;
    assert.equal(log.at(-1), 'd ends');
  });

  it('goes on after a failure', async () => {
    const { log, add, end, fail } = works(createConcurrencyLimiter(1));
    const [a, b] = ['a', 'b'].map(add);
    fail('a');
    await a;
    end('b');
    await b;
    assert.deepEqual(log, ['a starts', 'b starts', 'a fails: full', 'b ends']);
  });

  it('that fails together does not start what waits', async () => {
    const { log, add, end, fail } = works(createConcurrencyLimiter(1, true));
    const all = ['a', 'b', 'c'].map(add);
    fail('a');
    await Promise.all(all);
    assert.deepEqual(log.sort(), ['a fails: full', 'a starts', 'b fails: full', 'c fails: full']);
    const later = add('d');
    end('d');
    await later;
    assert.deepEqual(log.slice(-2), ['d starts', 'd ends']);
  });

  it('maps in the order of the items, and rejects with the first failure', async () => {
    let working = 0;
    let most = 0;
    const slow = async (item: number) => {
      most = Math.max(most, ++working);
      await new Promise(setImmediate);
      working--;
      if (item < 0) throw new Error(`item ${item}`);
      return item * 2;
    };
    assert.deepEqual(await mapLimit([1, 2, 3, 4, 5], 2, slow), [2, 4, 6, 8, 10]);
    assert.equal(most, 2);
    await assert.rejects(mapLimit([1, -2, 3], 2, slow), /item -2/);
  });
});
