import { randomUUID } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import type { RunSummary } from '../protocol/run/summary.ts';
import { checksum } from './journal.ts';
import { type Stamp, storedSummarySchema } from './storedSummary.ts';

/** What is known of a run without opening its journal. */
export interface Indexed {
  summary: RunSummary;
  /** Of the journal that it was made from. */
  stamp: Stamp;
  /** Its title and what was said, as `searchable` makes them. */
  words: Buffer;
}

/**
 * What a list says of every run, and the words each is found by: one file beside the journals, for opening a thousand of them
 * takes seconds. Made from the journals alone, and made again from them where a line is lost, damaged or of another time, so that
 * nothing here needs to be flushed, locked or believed. Lines are only added, by whichever window; the newest of a run counts.
 * Each is `<crc32 of the rest, 8 hex digits> <summary and stamp as JSON>\t<words>`.
 */
export class History {
  /** @param folder absolute path; of another form, it would have another name */
  constructor(private readonly folder: string) {}

  /** By the runs' ids. */
  async read(): Promise<Map<string, Indexed>> {
    const bytes = await fs.readFile(this.file).catch(() => Buffer.alloc(0));
    const newest = new Map<string, { head: Buffer; words: Buffer }>();
    for (const line of lines(bytes)) {
      const tab = line.indexOf(9);
      const id = tab < 0 ? undefined : idOf(line);
      if (id !== undefined && checksum(line.subarray(9)) === line.toString('latin1', 0, 8))
        newest.set(id, { head: line.subarray(9, tab), words: line.subarray(tab + 1) });
    }
    const found = new Map<string, Indexed>();
    for (const [id, { head, words }] of newest) {
      const read = headSchema.safeParse(parsed(head));
      if (read.success && read.data.id === id) {
        const { size, mtimeMs, ...summary } = read.data;
        found.set(id, { summary: { ...summary, live: false }, stamp: { size, mtimeMs }, words });
      }
    }
    return found;
  }

  /** Adds what is known now. Never rejects: what could not be kept is made again when it is asked for. */
  async keep(runs: readonly Indexed[]): Promise<void> {
    if (runs.length === 0) return;
    await fs.mkdir(this.folder, { recursive: true, mode: 0o700 }).catch(() => {});
    await fs.appendFile(this.file, Buffer.concat(runs.map(lineOf)), { mode: 0o600 }).catch(() => {});
  }

  /** Drops what is of no use any more, once that is more than what is. `runs`: all that there are. */
  async tidy(runs: readonly Indexed[]): Promise<void> {
    const { size } = await fs.stat(this.file).catch(() => ({ size: 0 }));
    const needed = runs.reduce((bytes, { words }) => bytes + words.length + 500, 0);
    if (size > spare + 2 * needed) await this.replace(runs.map(lineOf));
  }

  /** Of a run that is deleted nothing stays here. Never rejects. */
  async drop(id: string): Promise<void> {
    const bytes = await fs.readFile(this.file).catch(() => Buffer.alloc(0));
    const all = [...lines(bytes)];
    const others = all.filter((line) => idOf(line) !== id);
    if (others.length < all.length) await this.replace(others.flatMap((line) => [line, newline]));
  }

  /** Whole at once. */
  private async replace(bytes: readonly Buffer[]): Promise<void> {
    const aside = `${this.file}.${randomUUID()}`;
    try {
      await fs.writeFile(aside, Buffer.concat(bytes), { mode: 0o600 });
      await fs.rename(aside, this.file);
    } catch {
      await fs.rm(aside, { force: true }).catch(() => {});
    }
  }

  private get file(): string {
    return path.join(this.folder, fileName);
  }
}

/** Lines of another form are in a file of another name: two versions of Towpath do not make it anew in turns. */
const fileName = 'history-1';
/** Bytes of lines without use that nobody minds. */
const spare = 1_000_000;

const headSchema = storedSummarySchema.extend({ id: z.string(), size: z.number(), mtimeMs: z.number() });

function lineOf({ summary: { live: _, ...summary }, stamp: { size, mtimeMs }, words }: Indexed): Buffer {
  const head = JSON.stringify(Object.assign({ id: summary.id, size, mtimeMs }, summary));
  const rest = Buffer.concat([Buffer.from(`${head}\t`), words]);
  return Buffer.concat([Buffer.from(`${checksum(rest)} `), rest, newline]);
}

const newline = Buffer.from('\n');

/** Each line begins with it, so that older ones of the same run need not be parsed. */
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
    if (end < 0) return; // torn, or being written
    yield bytes.subarray(at, end);
    at = end + 1;
  }
}
