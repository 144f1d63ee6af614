import { randomUUID } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { createPrivateFolder } from './storage/privateFolder.ts';

const amount = z.number().min(0).max(1e9);
const lineSchema = z.union([z.object({ id: z.string(), cost: amount }), z.object({ id: z.string(), raise: amount })]);
type Line = z.infer<typeof lineSchema>;

interface Spent {
  spent: number;
  raised: number;
}

// Day as read by one window. Entries stay known if the file disappears.
interface Day {
  name: string;
  file: string;
  read: number;
  costs: Map<string, number>;
  raises: Map<string, number>;
}

const two = (part: number): string => String(part).padStart(2, '0');
const nameOf = (at: Date): string => `spent-${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}.jsonl`;
const named = /^spent-\d{4}-\d{2}-\d{2}\.jsonl$/;
const maxDays = 7;

/**
 * Daily spend of all windows, by local date: a file of JSON lines per day, append-only. The last line of an id counts. Each write starts a
 * new line, so that a torn line never damages the next.
 */
export class DailySpendFiles {
  private known?: Day;
  private reading: Promise<unknown> = Promise.resolve();
  private readonly writing = new Set<Promise<unknown>>();

  constructor(
    private readonly folder: string,
    private readonly now: () => Date = () => new Date(),
  ) {}

  today(): Promise<Spent> {
    const read = this.reading.then(async () => {
      await Promise.allSettled(this.writing);
      const day = this.day();
      await readOn(day);
      return { spent: sum(day.costs), raised: sum(day.raises) };
    });
    this.reading = read.catch(() => {});
    return read;
  }

  /** Records the cost of a call. Resolves to a function that corrects the cost on the same day. Rejects if the write fails. */
  async count(cost: number): Promise<(instead: number) => Promise<void>> {
    const day = this.day();
    const id = randomUUID();
    await this.add(day, { id, cost });
    return (instead) => (instead === cost ? Promise.resolve() : this.add(day, { id, cost: instead }));
  }

  raise(dollars: number): Promise<void> {
    return this.add(this.day(), { id: randomUUID(), raise: dollars });
  }

  private add(day: Day, line: Line): Promise<void> {
    const written = this.write(day, line).finally(() => this.writing.delete(written));
    this.writing.add(written);
    return written;
  }

  private async write(day: Day, line: Line): Promise<void> {
    await createPrivateFolder(this.folder);
    await fs.appendFile(day.file, `\n${JSON.stringify(line)}\n`, { mode: 0o600 });
    take(day, line); // own entries count even if the file disappears
  }

  private day(): Day {
    const name = nameOf(this.now());
    if (this.known?.name !== name) {
      this.known = { name, file: path.join(this.folder, name), read: 0, costs: new Map(), raises: new Map() };
      void sweep(this.folder);
    }
    return this.known;
  }
}

const sum = (amounts: ReadonlyMap<string, number>): number => [...amounts.values()].reduce((all, one) => all + one, 0);

function take(day: Day, line: Line): void {
  if ('raise' in line) day.raises.set(line.id, line.raise);
  else day.costs.set(line.id, line.cost);
}

async function readOn(day: Day): Promise<void> {
  const handle = await fs.open(day.file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    day.read = 0;
  });
  if (!handle) return;
  try {
    const { size } = await handle.stat();
    if (size < day.read) day.read = 0;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - day.read), 0, size - day.read, day.read);
    const whole = buffer.subarray(0, bytesRead).lastIndexOf('\n') + 1;
    for (const text of buffer.toString('utf8', 0, whole).split('\n')) {
      const line = lineIn(text);
      if (line) take(day, line);
    }
    day.read += whole;
  } finally {
    await handle.close();
  }
}

function lineIn(text: string): Line | undefined {
  if (text === '') return undefined;
  try {
    return lineSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

async function sweep(folder: string): Promise<void> {
  const names = (await fs.readdir(folder).catch(() => [])).filter((name) => named.test(name)).sort();
  for (const name of names.slice(0, -maxDays)) await fs.rm(path.join(folder, name), { force: true }).catch(() => {});
}
