import { promises as fs } from 'node:fs';
import path from 'node:path';
import type { RunSummary } from '../protocol/run/summary.ts';
import { message } from '../protocol/text/l10n.ts';
import { mapLimit } from '../protocol/values/mapLimit.ts';
import { StoreError } from './journal.ts';
import { makeFolder } from './storage/privateFolder.ts';
import { readSummary } from './storedSummary.ts';

const day = 24 * 60 * 60 * 1000;
/** How long a deleted run can be brought back. */
export const maxTrashDays = 30;

/** `name`: what it is brought back by. */
export interface DeletedRun extends RunSummary {
  name: string;
  /** 1 to 30. */
  daysLeft: number;
}

/**
 * Deleted runs, each in a folder of its own as it was: journal, contents, state. A folder goes and comes by one rename, and
 * its name says when that was, so that a run is always in one place and whole, whoever is killed in the middle.
 */
export class DeletedRuns {
  /** @param now epoch milliseconds */
  constructor(
    private readonly runs: string,
    private readonly folder: string,
    private readonly now: () => number,
  ) {}

  /**
   * Takes the run from the kept ones; gives the name that brings it back. Whoever calls holds the run's lock, which ends with
   * this. Throws `StoreError`.
   */
  async take(id: string): Promise<string> {
    const name = `${this.now()}.${id}`;
    await guarded(async () => {
      await makeFolder(this.folder);
      await fs.rename(path.join(this.runs, id), path.join(this.folder, name));
    });
    await this.unlock(name).catch(() => {}); // a lock that stays goes when the run is brought back
    return name;
  }

  /** Those that can be brought back, the last deleted first. */
  async list(): Promise<DeletedRun[]> {
    const runs = await mapLimit(await this.names(), 8, async (name) => {
      const summary = await readSummary(path.join(this.folder, name), idOf(name)!);
      return summary ? [{ ...summary, name, daysLeft: this.daysLeft(name) }] : [];
    });
    const when = ({ name }: DeletedRun) => deletedAt(name);
    return runs
      .flat()
      .filter(({ daysLeft }) => daysLeft > 0)
      .sort((one, other) => when(other) - when(one));
  }

  /** Brings a run back among the kept ones; gives its id. Throws `StoreError`, also when it is there no more. */
  async restore(name: string): Promise<string> {
    const id = idOf(name);
    if (!id || !(await fs.stat(path.join(this.folder, name)).catch(() => undefined))) throw gone();
    await guarded(async () => {
      await this.unlock(name);
      await makeFolder(this.runs);
      await fs.rename(path.join(this.folder, name), path.join(this.runs, id));
    });
    return id;
  }

  /** Removes one for good. Throws `StoreError`, also when it is there no more. */
  async remove(name: string): Promise<void> {
    if (!idOf(name)) throw gone();
    await guarded(async () => {
      // Away at once, or somebody would bring half of it back.
      await fs.rename(path.join(this.folder, name), path.join(this.folder, `${removing}${name}`));
      await fs.rm(path.join(this.folder, `${removing}${name}`), { recursive: true, force: true });
    });
  }

  /** Removes for good what was deleted longer ago than 30 days, and what a removal that was cut off left behind. */
  async sweep(): Promise<void> {
    const late = (await this.names()).filter((name) => this.daysLeft(name) <= 0);
    for (const name of late) await this.remove(name).catch(() => {}); // another window was faster, or the next start is
    const left = (await entries(this.folder)).filter((name) => name.startsWith(removing));
    for (const name of left)
      await fs.rm(path.join(this.folder, name), { recursive: true, force: true }).catch(() => {});
  }

  /** The folders of all of them. */
  async folders(): Promise<string[]> {
    return (await this.names()).map((name) => path.join(this.folder, name));
  }

  private async names(): Promise<string[]> {
    return (await entries(this.folder)).filter((name) => idOf(name) !== undefined);
  }

  private daysLeft(name: string): number {
    return Math.min(maxTrashDays, Math.ceil((deletedAt(name) - this.now()) / day) + maxTrashDays);
  }

  private async unlock(name: string): Promise<void> {
    await fs.rm(path.join(this.folder, name, 'lock'), { force: true });
  }
}

const removing = 'removing.';
const entries = (folder: string): Promise<string[]> => fs.readdir(folder).catch(() => []);

/** `1763812345678.run-…`: when it was deleted, and the run. */
const idOf = (name: string): string | undefined => /^\d{1,15}\.(run-[\w-]{1,100})$/.exec(name)?.[1];
const deletedAt = (name: string): number => Number(name.split('.', 1)[0]);

const gone = () => new StoreError('STORE_DAMAGED', message('This deleted run no longer exists.'));

async function guarded(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw gone();
    if (code === 'ENOTEMPTY' || code === 'EEXIST')
      throw new StoreError('STORE_DAMAGED', message('This run is already in the list.'), { cause: error });
    throw StoreError.from(error);
  }
}
