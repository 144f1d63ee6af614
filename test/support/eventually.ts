import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long a test waits for what has to happen: so long that only what hangs passes it, on a machine ten times too busy, too. */
export const patienceMs = 150_000;

/** Polls until `what` holds: an effect in the editor comes after the click that caused it. `ms` is for what may as well not come. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  ms = patienceMs,
): Promise<void> {
  const deadline = Date.now() + ms;
  for (let wait = 10; !(await holds()); wait = Math.min(wait * 1.5, 50)) {
    if (Date.now() > deadline) assert.fail(`${what}: not within ${ms / 1000} s`);
    await sleep(wait); // longer and longer: looking costs what is waited for the processor
  }
}
