import { randomUUID } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import { relatedRuns } from '../protocol/run/branches.ts';
import type { StoredEvent } from '../protocol/run/events.ts';
import {
  type ExportedRunsFile,
  exportableEvents,
  type HideSecrets,
  type ImportedRun,
} from '../protocol/run/exchange.ts';
import { newRun, type Run } from '../protocol/run/run.ts';
import type { RunSummary } from '../protocol/run/summary.ts';
import { message, toEnglishText } from '../protocol/text/l10n.ts';
import { readOnlyReasonMessages } from '../protocol/text/readOnlyReason.ts';
import { mapLimit } from '../protocol/values/concurrency.ts';
import { ContentStore } from './contentStore.ts';
import {
  callIdsAfterEvent,
  createForkEvents,
  eventNumbersOfMessages,
  type ForkableUserMessage,
  forkableUserMessages,
  forkRefusalReason,
  storeFork,
} from './fork.ts';
import { type IndexedRun, RunHistoryIndex } from './history.ts';
import { moveImagesToStore } from './imageStore.ts';
import { Journal, StoreError } from './journal.ts';
import { readLastMessages } from './lastMessages.ts';
import { sweepRunLeftovers, sweepSnapshotLeftovers } from './leftovers.ts';
import { acquireRunLock, findLockHolder, isLockedByOtherProcess, type RunLock, takeOverRunLock } from './lock.ts';
import { orphanedSequenceStateRunIds, removeSequenceStatesOfRuns, sequenceStatesFolder } from './modelStates.ts';
import { readFirstEvent, readJournal } from './readJournal.ts';
import { findMatchingRuns, searchTextOfRun, searchTextOfRunTitle } from './searchRuns.ts';
import { bytesBelowFolder } from './storage/folderSize.ts';
import type { LockHolder } from './storage/lockHolder.ts';
import { createPrivateFolder } from './storage/privateFolder.ts';
import { snapshotsFolder } from './storage/storedFolders.ts';
import {
  type JournalFileStamp,
  journalPath,
  readRunForIndex,
  readRunSummary,
  readRunWithJournal,
  toStoredRunSummary,
  writeRunSummary,
} from './storedSummary.ts';
import { DeletedRuns } from './trash.ts';
import { PublishedRunStatuses } from './windowStatus.ts';

// Runs processed in parallel; a thousand journals would not fit into memory.
const atOnce = 8;
const maxOpenReads = 50;

