import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPausableTimeout } from '../../../src/tools/shell/pausableTimeout.ts';

describe('a time limit that can pause', () => {
  it('expires', async () => assert.equal(await createPausableTimeout(5).expired, 'timeout'));

  it('does not expire during a pause; pauses overlap, and each ends once', async () => {
    const time = createPausableTimeout(20);
    const [first, second] = [time.pause(), time.pause()];
    first();
    first();
    assert.equal(await Promise.race([time.expired, sleep(60)]), undefined);
    second();
    assert.equal(await time.expired, 'timeout');
  });

  it('does not expire after its end', async () => {
    const time = createPausableTimeout(10);
    const resume = time.pause();
    time.end();
    resume();
    assert.equal(await Promise.race([time.expired, sleep(40)]), undefined);
  });
});
