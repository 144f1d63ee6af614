import type { BigIntStats } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import * as paths from 'node:path';
import { isTemporaryLogPath } from '../commands/outputFiles.ts';
import type { CommandPart } from '../core/commandPart.ts';

// Maximum remembered files; the oldest needs an approval again.
const maxFiles = 100;

/**
 * Unchanged output files that commands of this window created outside of the open folders. Read-only commands of the same run may read
 * these files like printed output. Stored in memory only: after a reload, an approval is needed.
 */
export class SeenOutputFiles {
  private readonly made = new Map<string, string>();
  private readonly ofRuns = new Set<string>();

  /** Tests if a command of this run created the current file at the path, not a link or a replacement. */
  async has(runId: string, path: string): Promise<boolean> {
    if (!this.ofRuns.has(keyOf(runId, path))) return false;
    const identity = await identityOf(path);
    return identity !== undefined && identity === this.made.get(path);
  }

  /**
   * Starts tracking right before a command of a run.
   * @param outputs output files named by the command, from `commandOutputFiles`
   * @param parts programs of the command, if known: other access to an output file revokes the permission
   * @returns a function to call after the result
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
        if (identity === undefined) continue; // not created, or moved to this path
        this.made.delete(path);
        this.made.set(path, identity);
        if (this.made.size > maxFiles) this.made.delete(this.made.keys().next().value!);
        keep(this.ofRuns, keyOf(runId, path));
      }
    };
  }
}

const keyOf = (runId: string, path: string) => `${runId} ${path}`;

function keep(all: Set<string>, one: string): void {
  all.delete(one);
  all.add(one);
  if (all.size > maxFiles) all.delete(all.values().next().value!);
}

const isMissing = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );

// Milliseconds of tolerance between the clocks of disk and process.
const clockTolerance = 20;

/**
 * Returns the identity of the user's own plain file with a single name in a folder that others cannot modify. The inode is reused, so the
 * creation time is part of the identity.
 * @param since epoch nanoseconds: older files are rejected
 */
async function identityOf(path: string, since = 0n): Promise<string | undefined> {
  if (!isTemporaryLogPath(path)) return undefined;
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
