import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { RequestClock } from '../../../src/tools/mcp/request.ts';
import { eventually } from '../../support/eventually.ts';

describe('MCP: the time limit of a call', () => {
  it('does not run while the user is asked, and goes on afterwards', async () => {
    const clock = new RequestClock();
    const late: string[] = [];
    clock.start(50, () => late.push('before'));
    await clock.pauseDuring(async () => {
      clock.start(20, () => late.push('meanwhile'));
      await clock.pauseDuring(() => sleep(100));
      await sleep(20);
      assert.deepEqual(late, []);
    });
    await eventually('both run out', () => late.length === 2);
  });

  it('ends with the call', async () => {
    const clock = new RequestClock();
    const late: string[] = [];
    const stop = clock.start(10, () => late.push('ended'));
    await clock.pauseDuring(async () => stop());
    clock.start(20, () => late.push('other'));
    await eventually('the other one runs out', () => late.length > 0);
    assert.deepEqual(late, ['other']);
  });
});
