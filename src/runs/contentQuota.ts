import { randomUUID } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { mapLimit } from '../protocol/values/concurrency.ts';
import { createDictionary, sortedDictionaryEntries } from '../protocol/values/dictionary.ts';
import { contentsFolder, snapshotsFolder } from './storage/storedFolders.ts';
import {
  bytesInFolder,
  bytesOfContents,
  listStoredContents,
  oldestContentsFirst,
  removeStoredContents,
  type StoredContent,
  type StoredContentKind,
} from './storedContents.ts';
import { journalPath } from './storedSummary.ts';

// Low limit, because the editor needs the disk, too.
const atOnce = 4;

const day = 24 * 60 * 60 * 1000;
/** Days for which changes stay undoable, unless a notice was shown, and days for which they always do. */
const guaranteedDays = 14;
const protectedDays = 7;
/** Number of the newest runs with the same guarantee, whatever their age. */
const guaranteedRuns = 10;
/** Milliseconds after which contents that could not be removed are examined again, because they have aged. */
const stuckMs = 60 * 60 * 1000;

const sizesSchema = z.record(
  z.string(),
  z.object({ stamp: z.number(), bytes: z.number(), outputs: z.number().optional() }),
);
type Sizes = z.infer<typeof sizesSchema>;

/** Announcement to the user, shown at `at`: contents up to `until` may be removed. Both are epoch milliseconds. */
const announcementSchema = z.object({ at: z.number(), until: z.number() });
type Announcement = z.infer<typeof announcementSchema>;

/**
 * Reason to inform the user, in the state before anything is lost. `before` (epoch milliseconds): older changes can no longer be undone
 * after the next run. `bytes`: size of an undo history above its quota that consists of protected contents only.
 */
export type UndoHistoryNotice = { before: number } | { bytes: number };

interface TrimOptions {
  /** Start of the work that has ended, in epoch milliseconds: an announcement after it is not acted upon. */
  since?: number;
  /** Frees working files of the recording of commands that are not needed. */
  reclaim?(): Promise<unknown>;
}

/**
 * Keeps the contents of all runs within a quota, which includes the working files of the recording of commands. Until the total fits,
 * these are removed, the oldest first:
 *
 * 1. contents of deleted runs,
 * 2. contents older than 14 days of runs that are not among the newest ten,
 * 3. contents older than 7 days that an earlier call has announced.
 *
 * Younger contents stay, even above the quota. A quota of 0 stores nothing beyond the work in progress. Outputs of commands have as many
 * bytes of their own, without a guarantee. The size of each folder is cached with the folder's modification time, in memory and on disk, so
 * that only changed folders are scanned. A check without removals costs a stat call per run.
 */
export class StoredContentQuota {
  private known?: Sizes;
  private running?: Promise<UndoHistoryNotice | undefined>;
  private stuck?: { at: number; check: string };
  private isAboveReported = false;
  private readonly store: string;

  constructor(
    private readonly runs: string,
    private readonly deleted: () => Promise<string[]>,
    private readonly now: () => number = Date.now,
  ) {
    this.store = path.dirname(runs);
  }

