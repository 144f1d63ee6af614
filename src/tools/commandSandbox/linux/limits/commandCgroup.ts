import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import * as paths from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CommandLimits, type ExceededLimit, exceededMemory, exceededProcesses } from '../../commandLimits.ts';
import { isEndedOwner } from '../leftovers.ts';

/** Cgroup of one command, in which the kernel enforces its limits. */
export interface CommandCgroup {
  /** Moves a process into the cgroup, with all that it starts from now on. Throws if the user may not. */
  enter(pid: number): void;
  /** Returns the limit that the kernel has enforced. */
  exceeded(): Promise<ExceededLimit | undefined>;
  /** Call when the processes have ended. Never rejects. */
  remove(): Promise<void>;
}

const prefix = 'towpath-';

/**
 * Creates a cgroup for a command. It is a sibling of the editor's: a cgroup with processes can have no children with limits.
 * @param parent as `findCgroupParent` returns it
 */
export async function createCommandCgroup(parent: string, limits: CommandLimits): Promise<CommandCgroup> {
  const folder = paths.join(parent, `${prefix}${process.pid}-${randomUUID().slice(0, 8)}`);
  const write = (name: string, value: string | number) => writeFile(paths.join(folder, name), `${value}\n`);
  const remove = () => removeCgroup(folder);
  await mkdir(folder);
  try {
    await write('memory.max', limits.maxMemory);
    await write('pids.max', limits.maxProcesses);
    await write('memory.oom.group', 1);
    await write('memory.swap.max', 0).catch(() => undefined); // a kernel without accounting of swap
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    enter: (pid) => writeFileSync(paths.join(folder, 'cgroup.procs'), String(pid)),
    async exceeded() {
      const [memory, processes] = await Promise.all(
        ['memory.events', 'pids.events'].map((name) => readFile(paths.join(folder, name), 'latin1').catch(() => '')),
      );
      if (eventCount(memory!, 'oom_kill') > 0) return exceededMemory(limits);
      return eventCount(processes!, 'max') > 0 ? exceededProcesses(limits) : undefined;
    },
    remove,
  };
}

/** Returns the number of an event in a file like `memory.events`. */
export const eventCount = (text: string, name: string): number =>
  Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);

/**
 * Returns the folder in which cgroups with limits can be created next to the editor's own, as in a session of systemd; undefined if there is
 * none. Removes what ended windows have left there.
 * @param withProcess calls a function with the id of a process that waits, and ends it afterwards
 */
export async function findCgroupParent(
  limits: CommandLimits,
  withProcess: (use: (pid: number) => void) => Promise<void>,
): Promise<string | undefined> {
  try {
    const own = await ownCgroup();
    if (own === undefined) return undefined;
    const parent = own.path === '/' ? own.mount : paths.join(own.mount, paths.dirname(own.path));
    const controllers = (await readFile(paths.join(parent, 'cgroup.subtree_control'), 'latin1')).trim().split(' ');
    if (!['memory', 'pids'].every((name) => controllers.includes(name))) return undefined;
    const test = await createCommandCgroup(parent, limits);
    try {
      await withProcess(test.enter);
    } finally {
      await test.remove();
    }
    await removeLeftCgroups(parent);
    return parent;
  } catch {
    return undefined; // not the user's
  }
}

async function ownCgroup(): Promise<{ mount: string; path: string } | undefined> {
  const [own, mounts] = await Promise.all(
    ['cgroup', 'mountinfo'].map((name) => readFile(`/proc/self/${name}`, 'latin1')),
  );
  return parseOwnCgroup(own!, mounts!);
}

/** @param own content of `/proc/self/cgroup`; `mounts` is that of `/proc/self/mountinfo` */
export function parseOwnCgroup(own: string, mounts: string): { mount: string; path: string } | undefined {
  const path = /^0::(\/.*)$/m.exec(own)?.[1];
  for (const line of mounts.split('\n')) {
    const [, root, mount] = /^\d+ \d+ \d+:\d+ (\S+) (\S+) .* - cgroup2 /.exec(line) ?? [];
    if (root === '/' && path !== undefined && !path.startsWith('/..')) return { mount: mount!, path };
  }
  return undefined;
}

async function removeLeftCgroups(parent: string): Promise<void> {
  const left = (await readdir(parent)).filter((name) => isEndedOwner(name, prefix));
  await Promise.all(left.map((name) => removeCgroup(paths.join(parent, name))));
}

/** Ends processes that are left, and waits a moment for their end. */
async function removeCgroup(folder: string): Promise<void> {
  for (let wait = 1; wait < 500; wait *= 2) {
    try {
      return await rmdir(folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EBUSY') return;
    }
    await writeFile(paths.join(folder, 'cgroup.kill'), '1\n').catch(() => undefined);
    await sleep(wait);
  }
}
