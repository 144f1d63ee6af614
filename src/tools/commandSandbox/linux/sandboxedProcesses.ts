import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** Processes of a command in a process namespace of their own. */
export interface SandboxedProcesses {
  /** Returns the process id of the first process; undefined if there is none. */
  first(): Promise<number | undefined>;
  /** Ends all processes and waits until they are gone. */
  end(): Promise<void>;
}

interface FirstProcess {
  pid: number;
  began: string;
}

/**
 * A command that is stopped ends with `bwrap`: the processes inside are killed afterwards, and write until then. The first process of a
 * namespace is gone only after all others.
 * @param information what `bwrap --info-fd` writes: the process id of the first process, as seen from outside
 */
export function watchSandboxedProcesses(information: Readable): SandboxedProcesses {
  const first = text(information).then(
    async (written): Promise<FirstProcess | undefined> => {
      const pid = Number(/"child-pid"\s*:\s*(\d+)/.exec(written)?.[1]) || undefined;
      const began = pid === undefined ? undefined : await startOf(pid);
      return began === undefined ? undefined : { pid: pid!, began };
    },
    () => undefined,
  );
  return {
    first: async () => (await first)?.pid,
    async end() {
      const process = await first;
      if (!process || !(await isAlive(process))) return; // it did not start, or has ended
      kill(process.pid);
      for (let wait = 1; await isAlive(process); wait = Math.min(wait * 2, 50)) await sleep(wait);
    },
  };
}

// A process whose end nobody has noticed yet still has an entry.
const isAlive = async ({ pid, began }: FirstProcess): Promise<boolean> => (await startOf(pid)) === began;

/** Returns the start time of a process at work; the number alone may belong to another process by now. */
async function startOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  const [, state, rest] = /\) (\S) (.*)/s.exec(stat) ?? [];
  return state === undefined || /[ZX]/.test(state) ? undefined : rest!.split(' ')[18];
}

/** Kills the first process, and its process group at once: among many processes, the first one may wait long until it can end. */
function kill(pid: number): void {
  for (const target of [-pid, pid])
    try {
      process.kill(target, 'SIGKILL');
    } catch {
      // already gone
    }
}
