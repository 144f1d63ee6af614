import { randomUUID } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import { kinOf } from '../protocol/run/branches.ts';
import type { StoredEvent } from '../protocol/run/events.ts';
import { dataOf, type Hide, type Imported, type RunsFile } from '../protocol/run/exchange.ts';
import { readOnlySentences } from '../protocol/run/readOnlyReason.ts';
import { newRun, type Run } from '../protocol/run/run.ts';
import type { RunSummary } from '../protocol/run/summary.ts';
import { inEnglish, message } from '../protocol/text/l10n.ts';
import { mapLimit } from '../protocol/values/mapLimit.ts';
import { ContentStore } from './contentStore.ts';
import { callsAfter, type ForkedText, forkEvents, forkedText, keepFork, messageSeqs, unforkable } from './fork.ts';
import { History, type Indexed } from './history.ts';
import { withStoredImages } from './imageStore.ts';
import { Journal, StoreError } from './journal.ts';
import { readLastMessages } from './lastMessages.ts';
import { sweepRunLeftovers } from './leftovers.ts';
import { holderOf, isHeldElsewhere, type Lock, takeLock, takeOver } from './lock.ts';
import { idsOfStates, modelStatesIn, removeStates } from './modelStates.ts';
import { readFirstEvent, readJournal } from './readJournal.ts';
import { search, searchTermsOf, titleTerms } from './searchRuns.ts';
import type { LockHolder } from './storage/lockHolder.ts';
import { makeFolder } from './storage/privateFolder.ts';
import {
  journalIn,
  readForIndex,
  readRun,
  readSummary,
  type Stamp,
  toStoredSummary,
  writeSummary,
} from './storedSummary.ts';
import { DeletedRuns } from './trash.ts';
import { WindowStatus } from './windowStatus.ts';

/** Runs processed in parallel; a thousand journals would not fit into memory. */
const atOnce = 8;
const keptAtOnce = 50;

/** Run opened for exclusive writing until `close`. */
export interface OpenRun {
  run: Run;
  append(event: StoredEvent): Promise<void>;
  close(): Promise<void>;
}

/**
 * Runs of one workspace: a folder per run with journal and contents. Folders have mode 0700, files 0600. Every method throws `StoreError`
 * on failure.
 */
export class RunStore {
  readonly contents: ContentStore;
  readonly deleted: DeletedRuns;
  readonly marks: WindowStatus;
  private readonly history: History;
  private readonly openHere = new Map<string, Run>();

  /**
   * @param folder absolute path; created on first write
   * @param now epoch milliseconds, for the age of deleted runs
   * @param window name of the window in locks, for display
   * @param witness receives each stored event before any effect; a rejection stops the run
   */
  constructor(
    private readonly folder: string,
    private readonly now: () => number = Date.now,
    private readonly window?: string,
    private readonly witness: (event: StoredEvent) => Promise<void> = async () => {},
  ) {
    const runs = path.join(folder, 'runs');
    this.deleted = new DeletedRuns(runs, path.join(folder, 'deleted'), now);
    this.history = new History(folder);
    this.marks = new WindowStatus(path.join(folder, 'now'));
    this.contents = new ContentStore(runs, () => this.deleted.folders());
  }

  static newId(): string {
    return `run-${randomUUID()}`;
  }

  async create(id: string): Promise<OpenRun> {
    const folder = this.folderOf(id);
    await makeFolder(folder).catch((error) => {
      throw StoreError.from(error);
    });
    const lock = await takeLock(this.lockOf(id), this.window);
    return this.opened(id, newRun(id), lock, () => Journal.create(this.journalOf(id)));
  }

  async open(id: string): Promise<OpenRun> {
    const lock = await this.lock(id);
    const folder = this.folderOf(id);
    let read: Awaited<ReturnType<typeof readRun>>;
    try {
      if (lock.fromLiving) await renew(this.journalOf(id));
      read = await readRun(folder, id);
      if (read.run.readOnly) throw new StoreError('STORE_DAMAGED', message(readOnlySentences[read.run.readOnly]));
    } catch (error) {
      await lock.release();
      throw error;
    }
    const { run, contents } = read;
    const whole = { ...contents, previous: contents.entries.at(-1)?.seq ?? 0 };
    return this.opened(id, run, lock, () => Journal.open(this.journalOf(id), whole));
  }

  async read(id: string): Promise<Run> {
    return (await this.readWhole(id)).run;
  }

  readLastMessages(id: string): Promise<Run | undefined> {
    return readLastMessages(this.folderOf(id), id);
  }

  async said(id: string): Promise<ForkedText[]> {
    const { run, contents } = await this.readWhole(id);
    return forkedText(run, contents);
  }

  async messagesUpTo(id: string, seq: number): Promise<number> {
    const { run, contents } = await this.readWhole(id);
    return messageSeqs(run, contents).filter((one) => one <= seq).length;
  }

  async callsAfter(id: string, seq: number): Promise<string[]> {
    const { run, contents } = await this.readWhole(id);
    return callsAfter(run, contents, seq);
  }

