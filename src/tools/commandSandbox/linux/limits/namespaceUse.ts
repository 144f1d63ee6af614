import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { readFile, statfs } from 'node:fs/promises';
import * as paths from 'node:path';
import { createConcurrencyLimiter } from '../../../../protocol/values/concurrency.ts';

/** Use of a process namespace. `tasks`: processes and threads; `memory` in bytes. */
interface NamespaceUse {
  tasks: number;
  memory: number;
}

/** View of the processes of a command from outside. */
export interface NamespaceView {
  /** Number of processes and threads; of processes only, if these alone are more than `enough`. */
  countTasks(enough: number): number;
  /** @param maxMemory bytes above which memory that processes share is not counted for each of them */
  read(maxMemory: number): Promise<NamespaceUse>;
  close(): void;
}

/**
 * Opens the `/proc` that a command sees: it lists the processes of the command and no others. Undefined while Bubblewrap still sets it up.
 * A descriptor stays valid if the first process makes itself unreadable later.
 * @param pid first process of the namespace
 */
export function openNamespaceView(pid: number): NamespaceView | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(paths.join('/proc', String(pid), 'root', 'proc'), constants.O_RDONLY | constants.O_DIRECTORY);
  } catch {
    return undefined;
  }
  const close = () => closeSync(descriptor);
  if (fstatSync(descriptor).dev === statSync('/proc').dev) {
    close();
    return undefined;
  }
  const proc = `/proc/self/fd/${descriptor}`;
  return { countTasks: (enough) => countTasks(proc, enough), read: (maxMemory) => readUse(proc, maxMemory), close };
}

function countTasks(proc: string, enough: number): number {
  const pids = processIds(proc);
  if (pids.length > enough) return pids.length;
  return sumOf(pids.map((pid) => parseStatus(readStatus(`${proc}/${pid}/status`)).threads));
}

function readStatus(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // ended
  }
}

const processIds = (proc: string): string[] => readdirSync(proc).filter((name) => /^\d/.test(name));

const maxOpenFiles = 16;

async function readUse(proc: string, maxMemory: number): Promise<NamespaceUse> {
  const pids = processIds(proc);
  const limit = createConcurrencyLimiter(maxOpenFiles);
  const textOf = (pid: string, name: string) =>
    limit(() => readFile(`${proc}/${pid}/${name}`, 'latin1')).catch(() => undefined);
  const processes = await Promise.all(pids.map(async (pid) => parseStatus((await textOf(pid, 'status')) ?? '')));
  const tasks = sumOf(processes.map(({ threads }) => threads));
  const inFiles = await filesInMemory(proc);
  const memory = memoryOf(processes, inFiles);
  if (memory <= maxMemory) return { tasks, memory };
  // Memory that processes share was counted for each of them.
  const shares = await Promise.all(
    pids.map(async (pid, at) => {
      const text = await textOf(pid, 'smaps_rollup');
      return text === undefined ? processes[at]! : parseShare(text);
    }),
  );
  return { tasks, memory: memoryOf(shares, inFiles) };
}

interface ProcessMemory {
  own: number;
  shared: number;
}

/** Mapped files in memory are shared memory of processes, too. */
const memoryOf = (processes: readonly ProcessMemory[], inFiles: number): number =>
  sumOf(processes.map(({ own }) => own)) + Math.max(inFiles, sumOf(processes.map(({ shared }) => shared)));

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

/** Bytes of `/dev/shm`. It is part of `/dev`, the only file system in memory that a command can write. */
async function filesInMemory(proc: string): Promise<number> {
  const size = await statfs(`${proc}/../dev`).catch(() => undefined);
  return size ? (size.blocks - size.bfree) * size.bsize : 0;
}

/** Parses `/proc/<pid>/status`; zeros for a process that has ended. */
export function parseStatus(text: string): ProcessMemory & { threads: number } {
  const value = valuesOf(text);
  return {
    threads: value('Threads'),
    own: (value('RssAnon') + value('VmSwap')) * 1024,
    shared: value('RssShmem') * 1024,
  };
}

/** Parses `/proc/<pid>/smaps_rollup`: the share of a process in memory that is not read from files. */
export function parseShare(text: string): ProcessMemory {
  const value = valuesOf(text);
  return { own: (value('Pss_Anon') + value('SwapPss')) * 1024, shared: value('Pss_Shmem') * 1024 };
}

const valuesOf = (text: string) => (name: string) =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
