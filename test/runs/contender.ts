/**
 * A window that wants the lock of a folder, again and again: `owned` is there while somebody has it, and says when two do. In
 * the end it dies with the lock now and then: what it leaves names a process that is gone.
 */
import { promises as fs } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { acquireRunLock } from '../../src/runs/lock.ts';

const [folder, rounds] = [process.argv[2]!, Number(process.argv[3])];
const file = path.join(folder, 'lock');
const owned = path.join(folder, 'owned');
let [taken, twice] = [0, 0];
process.stdout.write('here\n');
await new Promise((resolve) => process.stdin.once('data', resolve));
while (taken < rounds) {
  const lock = await acquireRunLock(file).catch(() => sleep(Math.random() * 4));
  if (!lock) continue;
  taken++;
  await fs.mkdir(owned).catch(() => twice++);
  await sleep(Math.random() * 3);
  const dead = JSON.stringify({
    ...JSON.parse(await fs.readFile(file, 'utf8')),
    id: `${process.pid}-${taken}`,
    pid: 2 ** 22 + 1,
  });
  if (!(await lock.isHeld())) twice++;
  await fs.rmdir(owned).catch(() => twice++);
  if (taken % 2 === 0) await fs.writeFile(`${file}.dead`, dead).then(() => fs.rename(`${file}.dead`, file));
  await lock.release();
}
process.stdout.write(`${JSON.stringify({ taken, twice })}\n`);
process.exit(0);
