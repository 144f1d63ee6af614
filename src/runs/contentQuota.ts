import { randomUUID } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { mapLimit } from '../protocol/values/concurrency.ts';
import { createDictionary, sortedDictionaryEntries } from '../protocol/values/dictionary.ts';
import { acquireShortLock, type RunLock } from './lock.ts';

// Low limit, because the editor needs the disk, too.
const atOnce = 4;
const maxAtOnce = 50;

const sizesSchema = z.record(z.string(), z.object({ stamp: z.number(), bytes: z.number() }));

interface StoredContent {
  file: string;
  size: number;
  mtimeMs: number;
  lock?: string;
}

/**
 * Keeps the contents of all runs within a quota. The size of each folder is cached with the folder's modification time, in memory and on
 * disk, so that only changed folders are scanned. A check without removals costs a stat call per run.
 */
export class StoredContentQuota {
  private sizes?: z.infer<typeof sizesSchema>;
  private running?: Promise<void>;
  private stuckAt?: number;

  constructor(
    private readonly runs: string,
    private readonly deleted: () => Promise<string[]>,
  ) {}

  /**
   * Removes the oldest contents until the total is at most `bytes`, contents of deleted runs first. Skips runs in `spared` and runs open in
   * any window.
   */
  trim(bytes: number, spared: ReadonlySet<string>): Promise<void> {
    this.running ??= this.work(bytes, spared).finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async work(bytes: number, spared: ReadonlySet<string>): Promise<void> {
    const folders = (await names(this.runs)).map((id) => path.join(this.runs, id));
    const deleted = await this.deleted();
    const total = await this.total([...folders, ...deleted]);
    if (total <= bytes || total === this.stuckAt) return;
    const mayGo = folders.filter((folder) => !spared.has(path.basename(folder)));
    const gone = await mapLimit(deleted, atOnce, (folder) => filesOf(folder));
    const left = await remove(oldestFirst(gone), total, bytes);
    const others =
      left > bytes ? await mapLimit(mayGo, atOnce, (folder) => filesOf(folder, path.join(folder, 'lock'))) : [];
    await remove(oldestFirst(others), left, bytes);
    const stays = await this.total([...folders, ...deleted]);
    this.stuckAt = stays > bytes ? stays : undefined;
  }

  private async total(folders: readonly string[]): Promise<number> {
    const before = this.sizes ?? (await this.readSizes());
    const now = createDictionary<z.infer<typeof sizesSchema>[string]>();
    await mapLimit(folders, atOnce, async (folder) => {
      const stamp = (await fs.stat(contentsIn(folder)).catch(() => undefined))?.mtimeMs;
      if (stamp === undefined) return;
      const known = before[keyOf(folder)];
      now[keyOf(folder)] = known?.stamp === stamp ? known : { stamp, bytes: sum(await filesOf(folder)) };
    });
    this.sizes = now;
    const all = sortedDictionaryEntries(now);
    const isNew = all.some(([key, size]) => size !== before[key]);
    if (isNew || Object.keys(before).length !== all.length) await this.writeSizes();
    return sum(all.map(([, { bytes }]) => ({ size: bytes })));
  }

  private get file(): string {
    return path.join(path.dirname(this.runs), 'sizes.json');
  }

  private async readSizes(): Promise<z.infer<typeof sizesSchema>> {
    try {
      return sizesSchema.parse(JSON.parse(await fs.readFile(this.file, 'utf8')));
    } catch {
      return {}; // missing or damaged: scan everything once
    }
  }

  private async writeSizes(): Promise<void> {
    const temporaryFile = `${this.file}.${randomUUID()}`;
    try {
      await fs.writeFile(temporaryFile, JSON.stringify(this.sizes), { mode: 0o600 });
      await fs.rename(temporaryFile, this.file);
    } catch {
      await fs.rm(temporaryFile, { force: true }).catch(() => {}); // the next window scans again
    }
  }
}

// Removes files from the front until at most `bytes` remain; returns the remaining bytes. Skips open runs.
async function remove(files: readonly StoredContent[], total: number, bytes: number): Promise<number> {
  let left = total;
  let held: { of?: string; lock?: RunLock; count: number } = { count: 0 };
  const open = new Set<string>();
  for (const { file, size, lock: of } of files) {
    if (left <= bytes) break;
    if (of !== undefined && open.has(of)) continue;
    if (held.of !== of || held.count >= maxAtOnce) {
      await held.lock?.release();
      held = { of, count: 0, lock: of === undefined ? undefined : await acquireShortLock(of).catch(() => undefined) };
    }
    if (of !== undefined && !held.lock) {
      open.add(of);
      continue;
    }
    await fs.rm(file, { force: true });
    held.count++;
    left -= size;
  }
  await held.lock?.release();
  return left;
}

async function filesOf(folder: string, lock?: string): Promise<StoredContent[]> {
  const contents = contentsIn(folder);
  const stats = await mapLimit(await names(contents), atOnce, async (name) => {
    const file = path.join(contents, name);
    const stat = await fs.stat(file).catch(() => undefined);
    return stat ? [{ file, size: stat.size, mtimeMs: stat.mtimeMs, ...(lock && { lock }) }] : [];
  });
  return stats.flat();
}

const contentsIn = (folder: string): string => path.join(folder, 'contents');
const keyOf = (folder: string): string => path.join(path.basename(path.dirname(folder)), path.basename(folder));
const names = (folder: string): Promise<string[]> => fs.readdir(folder).catch(() => []);
const sum = (files: readonly { size: number }[]): number => files.reduce((total, { size }) => total + size, 0);
const oldestFirst = (files: StoredContent[][]): StoredContent[] =>
  files.flat().sort((one, two) => one.mtimeMs - two.mtimeMs);