  /**
   * Creates a branch from event `seq` and returns its id. The parent is not changed and may be open elsewhere. Throws `StoreError` with a
   * sentence also for unforkable runs.
   */
  async fork(id: string, seq: number): Promise<string> {
    const { run, contents } = await this.readWhole(id);
    const hasState = (await fs.stat(this.stateFolder(id)).catch(() => undefined)) !== undefined;
    const why = unforkable(run, contents, seq, hasState);
    if (why !== undefined) throw new StoreError('STORE_DAMAGED', why);
    const to = RunStore.newId();
    await keepFork(path.join(this.folder, 'runs'), id, to, forkEvents(to, run, contents, seq, this.now()));
    return to;
  }

  private async readWhole(id: string): ReturnType<typeof readRun> {
    await this.mustExist(id);
    return readRun(this.folderOf(id), id);
  }

  async events(id: string): Promise<{ events: StoredEvent[]; damage: string[] }> {
    await this.mustExist(id);
    const { entries, wounds } = await readJournal(this.journalOf(id), id);
    return { events: entries.flatMap(({ event }) => event ?? []), damage: wounds.map(({ text }) => inEnglish(text)) };
  }

  async exported(id: string, hide: Hide): Promise<RunsFile> {
    await this.mustExist(id);
    const runs = await mapLimit(kinOf(id, await this.list()), atOnce, async (one) => {
      const read = this.readWhole(one.id);
      const whole = await (one.id === id ? read : read.catch(() => undefined)); // an unreadable branch is omitted
      if (!whole) return [];
      const until = whole.run.damage?.[0]?.from ?? Number.POSITIVE_INFINITY;
      const events = whole.contents.entries.flatMap(({ event, seq }) => (event && seq <= until ? [event] : []));
      return [{ id: one.id, events: dataOf(events, hide) }];
    });
    return { 'towpath-runs': 1, shown: id, runs: runs.flat() };
  }

  async bring(runs: readonly Imported[]): Promise<void> {
    const folder = path.join(this.folder, 'runs');
    const made: string[] = [];
    try {
      for (const { id, events } of runs) {
        await keepFork(folder, id, id, events); // an import has no contents
        made.push(id);
      }
    } catch (error) {
      for (const id of made) await fs.rm(this.folderOf(id), { recursive: true, force: true }).catch(() => {});
      throw error;
    }
  }

  /** Lists all runs, newest first. An unreadable run is listed with the error. */
  async list(): Promise<RunSummary[]> {
    return (await this.indexed()).map(({ summary }) => summary);
  }

  async search(query: string): Promise<{ run: RunSummary; excerpt?: string }[]> {
    return search(await this.indexed(), query).map(({ indexed, excerpt }) => ({
      run: indexed.summary,
      ...(excerpt !== undefined && { excerpt }),
    }));
  }

  async listed(id: string): Promise<RunSummary | undefined> {
    const open = this.openHere.get(id);
    if (open) return toStoredSummary(open);
    return isRunId(id) ? readSummary(this.folderOf(id), id) : undefined;
  }

  async has(id: string): Promise<boolean> {
    return isRunId(id) && (await fs.stat(this.journalOf(id)).catch(() => undefined)) !== undefined;
  }

  private async indexed(): Promise<Indexed[]> {
    const [ids, known] = await Promise.all([this.ids(), this.history.read()]);
    const found: Indexed[] = [];
    const stale: string[] = [];
    await mapLimit(ids, atOnce, async (id) => {
      const open = this.openHere.get(id);
      const run = known.get(id);
      if (open) {
        if (open.seq > 0) found.push(indexedOf(open, { size: 0, mtimeMs: 0 }));
        return;
      }
      const stat = await fs.stat(this.journalOf(id)).catch(() => undefined);
      if (stat && run?.stamp.size === stat.size && run.stamp.mtimeMs === stat.mtimeMs) found.push(run);
      else if (stat) stale.push(id);
    });
    for (let at = 0; at < stale.length; at += keptAtOnce) {
      const read = await mapLimit(stale.slice(at, at + keptAtOnce), atOnce, (id) => this.readForIndex(id));
      const made = read.filter((run) => run !== undefined);
      await this.history.keep(made);
      found.push(...made);
    }
    if (stale.length > 0) await this.history.tidy(found);
    return found.sort((one, other) => other.summary.updatedAt - one.summary.updatedAt);
  }

  private async readForIndex(id: string): Promise<Indexed | undefined> {
    const read = await readForIndex(this.folderOf(id), id);
    return read && { ...read, words: read.run ? searchTermsOf(read.run) : titleTerms(read.summary.title) };
  }

  /** Workflow of each run, deleted runs included; undefined for an unreadable record. */
  async workflowIds(): Promise<(string | undefined)[]> {
    const folders = [...(await this.ids()).map((id) => this.folderOf(id)), ...(await this.deleted.folders())];
    const firsts = await mapLimit(folders, atOnce, (folder) => readFirstEvent(journalIn(folder)));
    return firsts.map((event) => (event?.type === 'run-start' ? event.workflowId : undefined));
  }

