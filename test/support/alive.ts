import { readdir } from 'node:fs/promises';
import { processHasMarker } from '../../src/tools/shell/processes.ts';
import { readProcessTable } from '../../src/tools/shell/processTable.ts';

/** Processes that carry the mark of a command (Linux). */
export async function markedAlive(marker: string): Promise<number[]> {
  const alive = await readProcessTable();
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    const pid = Number(name);
    if (alive.has(pid) && (await processHasMarker(pid, marker))) found.push(pid);
  }
  return found;
}
