import { readFileSync } from 'node:fs';

const ticksPerSecond = 100;

/** Seconds of CPU that a process has used in all of its threads; 0 without one, and on other systems than Linux. */
export function cpuSeconds(pid: number | undefined): number {
  if (pid === undefined || process.platform !== 'linux') return 0;
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) / ticksPerSecond;
}
