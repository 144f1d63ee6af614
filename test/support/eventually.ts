import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

/** Polls until `what` holds: an effect in the editor comes after the click that caused it. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>, ms = 100_000): Promise<void> {
  const deadline = Date.now() + ms;
  while (!(await holds())) {
    if (Date.now() > deadline) assert.fail(`${what}: not within ${ms} ms`);
    await sleep(25);
  }
}
