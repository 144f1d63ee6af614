import { randomUUID } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { runPhaseSchema, type StoredEvent } from '../protocol/events.ts';
import { applyEvent, newRun, type Run, type RunSummary, titleOf } from '../protocol/run.ts';
import { Contents } from './contents.ts';
import { Journal, type JournalContents, readFirstEvent, readJournal, StoreError } from './journal.ts';
import { type Lock, takeLock } from './lock.ts';

/** A run opened for writing: nobody else writes it until `close`. */
export interface OpenRun {
  run: Run;
  append(event: StoredEvent): Promise<void>;
  close(): Promise<void>;
}

const summarySchema = z.object({
  journalBytes: z.number(),
  title: z.string(),
  phase: runPhaseSchema,
  createdAt: z.number(),
  updatedAt: z.number(),
});

/**
 * The runs of one workspace: a folder per run with its journal and the contents of what it changed. Folders are 0700, files
 * 0600. Every method throws `StoreError` when it cannot do what it says.
 */
export class RunStore {
  readonly contents: Contents;

  /** @param folder absolute path; made when first written to */
  constructor(private readonly folder: string) {
    this.contents = new Contents(path.join(folder, 'runs'));
  }

  static newId(): string {
    return `run-${randomUUID()}`;
  }

  async create(id: string): Promise<OpenRun> {
    const folder = this.folderOf(id);
    await make(folder);
    const lock = await takeLock(path.join(folder, 'lock'));
    return this.opened(id, newRun(id), lock, () => Journal.create(this.journalOf(id)));
  }

  /** Opens a kept run to go on with it. */
  async open(id: string): Promise<OpenRun> {
    await this.mustExist(id);
    const lock = await takeLock(path.join(this.folderOf(id), 'lock'));
    let contents: JournalContents;
    try {
      contents = await readJournal(this.journalOf(id));
    } catch (error) {
      await lock.release();
      throw error;
    }
    return this.opened(id, fold(id, contents.events), lock, () => Journal.open(this.journalOf(id), contents));
  }

  /** Reads a kept run without taking it. */
  async read(id: string): Promise<Run> {
    await this.mustExist(id);
    return fold(id, (await readJournal(this.journalOf(id))).events);
  }

  /** All runs, newest first. A run that cannot be read is listed with what is wrong with it. */
  async list(): Promise<RunSummary[]> {
    const runs = await Promise.all((await this.ids()).map((id) => this.summary(id)));
    return runs.filter((run) => run !== undefined).sort((a, b) => b.updatedAt - a.updatedAt);
  }

  /** What each run follows; undefined for one whose record does not tell. */
  async workflowIds(): Promise<(string | undefined)[]> {
    const firsts = await Promise.all((await this.ids()).map((id) => readFirstEvent(this.journalOf(id))));
    return firsts.map((event) => (event?.type === 'run-start' ? event.workflowId : undefined));
  }

  async delete(id: string): Promise<void> {
    await this.mustExist(id);
    const lock = await takeLock(path.join(this.folderOf(id), 'lock'));
    try {
      await fs.rm(this.folderOf(id), { recursive: true });
    } catch (error) {
      await lock.release();
      throw StoreError.from(error);
    }
  }

  /** Where what belongs to a run alone is kept: it goes when the run is deleted. Made by whoever writes there first. */
  stateFolder(id: string): string {
    return path.join(this.folderOf(id), 'state');
  }

  private async opened(id: string, run: Run, lock: Lock, start: () => Promise<Journal>): Promise<OpenRun> {
    let journal: Journal;
    try {
      journal = await start();
    } catch (error) {
      await lock.release();
      throw error;
    }
    return {
      run,
      append: (event) => journal.append(event),
      close: async () => {
        await this.writeSummary(id, run, journal.size).catch(() => {}); // a lost summary is made again from the journal
        await journal.close();
        await lock.release();
      },
    };
  }

  private async ids(): Promise<string[]> {
    const names = await fs.readdir(path.join(this.folder, 'runs')).catch(() => []); // nothing has been kept yet
    return names.filter(isRunId);
  }

  private async summary(id: string): Promise<RunSummary | undefined> {
    const stat = await fs.stat(this.journalOf(id)).catch(() => undefined);
    if (!stat) return undefined;
    try {
      const { journalBytes, ...kept } = summarySchema.parse(JSON.parse(await fs.readFile(this.summaryOf(id), 'utf8')));
      if (journalBytes === stat.size) return { id, live: false, ...kept };
    } catch {
      // Absent or of another shape: read the journal itself.
    }
    try {
      const contents = await readJournal(this.journalOf(id));
      const run = fold(id, contents.events);
      if (!contents.damage) await this.writeSummary(id, run, stat.size).catch(() => {});
      return { id, live: false, ...summarise(run), ...(contents.damage && { damaged: contents.damage }) };
    } catch (error) {
      const at = stat.mtimeMs;
      const damaged = StoreError.from(error).message;
      return { id, title: 'Damaged run', phase: 'Failed', createdAt: at, updatedAt: at, live: false, damaged };
    }
  }

  private async writeSummary(id: string, run: Run, journalBytes: number): Promise<void> {
    await fs.writeFile(this.summaryOf(id), JSON.stringify({ journalBytes, ...summarise(run) }), { mode: 0o600 });
  }

  private async mustExist(id: string): Promise<void> {
    if (!isRunId(id) || !(await fs.stat(this.journalOf(id)).catch(() => undefined)))
      throw new StoreError('STORE_DAMAGED', 'There is no such run any more.');
  }

  private folderOf(id: string): string {
    return path.join(this.folder, 'runs', id);
  }
  private journalOf(id: string): string {
    return path.join(this.folderOf(id), 'journal.jsonl');
  }
  private summaryOf(id: string): string {
    return path.join(this.folderOf(id), 'summary.json');
  }
}

const isRunId = (name: string): boolean => /^run-[\w-]{1,100}$/.test(name);

async function make(folder: string): Promise<void> {
  try {
    await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw StoreError.from(error);
  }
}

function fold(id: string, events: readonly StoredEvent[]): Run {
  const run = newRun(id);
  for (const event of events) applyEvent(run, event);
  return run;
}

function summarise(run: Run): Pick<RunSummary, 'title' | 'phase' | 'createdAt' | 'updatedAt'> {
  return { title: titleOf(run), phase: run.phase, createdAt: run.createdAt, updatedAt: run.updatedAt };
}
