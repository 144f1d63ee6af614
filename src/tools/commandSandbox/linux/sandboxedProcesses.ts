import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** Processes of a command in a process namespace of their own. */
interface SandboxedProcesses {
  /** @param information what `bwrap --info-fd` writes: the process id of the first process, as seen from outside */
  started(information: Readable): void;
  /** Ends all processes and waits until they are gone. */
  end(): Promise<void>;
}

/**
 * A command that is stopped ends with `bwrap`: the processes inside are killed afterwards, and write until then. The first process of a
 * namespace is gone only after all others.
 */
export function watchSandboxedProcesses(): SandboxedProcesses {
  let first: Promise<number | undefined> = Promise.resolve(undefined);
  return {
    started(information) {
      first = text(information).then(
        (written) => Number(/"child-pid"\s*:\s*(\d+)/.exec(written)?.[1]) || undefined,
        () => undefined,
      );
    },
    async end() {
      const pid = await first;
      if (pid === undefined) return; // it did not start
      kill(pid);
      for (let wait = 1; await isAlive(pid); wait = Math.min(wait * 2, 50)) await sleep(wait);
    },
  };
}

// A process whose end nobody has noticed yet still has an entry.
async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  return /\) [^ZX] /.test(stat);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // already gone
  }
}
