import { existsSync } from 'node:fs';
import * as paths from 'node:path';
import { sweepTempFiles } from '../core/tempFiles.ts';
import type { Workspace } from '../core/workspace.ts';
import { encodeForFile, modeAndEncodingOfBytes } from '../sandbox/fileText.ts';
import { restoreTree } from '../sandbox/fileTree.ts';
import { openForReading } from '../sandbox/openFile.ts';
import { resolvePath } from '../sandbox/paths.ts';
import { replaceFile } from '../sandbox/writeFile.ts';
import type { AppliedChanges } from './changeState.ts';

/**
 * Tests for a partial write in place (`sandbox/writeFile.ts`) after a kill: a prefix of the new content, then the old content, with the
 * length of the longer. Either complete content is not torn.
 */
export function isPartialWrite(current: Buffer, before: Buffer, after: Buffer): boolean {
  if (current.equals(before) || current.equals(after)) return false;
  const same = commonStart(current, after);
  if (current.length !== before.length) return current.length > before.length && same === current.length;
  return current.subarray(same).equals(before.subarray(same));
}

/**
 * Repairs a file after a kill: removes the temporary file (workspace-relative path), and restores the old text of a partial write. Both
 * texts belong to the interrupted change. Resolves to true for a partial write. Throws the errors of `resolvePath` and of the disk.
 */
export async function repairInterruptedFile(
  workspace: Pick<Workspace, 'roots' | 'isDirty'>,
  { path, before, after }: { path: string; before: string | null; after: string | null },
): Promise<boolean> {
  const file = await resolvePath(workspace.roots, path, 'write');
  await sweepTempFiles(paths.dirname(file.path));
  if (file.kind !== 'file' || before === null || after === null || workspace.isDirty(file.path)) return false;
  const { handle, stats } = await openForReading(file);
  const current = await handle.readFile().finally(() => handle.close());
  const form = modeAndEncodingOfBytes(current, stats.mode);
  if (!isPartialWrite(current, encodeForFile(before, form), encodeForFile(after, form))) return false;
  await replaceFile(file.path, encodeForFile(before, form));
  return true;
}

/**
 * Repairs all files of an interrupted call. Unreadable files and contents no longer stored stay unchanged.
 * @param read returns a stored text by its id
 */
export async function repairInterruptedFiles(
  workspace: Workspace,
  { changes = [] }: AppliedChanges,
  read: (id: string) => Promise<string>,
): Promise<void> {
  for (const { path, kind, before, after } of changes) {
    const text = async (id: string | null) => (id === null ? null : read(id));
    try {
      if (kind !== undefined) {
        await bringBackWith(workspace, path);
        continue;
      }
      await repairInterruptedFile(workspace, { path, before: await text(before), after: await text(after) });
    } catch {
      // the change state reports the failure
    }
  }
}

async function bringBackWith(workspace: Workspace, path: string): Promise<void> {
  const file = await resolvePath(workspace.roots, path, 'mkdir');
  if (file.kind !== 'missing') return;
  for (let gone = file.path; ; gone = paths.dirname(gone))
    if (existsSync(paths.dirname(gone))) return restoreTree(gone);
}

function commonStart(one: Buffer, other: Buffer): number {
  const most = Math.min(one.length, other.length);
  let at = 0;
  while (at < most && one[at] === other[at]) at += 1;
  return at;
}
