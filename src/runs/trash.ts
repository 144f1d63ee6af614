import { promises as fs } from 'node:fs';
import path from 'node:path';
import type { RunSummary } from '../protocol/run/summary.ts';
import { message } from '../protocol/text/l10n.ts';
import { mapLimit } from '../protocol/values/concurrency.ts';
import { StoreError } from './journal.ts';
import { createPrivateFolder } from './storage/privateFolder.ts';
import { readRunSummary } from './storedSummary.ts';

const day = 24 * 60 * 60 * 1000;
/** Days for which a deleted run can be restored. */
export const maxTrashDays = 30;

export interface DeletedRun extends RunSummary {
  name: string;
  daysLeft: number;
}

/**
 * Deleted runs, each in an unchanged folder. Deletion and restoration are a single rename; the folder name contains the time. A run is
 * therefore complete at every moment.
 */
export class DeletedRuns {
  constructor(
    private readonly runs: string,
    private readonly folder: string,
    private readonly now: () => number,
  ) {}

  /**
   * Deletes a stored run; returns the name for its restoration. The caller holds the lock of the run, which ends here. Throws `StoreError`.
   */
  async take(id: string): Promise<string> {
    const name = `${this.now()}.${id}`;
    await guarded(async () => {
      await createPrivateFolder(this.folder);
      await fs.rename(path.join(this.runs, id), path.join(this.folder, name));
    });
    await this.unlock(name).catch(() => {}); // a remaining lock is removed at restoration
    return name;
  }

  async list(): Promise<DeletedRun[]> {
    const runs = await mapLimit(await this.names(), 8, async (name) => {
      const summary = await readRunSummary(path.join(this.folder, name), idOf(name)!);
      return summary ? [{ ...summary, name, daysLeft: this.daysLeft(name) }] : [];
    });
    const when = ({ name }: DeletedRun) => deletedAt(name);
    return runs
      .flat()
      .filter(({ daysLeft }) => daysLeft > 0)
      .sort((one, other) => when(other) - when(one));
  }

  /** Restores a run and returns its id. Throws `StoreError`, also if the run is gone. */
  async restore(name: string): Promise<string> {
    const id = idOf(name);
    if (!id || !(await fs.stat(path.join(this.folder, name)).catch(() => undefined))) throw gone();
    await guarded(async () => {
      await this.unlock(name);
      await createPrivateFolder(this.runs);
      await fs.rename(path.join(this.folder, name), path.join(this.runs, id));
    });
    return id;
  }

  async remove(name: string): Promise<void> {
    if (!idOf(name)) throw gone();
    await guarded(async () => {
      // Renamed first, so that a half-removed run cannot be restored.
      await fs.rename(path.join(this.folder, name), path.join(this.folder, `${removing}${name}`));
      await fs.rm(path.join(this.folder, `${removing}${name}`), { recursive: true, force: true });
    });
  }

  async sweep(): Promise<void> {
    const late = (await this.names()).filter((name) => this.daysLeft(name) <= 0);
    for (const name of late) await this.remove(name).catch(() => {}); // done by another window or at the next start
    const left = (await entries(this.folder)).filter((name) => name.startsWith(removing));
    for (const name of left)
      await fs.rm(path.join(this.folder, name), { recursive: true, force: true }).catch(() => {});
  }

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

// Name format `1763812345678.run-…`: time of the deletion and run id.
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
