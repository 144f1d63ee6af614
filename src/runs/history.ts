// @invariant run-list-is-verified: A line of the run list is used only if its checksum and the size and time of its journal are right.
import { randomUUID } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import type { RunSummary } from '../protocol/run/summary.ts';
import { checksum } from './journal.ts';
import { type JournalFileStamp, storedRunSummarySchema } from './storedSummary.ts';

export interface IndexedRun {
  summary: RunSummary;
  stamp: JournalFileStamp;
  searchText: Buffer;
}

/**
 * Index of all runs for the list and the search, because opening a thousand journals takes seconds. The index is derived from the journals
 * and rebuilt for missing, damaged or outdated lines, so that no flush or lock is needed. All windows append lines; the newest line of a
 * run counts. Line format: `<crc32 of the rest, 8 hex digits> <summary and stamp as JSON>\t<search text>`.
 */
export class RunHistoryIndex {
  constructor(private readonly folder: string) {}

  async read(): Promise<Map<string, IndexedRun>> {
    const bytes = await fs.readFile(this.file).catch(() => Buffer.alloc(0));
    const newest = new Map<string, { head: Buffer; searchText: Buffer }>();
    for (const line of lines(bytes)) {
      const tab = line.indexOf(9);
      const id = tab < 0 ? undefined : idOf(line);
      if (id !== undefined && checksum(line.subarray(9)) === line.toString('latin1', 0, 8))
        newest.set(id, { head: line.subarray(9, tab), searchText: line.subarray(tab + 1) });
    }
    const found = new Map<string, IndexedRun>();
    for (const [id, { head, searchText }] of newest) {
      const read = headSchema.safeParse(parsed(head));
      if (read.success && read.data.id === id) {
        const { size, mtimeMs, ...summary } = read.data;
        found.set(id, { summary: { ...summary, live: false }, stamp: { size, mtimeMs }, searchText });
      }
    }
    return found;
  }

  /** Appends entries. Never rejects: missing entries are rebuilt on demand. */
  async keep(runs: readonly IndexedRun[]): Promise<void> {
    if (runs.length === 0) return;
    await fs.mkdir(this.folder, { recursive: true, mode: 0o700 }).catch(() => {});
    await fs.appendFile(this.file, Buffer.concat(runs.map(lineOf)), { mode: 0o600 }).catch(() => {});
  }

  async tidy(runs: readonly IndexedRun[]): Promise<void> {
    const { size } = await fs.stat(this.file).catch(() => ({ size: 0 }));
    const needed = runs.reduce((bytes, { searchText }) => bytes + searchText.length + 500, 0);
    if (size > spare + 2 * needed) await this.replace(runs.map(lineOf));
  }

  /** Removes all lines of a deleted run. Never rejects. */
  async drop(id: string): Promise<void> {
    const bytes = await fs.readFile(this.file).catch(() => Buffer.alloc(0));
    const all = [...lines(bytes)];
    const others = all.filter((line) => idOf(line) !== id);
    if (others.length < all.length) await this.replace(others.flatMap((line) => [line, newline]));
  }

  private async replace(bytes: readonly Buffer[]): Promise<void> {
    const temporaryFile = `${this.file}.${randomUUID()}`;
    try {
      await fs.writeFile(temporaryFile, Buffer.concat(bytes), { mode: 0o600 });
      await fs.rename(temporaryFile, this.file);
    } catch {
      await fs.rm(temporaryFile, { force: true }).catch(() => {});
    }
  }

  private get file(): string {
    return path.join(this.folder, fileName);
  }
}

// Another line format needs another file name, so that two versions do not rebuild the index in turn.
const fileName = 'history-1';
const spare = 1_000_000;

const headSchema = storedRunSummarySchema.extend({ id: z.string(), size: z.number(), mtimeMs: z.number() });

function lineOf({ summary: { live: _, ...summary }, stamp: { size, mtimeMs }, searchText }: IndexedRun): Buffer {
  const head = JSON.stringify(Object.assign({ id: summary.id, size, mtimeMs }, summary));
  const rest = Buffer.concat([Buffer.from(`${head}\t`), searchText]);
  return Buffer.concat([Buffer.from(`${checksum(rest)} `), rest, newline]);
}

const newline = Buffer.from('\n');

const idOf = (line: Buffer): string | undefined =>
  /^.{9}\{"id":"(run-[\w-]+)"/.exec(line.toString('latin1', 0, 150))?.[1];

function parsed(json: Buffer): unknown {
  try {
    return JSON.parse(json.toString('utf8'));
  } catch {
    return undefined;
  }
}

function* lines(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(10, at);
    if (end < 0) return; // torn, or still being written
    yield bytes.subarray(at, end);
    at = end + 1;
  }
}
