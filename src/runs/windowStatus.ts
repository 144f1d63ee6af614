import { type FSWatcher, promises as fs, watch } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { runStates } from '../protocol/run/run.ts';

const markSchema = z.object({
  state: z.enum(runStates),
  title: z.string(),
  awaitsApproval: z.boolean().optional(),
  isAtLimit: z.boolean().optional(),
});
export type PublishedRunStatus = z.infer<typeof markSchema>;

/**
 * Run states published by windows for other windows of the workspace and for the next start: a small file per run, on which the run does
 * not depend. A running state is valid only while a process holds the lock of the run. `awaitsApproval` refines `asking`, `isAtLimit` (the
 * turn limit) refines `ended`.
 */
export class PublishedRunStatuses {
  private last: Promise<void> = Promise.resolve();

  constructor(private readonly folder: string) {}

  /** Publishes a state; undefined removes it. Writes are ordered and never reject. */
  set(runId: string, mark: PublishedRunStatus | undefined): Promise<void> {
    const write = async () => {
      const file = path.join(this.folder, runId);
      if (!mark) return fs.rm(file, { force: true });
      await fs.mkdir(this.folder, { recursive: true, mode: 0o700 });
      await fs.writeFile(file, JSON.stringify(mark), { mode: 0o600 });
    };
    this.last = this.last.then(write).catch(() => {});
    return this.last;
  }

  /** Reads the states by run id, after pending writes of this window. Invalid files are skipped. */
  async read(): Promise<Map<string, PublishedRunStatus>> {
    await this.last;
    const names = await fs.readdir(this.folder).catch(() => []);
    const marks = await Promise.all(names.map(async (name) => [name, await this.markIn(name)] as const));
    return new Map(marks.flatMap(([name, mark]) => (mark ? [[name, mark] as const] : [])));
  }

  /** Notifies of changes by other windows if the system supports file watching; `dispose` ends the watch. */
  async watch(changed: () => void): Promise<{ dispose(): void }> {
    let watcher: FSWatcher | undefined;
    let soon: NodeJS.Timeout | undefined;
    try {
      await fs.mkdir(this.folder, { recursive: true, mode: 0o700 });
      watcher = watch(this.folder, { persistent: false }, () => {
        soon ??= setTimeout(() => {
          soon = undefined;
          changed();
        }, togetherMs).unref();
      });
      watcher.on('error', () => watcher?.close());
    } catch {
      // Without file watching, states are read on demand.
    }
    return {
      dispose() {
        clearTimeout(soon);
        watcher?.close();
      },
    };
  }

  private async markIn(name: string): Promise<PublishedRunStatus | undefined> {
    try {
      return markSchema.parse(JSON.parse(await fs.readFile(path.join(this.folder, name), 'utf8')));
    } catch {
      return undefined;
    }
  }
}

const togetherMs = 100;
