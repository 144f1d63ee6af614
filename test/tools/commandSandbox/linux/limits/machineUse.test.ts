import assert from 'node:assert/strict';
import { parseMemory, parseThreads } from '../../../../../src/tools/commandSandbox/linux/limits/machineUse.ts';

const memory = `MemTotal:       1000 kB
MemFree:         100 kB
MemAvailable:    600 kB
SwapTotal:       500 kB
SwapFree:        400 kB
`;

describe('the use of a machine', () => {
  it('counts memory that cannot be given back, and swap', () =>
    assert.deepEqual(parseMemory(memory), { usedMemory: 500 * 1024, freeMemory: 1000 * 1024 }));

  it('counts threads of all processes', () => assert.equal(parseThreads('0.20 0.18 0.12 1/80 11206\n'), 80));
});
