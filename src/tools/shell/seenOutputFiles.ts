import type { BigIntStats } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import * as paths from 'node:path';
import { isOutputName } from '../commands/outputFiles.ts';
import type { CommandPart } from '../core/commandPart.ts';

/** More of them are not remembered; the oldest is asked about again. */
const mostFiles = 100;

/**
 * The files outside of the open folders that commands of this window have made for their output: those that were not there before,
 * and are still the very same. What commands of a run have written there may be read by that run's commands that only read, as it
 * could have been if they had printed it. In memory alone: after a reload it is asked about.
 */
export class CommandOutputs {
  /** By path: which file on the disk it is. */
  private readonly made = new Map<string, string>();
  /** Run and path. */
  private readonly ofRuns = new Set<string>();

  /** Whether a command of this run has written it, and it is that file, nobody else's, and no link, as the disk is now. */
  async has(runId: string, path: string): Promise<boolean> {
    if (!this.ofRuns.has(keyOf(runId, path))) return false;
    const identity = await identityOf(path);
    return identity !== undefined && identity === this.made.get(path);
  }

  /**
   * Right before a command of a run starts.
   * @param outputs where it says it writes, as `outputFilesOf` gives them
   * @param parts what it runs, where that can be said: whatever else it does to such a file makes it an unknown one
   * @returns to be called when its call has its result
   */
  async begin(
    runId: string,
    { line, outputs, parts }: { line: string; outputs: readonly string[]; parts?: readonly CommandPart[] },
  ): Promise<() => Promise<void>> {
    const touching = parts ? parts.filter(({ reads }) => !reads).map(({ words }) => words) : [line];
    for (const path of this.made.keys())
      if (!outputs.includes(path) && touching.some((text) => text.includes(paths.basename(path))))
        this.made.delete(path);
    const awaited: string[] = [];
    const begun = BigInt(Date.now() - clockTolerance) * 1_000_000n;
    for (const path of outputs) {
      if (await isMissing(path)) awaited.push(path);
      else if (this.made.has(path) && (await identityOf(path)) === this.made.get(path))
        keep(this.ofRuns, keyOf(runId, path));
      else this.made.delete(path);
    }
    return async () => {
      for (const path of awaited) {
        const identity = await identityOf(path, begun);
        if (identity === undefined) continue; // not made, or moved there
        this.made.delete(path);
        this.made.set(path, identity);
        if (this.made.size > mostFiles) this.made.delete(this.made.keys().next().value!);
        keep(this.ofRuns, keyOf(runId, path));
      }
    };
  }
}

const keyOf = (runId: string, path: string) => `${runId} ${path}`;

function keep(all: Set<string>, one: string): void {
  all.delete(one);
  all.add(one);
  if (all.size > mostFiles) all.delete(all.values().next().value!);
}

const isMissing = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );

/** Milliseconds by which the disk's clock may be behind ours. */
const clockTolerance = 20;

/**
 * Of a plain file of ours that has this one name, in a folder where nobody else can put another one in its place. A number alone is
 * given again to the next file; when it was made is not.
 * @param since epoch nanoseconds: not one that is older
 */
async function identityOf(path: string, since = 0n): Promise<string | undefined> {
  if (!isOutputName(path)) return undefined;
  const [file, folder] = await Promise.all([
    lstat(path, { bigint: true }).catch(() => undefined),
    stat(paths.dirname(path), { bigint: true }).catch(() => undefined),
  ]);
  if (!file?.isFile() || file.nlink !== 1n || !isOurs(file) || file.birthtimeNs < since) return undefined;
  const shared = folder !== undefined && (folder.mode & 0o022n) !== 0n;
  const isSafe =
    folder?.isDirectory() && (isOurs(folder) || folder.uid === 0n) && (!shared || (folder.mode & 0o1000n) !== 0n);
  return isSafe ? `${file.dev} ${file.ino} ${file.birthtimeNs}` : undefined;
}

const isOurs = ({ uid }: BigIntStats): boolean => process.getuid !== undefined && uid === BigInt(process.getuid());
