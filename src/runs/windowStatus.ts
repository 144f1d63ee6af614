import { type FSWatcher, promises as fs, watch } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { runStates } from '../protocol/run/run.ts';

const markSchema = z.object({
  state: z.enum(runStates),
  title: z.string(),
  /** With `asking`: what waits is an approval. */
  awaitsApproval: z.boolean().optional(),
  /** With `ended`: it rests at its limit of turns. */
  isAtLimit: z.boolean().optional(),
});
export type RunStatus = z.infer<typeof markSchema>;

/**
 * What windows say of runs that concern the person, for the other windows of the workspace and for the next one: a small file for
 * each, which its run does not depend on. That one is at work is true only as long as somebody has its lock.
 */
export class WindowStatus {
  private last: Promise<void> = Promise.resolve();

  /** @param folder absolute path; made when first written to */
  constructor(private readonly folder: string) {}

  /** Undefined: nothing more is to be said of it. In order, and never rejects: nothing hangs on it. */
  set(runId: string, mark: RunStatus | undefined): Promise<void> {
    const write = async () => {
      const file = path.join(this.folder, runId);
      if (!mark) return fs.rm(file, { force: true });
      await fs.mkdir(this.folder, { recursive: true, mode: 0o700 });
      await fs.writeFile(file, JSON.stringify(mark), { mode: 0o600 });
    };
    this.last = this.last.then(write).catch(() => {});
    return this.last;
  }

  /** By the runs' ids, after all that was said here. What is not understood is left out. */
  async read(): Promise<Map<string, RunStatus>> {
    await this.last;
    const names = await fs.readdir(this.folder).catch(() => []);
    const marks = await Promise.all(names.map(async (name) => [name, await this.markIn(name)] as const));
    return new Map(marks.flatMap(([name, mark]) => (mark ? [[name, mark] as const] : [])));
  }

  /** Calls when a window says something, where the system tells of it. `dispose` ends that. */
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
      // What other windows say is looked at when somebody asks.
    }
    return {
      dispose() {
        clearTimeout(soon);
        watcher?.close();
      },
    };
  }

  private async markIn(name: string): Promise<RunStatus | undefined> {
    try {
      return markSchema.parse(JSON.parse(await fs.readFile(path.join(this.folder, name), 'utf8')));
    } catch {
      return undefined;
    }
  }
}

/** What is said at nearly the same time is looked at together. */
const togetherMs = 100;
