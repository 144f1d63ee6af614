import assert from 'node:assert/strict';
import { promises as fs, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isLocked, takeLock } from '../../src/runs/lock.ts';

describe('a lock', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'lock-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is taken by one of many, and can be looked at meanwhile', async () => {
    const file = path.join(folder, 'lock');
    for (let round = 0; round < 50; round++) {
      assert.equal(await isLocked(file), false);
      const looks = Promise.all(Array.from({ length: 8 }, () => isLocked(file)));
      const tries = await Promise.allSettled(Array.from({ length: 8 }, () => takeLock(file)));
      const taken = tries.filter((one) => one.status === 'fulfilled');
      assert.equal(taken.length, 1);
      await looks;
      assert.equal(await isLocked(file), true);
      await taken[0]!.value.release();
    }
    assert.deepEqual(await fs.readdir(folder), [], 'nothing is left beside it');
  });

  it('of a process that is gone is none', async () => {
    const file = path.join(folder, 'lock');
    await fs.writeFile(file, JSON.stringify({ pid: 2 ** 22 + 1, id: 'no such process' }));
    assert.equal(await isLocked(file), false);
    const lock = await takeLock(file);
    assert.equal(await isLocked(file), true);
    await lock.release();
  });
});
