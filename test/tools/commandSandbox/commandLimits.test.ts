import assert from 'node:assert/strict';
import { exceededDisk, exceededMemory, limitsFor } from '../../../src/tools/commandSandbox/commandLimits.ts';

const gigabyte = 1024 ** 3;
const machine = { memory: 16 * gigabyte, freeMemory: 8 * gigabyte, disk: 500 * gigabyte, freeDisk: 100 * gigabyte };

describe('the limits of a command', () => {
  it('are shares of the machine', () =>
    assert.deepEqual(limitsFor(machine), {
      maxMemory: 12 * gigabyte,
      maxProcesses: 2048,
      minFreeMemory: gigabyte / 2,
      minFreeDisk: gigabyte,
    }));

  it('do not end a command because the machine was nearly full before', () => {
    const { minFreeMemory, minFreeDisk } = limitsFor({ ...machine, freeMemory: 1000, freeDisk: 600 });
    assert.deepEqual([minFreeMemory, minFreeDisk], [500, 300]);
  });

  it('are named with their size', () => {
    const limits = limitsFor({ ...machine, disk: 10 * gigabyte });
    assert.deepEqual(
      [exceededMemory(limits).message, exceededDisk(limits).message],
      [
        'The command used more than 12 GB of memory and was stopped.',
        'Less than 512 MB was free on the disk, so that the command was stopped.',
      ],
    );
  });
});
