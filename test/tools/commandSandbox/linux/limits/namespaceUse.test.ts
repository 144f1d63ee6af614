import assert from 'node:assert/strict';
import { parseShare, parseStatus } from '../../../../../src/tools/commandSandbox/linux/limits/namespaceUse.ts';

describe('the use of a process', () => {
  it('is memory of its own, swapped memory, and shared memory without files', () =>
    assert.deepEqual(
      parseStatus('Name:\tx\nRssAnon:\t   10 kB\nRssFile:\t  99 kB\nRssShmem:\t 3 kB\nVmSwap:\t 5 kB\nThreads:\t7\n'),
      { threads: 7, own: 15 * 1024, shared: 3 * 1024 },
    ));

  it('is nothing after its end', () => assert.deepEqual(parseStatus(''), { threads: 0, own: 0, shared: 0 }));

  it('is its share of what several processes use', () =>
    assert.deepEqual(
      parseShare('Rss: 900 kB\nPss_Anon: 10 kB\nPss_File: 99 kB\nPss_Shmem: 4 kB\nSwap: 8 kB\nSwapPss: 2 kB\n'),
      { own: 12 * 1024, shared: 4 * 1024 },
    ));
});
