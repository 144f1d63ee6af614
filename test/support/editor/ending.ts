import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Calls `then`, once, when this process is told to end, or when the npm that started it is gone. npm does not pass every
 * signal on: between it and us stand a shell and tsx, and a shell that is ended leaves its children running.
 */
export function whenToldToEnd(then: () => void): void {
  const launchers = process.env.npm_lifecycle_event ? ancestors(3) : ancestors(1);
  let told = false;
  const tell = () => {
    clearInterval(timer);
    if (!told) then();
    told = true;
  };
  const timer = setInterval(() => {
    if (!launchers.every(isAlive)) tell();
  }, 500).unref();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, tell);
}

function ancestors(count: number): number[] {
  const found = [process.ppid];
  while (found.length < count && process.platform !== 'win32') {
    try {
      found.push(Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(found.at(-1))], { encoding: 'utf8' })));
    } catch {
      break; // no ps here: the direct parent has to do
    }
  }
  return found.filter((pid) => pid > 1);
}

/** A process of this id runs; one that has ended and that nobody has asked how does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')); // ended, but nobody has asked how
  } catch {
    return true; // no /proc here
  }
}
