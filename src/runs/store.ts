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
import { Contents } from './contentStore.ts';
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

/** Runs looked at at the same time: a thousand journals would not fit into memory. */
const atOnce = 8;
/** Runs made ready for being searched before they are kept. */
const keptAtOnce = 50;

/** A run opened for writing: nobody else writes it until `close`. */
export interface OpenRun {
  run: Run;
  append(event: StoredEvent): Promise<void>;
  close(): Promise<void>;
}

/**
 * The runs of one workspace: a folder per run with its journal and the contents of what it changed. Folders are 0700, files
 * 0600. Every method throws `StoreError` when it cannot do what it says.
 */
export class RunStore {
  readonly contents: Contents;
  readonly deleted: DeletedRuns;
  readonly marks: WindowStatus;
  private readonly history: History;
  private readonly openHere = new Map<string, Run>();

  /**
   * @param folder absolute path; made when first written to
   * @param now epoch milliseconds: how long a run has been deleted
   * @param window what this one is called, for people who meet its locks
   * @param witness hears each event that is kept, before anything is done on it; what it rejects with ends the run's work
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
    this.contents = new Contents(runs, () => this.deleted.folders());
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

  /** Opens a kept run to go on with it. */
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

  /** Reads a kept run without taking it. */
  async read(id: string): Promise<Run> {
    return (await this.readWhole(id)).run;
  }

  /** Reads the last messages of a long run; see `readLastMessages`. */
  readLastMessages(id: string): Promise<Run | undefined> {
    return readLastMessages(this.folderOf(id), id);
  }

  /** What the person said in a run. */
  async said(id: string): Promise<ForkedText[]> {
    const { run, contents } = await this.readWhole(id);
    return forkedText(run, contents);
  }

  /** How many messages a run had at its event `seq`. */
  async messagesUpTo(id: string, seq: number): Promise<number> {
    const { run, contents } = await this.readWhole(id);
    return messageSeqs(run, contents).filter((one) => one <= seq).length;
  }

  /** Calls of a run that had not ended at its event `seq`. */
  async callsAfter(id: string, seq: number): Promise<string[]> {
    const { run, contents } = await this.readWhole(id);
    return callsAfter(run, contents, seq);
  }

  /**
   * A run of its own that goes on from another one's event `seq`; gives its id. Nothing of the other is taken or changed, whoever
   * has it open. Throws `StoreError` with a sentence also for one that has more than its events tell.
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

  /** What is kept of a run, event by event, and what of its record is damaged, in sentences. */
  async events(id: string): Promise<{ events: StoredEvent[]; damage: string[] }> {
    await this.mustExist(id);
    const { entries, wounds } = await readJournal(this.journalOf(id), id);
    return { events: entries.flatMap(({ event }) => event ?? []), damage: wounds.map(({ text }) => inEnglish(text)) };
  }

  /** A run with its branches, each as far as its record is whole, as a file that `importedRuns` reads. `hide`: see `dataOf`. */
  async exported(id: string, hide: Hide): Promise<RunsFile> {
    await this.mustExist(id);
    const runs = await mapLimit(kinOf(id, await this.list()), atOnce, async (one) => {
      const read = this.readWhole(one.id);
      const whole = await (one.id === id ? read : read.catch(() => undefined)); // a branch that cannot be read stays here
      if (!whole) return [];
      const until = whole.run.damage?.[0]?.from ?? Number.POSITIVE_INFINITY;
      const events = whole.contents.entries.flatMap(({ event, seq }) => (event && seq <= until ? [event] : []));
      return [{ id: one.id, events: dataOf(events, hide) }];
    });
    return { 'towpath-runs': 1, shown: id, runs: runs.flat() };
  }

  /** Keeps runs that come from elsewhere, all of them or none. */
  async bring(runs: readonly Imported[]): Promise<void> {
    const folder = path.join(this.folder, 'runs');
    const made: string[] = [];
    try {
      for (const { id, events } of runs) {
        await keepFork(folder, id, id, events); // which has no contents
        made.push(id);
      }
    } catch (error) {
      for (const id of made) await fs.rm(this.folderOf(id), { recursive: true, force: true }).catch(() => {});
      throw error;
    }
  }

