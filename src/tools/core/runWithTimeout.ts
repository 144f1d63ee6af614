import { runInNewContext } from 'node:vm';

/** Milliseconds that a schema of somebody else gets: it can keep the editor busy for ever. */
const patience = 500;

/** Does what a schema of somebody else says; undefined where it takes longer than its time, or throws. */
export function runWithTimeout<Value>(work: () => Value): Value | undefined {
  try {
    return runInNewContext('work()', { work }, { timeout: patience });
  } catch {
    return undefined;
  }
}