  /** Moves a run to the deleted runs; returns the name for `deleted`. Fails while the run is open. */
  async delete(id: string): Promise<string> {
    const lock = await this.lock(id);
    try {
      const name = await this.deleted.take(id);
      await removeStates(this.modelStates, [id]);
      await this.history.drop(id);
      return name;
    } finally {
      await lock.release();
    }
  }

  holder(id: string): Promise<{ holder?: LockHolder; beatAt: number } | undefined> {
    return holderOf(this.lockOf(id));
  }

  isElsewhere(id: string): Promise<boolean> {
    return isHeldElsewhere(this.lockOf(id));
  }

  /**
   * Takes a run from another window. Later events of the other window are not recorded, and its writes fail. Never takes from this window.
   */
  async takeOver(id: string): Promise<void> {
    await this.mustExist(id);
    const lock = await takeOver(this.lockOf(id), this.window);
    try {
      await renew(this.journalOf(id));
    } finally {
      await lock.release();
    }
  }

  async sweep(): Promise<void> {
    await this.deleted.sweep();
    await sweepRunLeftovers(path.join(this.folder, 'runs'), this.now());
    await removeStates(this.modelStates, await idsOfStates(this.modelStates, (id) => this.has(id)));
  }

  get runsFolder(): string {
    return path.join(this.folder, 'runs');
  }

  get modelStates(): string {
    return modelStatesIn(this.folder);
  }

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
    this.openHere.set(id, run);
    return {
      run,
      append: async (event) => {
        const line = await withStoredImages(event, this.folderOf(id)).catch((error) => {
          throw StoreError.from(error);
        });
        await onceMore(() => journal.append(line));
        const there = await this.bytesOf(id);
        if (there > 0 && !(await lock.isMine())) throw takenOver();
        if (there < journal.size) throw StoreError.gone();
        await this.witness(event);
      },
      close: async () => {
        // A lost summary is rebuilt from the journal.
        try {
          if (await lock.isMine()) await this.keepSummary(run, await journal.stamp()).catch(() => {});
          await journal.close();
          await lock.release();
        } finally {
          if (this.openHere.get(id) === run) this.openHere.delete(id);
        }
      },
    };
  }

  private async keepSummary(run: Run, stamp: Stamp): Promise<void> {
    await writeSummary(this.folderOf(run.id), run, stamp);
    await this.history.keep([indexedOf(run, stamp)]);
  }

  private async ids(): Promise<string[]> {
    const names = await fs.readdir(path.join(this.folder, 'runs')).catch(() => []); // nothing stored yet
    return names.filter(isRunId);
  }

  private async lock(id: string): Promise<Lock> {
    await this.mustExist(id);
    try {
      return await takeLock(this.lockOf(id), this.window);
    } catch (error) {
      await this.mustExist(id); // deleted by another window meanwhile
      throw error;
    }
  }

  /** Checks the file by path: after the folder of a running run was deleted or moved, the open file stays writable but unreachable. */
  private async bytesOf(id: string): Promise<number> {
    try {
      return (await fs.stat(this.journalOf(id))).size;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (['ENOENT', 'ENOTDIR'].includes(code)) return 0;
      throw StoreError.from(error);
    }
  }

  private async mustExist(id: string): Promise<void> {
    if (!isRunId(id) || !(await fs.stat(this.journalOf(id)).catch(() => undefined)))
      throw new StoreError('ENGINE_RUN_NOT_FOUND', message('This run does not exist, or no longer exists.'));
  }

  private folderOf(id: string): string {
    return path.join(this.folder, 'runs', id);
  }
  private journalOf(id: string): string {
    return journalIn(this.folderOf(id));
  }
  private lockOf(id: string): string {
    return path.join(this.folderOf(id), 'lock');
  }
}

const indexedOf = (run: Run, stamp: Stamp): Indexed => ({
  summary: toStoredSummary(run),
  stamp,
  get words() {
    return searchTermsOf(run); // runs that are only listed need no search terms
  },
});

const isRunId = (name: string): boolean => /^run-[\w-]{1,100}$/.test(name);

const takenOver = () =>
  new StoreError(
    'STORE_LOCKED',
    message('Another window took over this run. It continues there; this window does nothing more in it.'),
  );

/** Replaces the journal by a copy: late writes of the previous holder go to the unlinked file. */
async function renew(journal: string): Promise<void> {
  const copy = `${journal}.${randomUUID()}`;
  try {
    await fs.writeFile(copy, await fs.readFile(journal), { mode: 0o600, flush: true });
    await fs.rename(copy, journal);
  } catch (error) {
    await fs.rm(copy, { force: true }).catch(() => {});
    throw StoreError.from(error);
  }
}

async function onceMore(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if ((Object(error).cause as NodeJS.ErrnoException | undefined)?.code !== 'EIO') throw error;
    await write();
  }
}
