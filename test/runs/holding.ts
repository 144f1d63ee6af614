/** A window that takes the lock of the given file, says so with its number, and has it until it is ended. */
import { acquireRunLock } from '../../src/runs/lock.ts';

try {
  await acquireRunLock(process.argv[2]!, 'the other window');
  process.stdout.write(`has it ${process.pid}\n`);
} catch (error) {
  process.stdout.write(`${(error as { code?: string }).code} ${process.pid}\n`);
}
setInterval(() => {}, 1000);
