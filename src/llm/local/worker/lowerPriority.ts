import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/** Low enough that the editor and what a person runs go first, and not so low that a build beside it stops the model. */
const nice = 5;

/**
 * Lets everything else on the machine go first. On Linux each thread has a value of its own, which the threads that it makes
 * begin with: called before the engine is loaded it holds for all of its threads. Nobody is given more than they had.
 */
export function stepBack(): void {
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [0];
  for (const id of threads) {
    try {
      if (getPriority(id) < nice) setPriority(id, nice);
    } catch {
      // a thread that is gone, or a machine that does not let us
    }
  }
}
