import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/** Niceness: low enough for the editor and user programs to go first, and high enough that a build does not starve the model. */
const nice = 5;

/**
 * Lowers the priority of the process. On Linux, each thread has its own value and passes the value to new threads, so a call before loading
 * the engine affects all its threads. Never raises a priority.
 */
export function lowerPriority(): void {
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [0];
  for (const id of threads) {
    try {
      if (getPriority(id) < nice) setPriority(id, nice);
    } catch {
      // the thread has ended, or the system denies the change
    }
  }
}
