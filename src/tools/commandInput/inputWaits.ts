import { open, readdir, readFile, stat } from 'node:fs/promises';
import type { TerminalDevice } from './terminal.ts';

/** System calls that wait for input, by the processor as Node names it: tables of the kernel (`syscall_64.tbl`, `asm-generic/unistd.h`). */
const waitingCalls: Partial<Record<string, Record<number, 'read' | 'poll' | 'select' | 'epoll'>>> = {
  x64: {
    ...{ 0: 'read', 19: 'read', 7: 'poll', 271: 'poll', 23: 'select', 270: 'select' },
    ...{ 232: 'epoll', 281: 'epoll', 441: 'epoll' },
  },
  arm64: { 63: 'read', 65: 'read', 73: 'poll', 72: 'select', 22: 'epoll', 441: 'epoll' },
};

/** Returns if a process of a command waits for input from a terminal; undefined if the kernel does not tell. */
export async function waitsForInput(leader: number, device: TerminalDevice): Promise<boolean | undefined> {
  const calls = waitingCalls[process.arch];
  if (!calls) return undefined;
  const waiting = [leader];
  let isUnknown = false;
  for (let at = 0; at < waiting.length && at < maxProcesses; at++) {
    const pid = waiting[at]!;
    for (const task of await readdir(`/proc/${pid}/task`).catch((): string[] => [])) {
      const folder = `/proc/${pid}/task/${task}`;
      try {
        waiting.push(...(await readFile(`${folder}/children`, 'latin1')).split(' ').filter(Boolean).map(Number));
        const [call, ...args] = (await readFile(`${folder}/syscall`, 'latin1')).split(' ').map(Number);
        const kind = calls[call!];
        if (kind && (await awaits[kind](pid, args, device))) return true;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== 'ESRCH' && (code !== 'ENOENT' || (await exists(folder)))) isUnknown = true;
      }
    }
  }
  return isUnknown ? undefined : false;
}

const maxProcesses = 500;
const maxDescriptors = 1024;
/** POLLIN and EPOLLIN. */
const input = 1;

type Awaits = (pid: number, args: readonly number[], device: TerminalDevice) => Promise<boolean>;

const awaits: Record<'read' | 'poll' | 'select' | 'epoll', Awaits> = {
  read: (pid, [descriptor], device) => isDevice(pid, [descriptor!], device),
  async poll(pid, [address, count], device) {
    const size = 8; // `struct pollfd`
    const entries = await memoryOf(pid, address!, Math.min(count!, maxDescriptors) * size);
    const found: number[] = [];
    for (let at = 0; at + size <= entries.length; at += size)
      if (entries.readInt16LE(at + 4) & input) found.push(entries.readInt32LE(at));
    return isDevice(pid, found, device);
  },
  async select(pid, [count, address], device) {
    if (!address) return false;
    const bits = await memoryOf(pid, address, Math.ceil(Math.min(count!, maxDescriptors) / 8));
    const found = Array.from({ length: bits.length * 8 }, (_, at) => at).filter(
      (at) => bits[at >> 3]! & (1 << (at & 7)),
    );
    return isDevice(pid, found, device);
  },
  async epoll(pid, [descriptor], device) {
    const listed = await readFile(`/proc/${pid}/fdinfo/${descriptor}`, 'latin1');
    const found = [...listed.matchAll(/tfd:\s*(\d+)\s+events:\s*([0-9a-f]+)/g)]
      .filter(([, , events]) => Number.parseInt(events!, 16) & input)
      .map(([, number]) => Number(number));
    return isDevice(pid, found, device);
  },
};

async function isDevice(pid: number, descriptors: readonly number[], { dev, rdev }: TerminalDevice): Promise<boolean> {
  const all = await Promise.all(descriptors.map((one) => stat(`/proc/${pid}/fd/${one}`).catch(() => undefined)));
  return all.some((stats) => stats?.rdev === rdev && stats.dev === dev);
}

async function memoryOf(pid: number, address: number, length: number): Promise<Buffer> {
  const file = await open(`/proc/${pid}/mem`);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, address);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
