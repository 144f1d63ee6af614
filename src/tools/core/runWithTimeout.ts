import { runInNewContext } from 'node:vm';

// Milliseconds for a third-party schema: a regular expression in a schema could block the editor forever.
const patience = 500;

/** Runs code that depends on a third-party schema; undefined if the work exceeds the time limit or throws. */
export function runWithTimeout<Value>(work: () => Value): Value | undefined {
  try {
    return runInNewContext('work()', { work }, { timeout: patience });
  } catch {
    return undefined;
  }
}
