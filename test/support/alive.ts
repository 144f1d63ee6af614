import { readdir } from 'node:fs/promises';
import { hasMarker } from '../../src/tools/shell/processes.ts';
import { processTable } from '../../src/tools/shell/processTable.ts';

/** Processes that carry the mark of a command (Linux). */
export async function markedAlive(marker: string): Promise<number[]> {
  const alive = await processTable();
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    const pid = Number(name);
    if (alive.has(pid) && (await hasMarker(pid, marker))) found.push(pid);
  }
  return found;
}