/** Run opened for exclusive writing until `close`. */
export interface WritableRun {
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
  readonly marks: PublishedRunStatuses;
  private readonly history: RunHistoryIndex;
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
    this.history = new RunHistoryIndex(folder);
    this.marks = new PublishedRunStatuses(path.join(folder, 'now'));
    this.contents = new ContentStore(runs, () => this.deleted.folders(), now);
  }

  static newId(): string {
    return `run-${randomUUID()}`;
  }

  async create(id: string): Promise<WritableRun> {
    const folder = this.folderOf(id);
    await createPrivateFolder(folder).catch((error) => {
      throw StoreError.from(error);
    });
    const lock = await acquireRunLock(this.lockOf(id), this.window);
    return this.opened(id, newRun(id), lock, () => Journal.create(this.journalOf(id)));
  }

  async open(id: string): Promise<WritableRun> {
    const lock = await this.lock(id);
    const folder = this.folderOf(id);
    let read: Awaited<ReturnType<typeof readRunWithJournal>>;
    try {
      if (lock.fromLiving) await renew(this.journalOf(id));
      read = await readRunWithJournal(folder, id);
      if (read.run.readOnly) throw new StoreError('STORE_DAMAGED', message(readOnlyReasonMessages[read.run.readOnly]));
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

  async forkableMessages(id: string): Promise<ForkableUserMessage[]> {
    const { run, contents } = await this.readWhole(id);
    return forkableUserMessages(run, contents);
  }

  async messagesUpTo(id: string, seq: number): Promise<number> {
    const { run, contents } = await this.readWhole(id);
    return eventNumbersOfMessages(run, contents).filter((one) => one <= seq).length;
  }

  async callsAfter(id: string, seq: number): Promise<string[]> {
    const { run, contents } = await this.readWhole(id);
    return callIdsAfterEvent(run, contents, seq);
  }

  /**
   * Creates a branch from event `seq` and returns its id. The parent is not changed and may be open elsewhere. Throws `StoreError` with a
   * sentence also for unforkable runs.
   */
  async fork(id: string, seq: number): Promise<string> {
    const { run, contents } = await this.readWhole(id);
    const hasState = (await fs.stat(this.stateFolder(id)).catch(() => undefined)) !== undefined;
    const why = forkRefusalReason(run, contents, seq, hasState);
    if (why !== undefined) throw new StoreError('STORE_DAMAGED', why);
    const to = RunStore.newId();
    await storeFork(path.join(this.folder, 'runs'), id, to, createForkEvents(to, run, contents, seq, this.now()));
    return to;
  }

  private async readWhole(id: string): ReturnType<typeof readRunWithJournal> {
    await this.mustExist(id);
    return readRunWithJournal(this.folderOf(id), id);
  }

  async events(id: string): Promise<{ events: StoredEvent[]; damage: string[] }> {
    await this.mustExist(id);
    const { entries, wounds } = await readJournal(this.journalOf(id), id);
    return {
      events: entries.flatMap(({ event }) => event ?? []),
      damage: wounds.map(({ text }) => toEnglishText(text)),
    };
  }

  async exported(id: string, hide: HideSecrets): Promise<ExportedRunsFile> {
    await this.mustExist(id);
    const runs = await mapLimit(relatedRuns(id, await this.list()), atOnce, async (one) => {
      const read = this.readWhole(one.id);
      const whole = await (one.id === id ? read : read.catch(() => undefined)); // an unreadable branch is omitted
      if (!whole) return [];
      const until = whole.run.damage?.[0]?.from ?? Number.POSITIVE_INFINITY;
      const events = whole.contents.entries.flatMap(({ event, seq }) => (event && seq <= until ? [event] : []));
      return [{ id: one.id, events: exportableEvents(events, hide) }];
    });
    return { 'towpath-runs': 1, shown: id, runs: runs.flat() };
  }

  async bring(runs: readonly ImportedRun[]): Promise<void> {
    const folder = path.join(this.folder, 'runs');
    const made: string[] = [];
    try {
      for (const { id, events } of runs) {
        await storeFork(folder, id, id, events); // an import has no contents
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
    return findMatchingRuns(await this.indexed(), query).map(({ indexed, excerpt }) => ({
      run: indexed.summary,
      ...(excerpt !== undefined && { excerpt }),
    }));
  }

  async listed(id: string): Promise<RunSummary | undefined> {
    const open = this.openHere.get(id);
    if (open) return toStoredRunSummary(open);
    return isRunId(id) ? readRunSummary(this.folderOf(id), id) : undefined;
  }

  async has(id: string): Promise<boolean> {
    return isRunId(id) && (await fs.stat(this.journalOf(id)).catch(() => undefined)) !== undefined;
  }

  private async indexed(): Promise<IndexedRun[]> {
    const [ids, known] = await Promise.all([this.ids(), this.history.read()]);
    const found: IndexedRun[] = [];
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
    for (let at = 0; at < stale.length; at += maxOpenReads) {
      const read = await mapLimit(stale.slice(at, at + maxOpenReads), atOnce, (id) => this.readForIndex(id));
      const made = read.filter((run) => run !== undefined);
      await this.history.keep(made);
      found.push(...made);
    }
    if (stale.length > 0) await this.history.tidy(found);
    return found.sort((one, other) => other.summary.updatedAt - one.summary.updatedAt);
  }

  private async readForIndex(id: string): Promise<IndexedRun | undefined> {
    const read = await readRunForIndex(this.folderOf(id), id);
    return (
      read && { ...read, searchText: read.run ? searchTextOfRun(read.run) : searchTextOfRunTitle(read.summary.title) }
    );
  }

  /** Workflow of each run, deleted runs included; undefined for an unreadable record. */
  async workflowIds(): Promise<(string | undefined)[]> {
    const folders = [...(await this.ids()).map((id) => this.folderOf(id)), ...(await this.deleted.folders())];
    const firsts = await mapLimit(folders, atOnce, (folder) => readFirstEvent(journalPath(folder)));
    return firsts.map((event) => (event?.type === 'run-start' ? event.workflowId : undefined));
  }

  /** Moves a run to the deleted runs; returns the name for `deleted`. Fails while the run is open. */
  async delete(id: string): Promise<string> {
    const lock = await this.lock(id);
    try {
      const name = await this.deleted.take(id);
      await removeSequenceStatesOfRuns(this.modelStates, [id]);
      await this.history.drop(id);
      return name;
    } finally {
      await lock.release();
    }
  }

  holder(id: string): Promise<{ holder?: LockHolder; beatAt: number } | undefined> {
    return findLockHolder(this.lockOf(id));
  }

  isElsewhere(id: string): Promise<boolean> {
    return isLockedByOtherProcess(this.lockOf(id));
  }

  /**
   * Takes a run from another window. Later events of the other window are not recorded, and its writes fail. Never takes from this window.
   */
  async takeOver(id: string): Promise<void> {
    await this.mustExist(id);
    const lock = await takeOverRunLock(this.lockOf(id), this.window);
    try {
      await renew(this.journalOf(id));
    } finally {
      await lock.release();
    }
  }

  /** Returns the bytes of the runs without contents and outputs, and their numbers. */
  async usage(): Promise<{ bytes: number; runs: number; deleted: number }> {
    const [runs, deleted] = [(await this.ids()).map((id) => this.folderOf(id)), await this.deleted.folders()];
    const sizes = await mapLimit([...runs, ...deleted], atOnce, (folder) => bytesBelowFolder(folder, ['contents']));
    return { bytes: sizes.reduce((sum, size) => sum + size, 0), runs: runs.length, deleted: deleted.length };
  }

  async sweep(): Promise<void> {
    await this.deleted.sweep();
    await sweepRunLeftovers(path.join(this.folder, 'runs'), this.now());
    await sweepSnapshotLeftovers(this.snapshotsFolder, this.now());
    await removeSequenceStatesOfRuns(
      this.modelStates,
      await orphanedSequenceStateRunIds(this.modelStates, (id) => this.has(id)),
    );
  }

  get runsFolder(): string {
    return path.join(this.folder, 'runs');
  }

  get snapshotsFolder(): string {
    return snapshotsFolder(this.folder);
  }

  get modelStates(): string {
    return sequenceStatesFolder(this.folder);
  }

  stateFolder(id: string): string {
    return path.join(this.folderOf(id), 'state');
  }

  private async opened(id: string, run: Run, lock: RunLock, start: () => Promise<Journal>): Promise<WritableRun> {
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
        const line = await moveImagesToStore(event, this.folderOf(id)).catch((error) => {
          throw StoreError.from(error);
        });
        await onceMore(() => journal.append(line));
        const bytes = await this.bytesOf(id);
        if (bytes > 0 && !(await lock.isHeld())) throw takenOver();
        if (bytes < journal.size) throw StoreError.gone();
        await this.witness(event);
      },
      close: async () => {
        // A lost summary is rebuilt from the journal.
        try {
          if (await lock.isHeld()) await this.keepSummary(run, await journal.stamp()).catch(() => {});
          await journal.close();
          await lock.release();
        } finally {
          if (this.openHere.get(id) === run) this.openHere.delete(id);
        }
      },
    };
  }

  private async keepSummary(run: Run, stamp: JournalFileStamp): Promise<void> {
    await writeRunSummary(this.folderOf(run.id), run, stamp);
    await this.history.keep([indexedOf(run, stamp)]);
  }

  private async ids(): Promise<string[]> {
    const names = await fs.readdir(path.join(this.folder, 'runs')).catch(() => []); // nothing stored yet
    return names.filter(isRunId);
  }

  private async lock(id: string): Promise<RunLock> {
    await this.mustExist(id);
    try {
      return await acquireRunLock(this.lockOf(id), this.window);
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
    return journalPath(this.folderOf(id));
  }
  private lockOf(id: string): string {
    return path.join(this.folderOf(id), 'lock');
  }
}

const indexedOf = (run: Run, stamp: JournalFileStamp): IndexedRun => ({
  summary: toStoredRunSummary(run),
  stamp,
  get searchText() {
    return searchTextOfRun(run); // runs that are only listed need no search terms
  },
});

const isRunId = (name: string): boolean => /^run-[\w-]{1,100}$/.test(name);

const takenOver = () =>
  new StoreError(
    'STORE_LOCKED',
    message('Another window took over this run. It continues there; this window does nothing more in it.'),
  );

// Replaces the journal by a copy: late writes of the previous holder go to the unlinked file.
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