  /** All runs, newest first. A run that cannot be read is listed with what is wrong with it. */
  async list(): Promise<RunSummary[]> {
    return (await this.indexed()).map(({ summary }) => summary);
  }

  /** The runs in whose title and texts all of these words are, newest first. */
  async search(query: string): Promise<{ run: RunSummary; excerpt?: string }[]> {
    return search(await this.indexed(), query).map(({ indexed, excerpt }) => ({
      run: indexed.summary,
      ...(excerpt !== undefined && { excerpt }),
    }));
  }

  /** What a list says of one run; undefined: there is none. */
  async listed(id: string): Promise<RunSummary | undefined> {
    const open = this.openHere.get(id);
    if (open) return toStoredSummary(open);
    return isRunId(id) ? readSummary(this.folderOf(id), id) : undefined;
  }

  async has(id: string): Promise<boolean> {
    return isRunId(id) && (await fs.stat(this.journalOf(id)).catch(() => undefined)) !== undefined;
  }

  /** Of all runs, newest first. One whose journal has changed since is read, one that is open here is asked itself. */
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

  /** What each run follows, deleted ones too; undefined for one whose record does not tell. */
  async workflowIds(): Promise<(string | undefined)[]> {
    const folders = [...(await this.ids()).map((id) => this.folderOf(id)), ...(await this.deleted.folders())];
    const firsts = await mapLimit(folders, atOnce, (folder) => readFirstEvent(journalIn(folder)));
    return firsts.map((event) => (event?.type === 'run-start' ? event.workflowId : undefined));
  }

  /** Takes a run away, as a whole; gives the name by which `deleted` brings it back. Not while anybody has it open. */
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

  /** Who has the run open for writing, and the last sign of life of that (epoch ms); undefined: nobody who lives. */
  holder(id: string): Promise<{ holder?: LockHolder; beatAt: number } | undefined> {
    return holderOf(this.lockOf(id));
  }

  /** Another window is at work on it. */
  isElsewhere(id: string): Promise<boolean> {
    return isHeldElsewhere(this.lockOf(id));
  }

  /**
   * Takes the run from whoever has it open, so that it can be opened here: what that one writes from now on is not recorded,
   * and it is told so. Not from this window itself.
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

  /** Removes what kills left behind, and what was deleted longer ago than it is kept. */
  async sweep(): Promise<void> {
    await this.deleted.sweep();
    await sweepRunLeftovers(path.join(this.folder, 'runs'), this.now());
    await removeStates(this.modelStates, await idsOfStates(this.modelStates, (id) => this.has(id)));
  }

  /** A folder per run. */
  get runsFolder(): string {
    return path.join(this.folder, 'runs');
  }

  /** What a local model has read of runs: it goes when the run is deleted. */
  get modelStates(): string {
    return modelStatesIn(this.folder);
  }

  /** Where what belongs to a run alone is kept: it goes with the run. Made by whoever writes there first. */
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
        // A lost summary is made again from the journal.
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
    const names = await fs.readdir(path.join(this.folder, 'runs')).catch(() => []); // nothing has been kept yet
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

  /** Whoever deletes or moves the folder of a run at work leaves the open file writable, and nobody could find what is written. */
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
    return searchTermsOf(run); // what is only listed has no need of them
  },
});

const isRunId = (name: string): boolean => /^run-[\w-]{1,100}$/.test(name);

const takenOver = () =>
  new StoreError(
    'STORE_LOCKED',
    message('Another window took over this run. It continues there; this window does nothing more in it.'),
  );

/** A copy in its place: whoever has the one before open, and writes late, writes where nobody reads. */
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

/** A disk that fails once may have had a bad moment. */
async function onceMore(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if ((Object(error).cause as NodeJS.ErrnoException | undefined)?.code !== 'EIO') throw error;
    await write();
  }
}
