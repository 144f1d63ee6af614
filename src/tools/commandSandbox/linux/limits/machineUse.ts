import { readFileSync, statfsSync } from 'node:fs';
import { totalmem } from 'node:os';

/** Use of the machine by all processes. Memory in bytes. */
export interface MachineUse {
  usedMemory: number;
  freeMemory: number;
  threads: number;
}

/** Takes a fraction of a millisecond. Not asynchronous: next to a thousand processes that work, each wait of several takes a second. */
export const readMachineUse = (): MachineUse => ({
  ...parseMemory(readFileSync('/proc/meminfo', 'latin1')),
  threads: parseThreads(readFileSync('/proc/loadavg', 'latin1')),
});

/** Parses `/proc/meminfo`. Memory is used if it can neither be given back nor is swap that is free. */
export function parseMemory(text: string): Pick<MachineUse, 'usedMemory' | 'freeMemory'> {
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024;
  const freeMemory = bytes('MemAvailable') + bytes('SwapFree');
  return { usedMemory: bytes('MemTotal') + bytes('SwapTotal') - freeMemory, freeMemory };
}

/** Parses `/proc/loadavg`, like `0.20 0.18 0.12 1/80 11206`: the number of threads follows the slash. */
export const parseThreads = (text: string): number => Number(/\/(\d+) /.exec(text)?.[1] ?? 0);

/** Returns bytes of a disk. */
export function readDiskSize(folder: string): { disk: number; freeDisk: number } {
  const { bsize, blocks, bavail } = statfsSync(folder);
  return { disk: bsize * blocks, freeDisk: bsize * bavail };
}

/** Bytes of memory of the machine, or of its container. */
export function totalMemory(): number {
  const limit = process.constrainedMemory?.() ?? 0;
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