  /** Removes contents until `bytes` remain, and returns what the user must know. Skips runs in `spared` and runs open in any window. */
  trim(bytes: number, spared: ReadonlySet<string>, options: TrimOptions = {}): Promise<UndoHistoryNotice | undefined> {
    if (this.running) return this.running.then(() => undefined); // its caller informs the user
    this.running = this.work(bytes, spared, options).finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async work(
    bytes: number,
    spared: ReadonlySet<string>,
    { since = Number.POSITIVE_INFINITY, reclaim }: TrimOptions,
  ): Promise<UndoHistoryNotice | undefined> {
    const folders = (await names(this.runs)).map((id) => path.join(this.runs, id));
    const deleted = await this.deleted();
    let total = await this.total(folders, deleted);
    if (total.contents <= bytes && total.outputs <= bytes) {
      this.isAboveReported = false;
      return undefined;
    }
    if (this.isStuck(keyOfCheck(total, bytes))) return undefined;
    const mayGo = folders.filter((folder) => !spared.has(path.basename(folder)));
    if (total.outputs > bytes) {
      const outputs = [
        ...(await listStoredContents(deleted, 'outputs')),
        ...(await listStoredContents(mayGo, 'outputs', 'locked')),
      ];
      await removeStoredContents(oldestContentsFirst(outputs), total.outputs, bytes);
    }
    let trimmed: TrimmedRuns = {};
    if (total.contents > bytes) {
      await reclaim?.().catch(() => {}); // nothing is lost by working files that stay
      const { contents } = await this.total(folders, deleted);
      const left = await removeStoredContents(
        oldestContentsFirst(await listStoredContents(deleted, 'contents')),
        contents,
        bytes,
      );
      if (left > bytes)
        trimmed = await this.trimRuns(await listStoredContents(mayGo, 'contents', 'locked'), left, bytes, since);
    }
    total = await this.total(folders, deleted);
    const isOver = total.contents > bytes || total.outputs > bytes;
    this.stuck = isOver && !trimmed.isAnnounced ? { at: this.now(), check: keyOfCheck(total, bytes) } : undefined;
    return trimmed.notice;
  }

  private async trimRuns(
    contents: readonly StoredContent[],
    total: number,
    bytes: number,
    since: number,
  ): Promise<TrimmedRuns> {
    const all = oldestContentsFirst(contents);
    if (bytes === 0) {
      await removeStoredContents(all, total, bytes);
      return {};
    }
    const newest = await this.newestRuns();
    const announced = await this.readAnnouncement();
    const until = announced && announced.at < since ? announced.until : Number.NEGATIVE_INFINITY;
    const isOlder = ({ mtimeMs }: StoredContent, days: number) => mtimeMs < this.now() - days * day;
    const isFree = (one: StoredContent) => isOlder(one, guaranteedDays) && !newest.has(one.run);
    const removable = all.filter((one) => isOlder(one, protectedDays));
    let left = await removeStoredContents(removable.filter(isFree), total, bytes);
    const guaranteed = removable.filter((one) => !isFree(one));
    left = await removeStoredContents(
      guaranteed.filter(({ mtimeMs }) => mtimeMs <= until),
      left,
      bytes,
    );
    if (left <= bytes) return {};
    const next = guaranteed.filter(({ mtimeMs }) => mtimeMs > until);
    const last = lastToRemove(next, left, bytes);
    if (last) {
      if (announced && last.mtimeMs <= announced.until) return { isAnnounced: true };
      await writeJson(this.announcementFile, { at: this.now(), until: last.mtimeMs } satisfies Announcement);
      return { isAnnounced: true, notice: { before: startOfNextDay(last.mtimeMs) } };
    }
    if (this.isAboveReported) return {};
    this.isAboveReported = true;
    return { notice: { bytes: left } };
  }

  private isStuck(check: string): boolean {
    return this.stuck?.check === check && this.now() - this.stuck.at < stuckMs;
  }

  private async newestRuns(): Promise<Set<string>> {
    const stats = await mapLimit(await names(this.runs), atOnce, async (id) => {
      const stat = await fs.stat(journalPath(path.join(this.runs, id))).catch(() => undefined);
      return stat ? [{ id, mtimeMs: stat.mtimeMs }] : [];
    });
    const newestFirst = stats.flat().sort((one, other) => other.mtimeMs - one.mtimeMs);
    return new Set(newestFirst.slice(0, guaranteedRuns).map(({ id }) => id));
  }

  private async total(folders: readonly string[], deleted: readonly string[]): Promise<Total> {
    const before = this.known ?? (await this.readSizes());
    const now = createDictionary<Sizes[string]>();
    const total: Total = { contents: await bytesInFolder(snapshotsFolder(this.store)), outputs: 0 };
    await mapLimit([...folders, ...deleted], atOnce, async (folder) => {
      const stamp = (await fs.stat(contentsFolder(folder)).catch(() => undefined))?.mtimeMs;
      if (stamp === undefined) return;
      const known = before[keyOf(folder)];
      now[keyOf(folder)] = known?.stamp === stamp ? known : await sizeOf(folder, stamp);
    });
    for (const [, { bytes, outputs = 0 }] of sortedDictionaryEntries(now)) {
      total.contents += bytes;
      total.outputs += outputs;
    }
    this.known = now;
    const all = sortedDictionaryEntries(now);
    const isNew = all.some(([key, size]) => size !== before[key]);
    if (isNew || Object.keys(before).length !== all.length) await writeJson(this.sizesFile, now);
    return total;
  }

  private get sizesFile(): string {
    return path.join(this.store, 'sizes.json');
  }
  private get announcementFile(): string {
    return path.join(this.store, 'undo-notice.json');
  }

  private async readSizes(): Promise<Sizes> {
    return (await readJson(this.sizesFile, sizesSchema)) ?? {}; // missing or damaged: scan everything once
  }

  private readAnnouncement(): Promise<Announcement | undefined> {
    return readJson(this.announcementFile, announcementSchema);
  }
}

type Total = Record<StoredContentKind, number>;

/** `isAnnounced`: the next call removes more. */
interface TrimmedRuns {
  notice?: UndoHistoryNotice;
  isAnnounced?: true;
}

const keyOfCheck = ({ contents, outputs }: Total, bytes: number): string => `${contents}/${outputs}/${bytes}`;

// Returns the last of the files to remove until at most `bytes` remain; undefined without files.
function lastToRemove(files: readonly StoredContent[], total: number, bytes: number): StoredContent | undefined {
  let left = total;
  for (const file of files) {
    left -= file.size;
    if (left <= bytes) return file;
  }
  return files.at(-1);
}

function startOfNextDay(time: number): number {
  const date = new Date(time);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1).getTime();
}

async function readJson<Value>(file: string, schema: z.ZodType<Value>): Promise<Value | undefined> {
  try {
    return schema.parse(JSON.parse(await fs.readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}

async function writeJson(file: string, value: unknown): Promise<void> {
  const temporaryFile = `${file}.${randomUUID()}`;
  try {
    await fs.writeFile(temporaryFile, JSON.stringify(value), { mode: 0o600 });
    await fs.rename(temporaryFile, file);
  } catch {
    await fs.rm(temporaryFile, { force: true }).catch(() => {}); // the next window scans, or announces, again
  }
}

async function sizeOf(folder: string, stamp: number): Promise<Sizes[string]> {
  const { contents: bytes, outputs } = await bytesOfContents(folder);
  return { stamp, bytes, ...(outputs > 0 && { outputs }) };
}

const keyOf = (folder: string): string => path.join(path.basename(path.dirname(folder)), path.basename(folder));
const names = (folder: string): Promise<string[]> => fs.readdir(folder).catch(() => []);
