import { existsSync } from 'node:fs';
import * as paths from 'node:path';
import { sweepTempFiles } from '../core/tempFiles.ts';
import type { Workspace } from '../core/workspace.ts';
import { encodeAs, formOfBytes } from '../sandbox/fileText.ts';
import { restoreTree } from '../sandbox/fileTree.ts';
import { openForReading } from '../sandbox/openFile.ts';
import { resolvePath } from '../sandbox/paths.ts';
import { replaceFile } from '../sandbox/writeFile.ts';
import type { AppliedChanges } from './changeState.ts';

/**
 * What a kill leaves of a write in place (`sandbox/writeFile.ts`): it begins as the new content, goes on as the old one, and is as long
 * as the longer of them. Both ends of that, the one content and the other, are whole.
 */
export function isTorn(there: Buffer, before: Buffer, after: Buffer): boolean {
  if (there.equals(before) || there.equals(after)) return false;
  const same = commonStart(there, after);
  if (there.length !== before.length) return there.length > before.length && same === there.length;
  return there.subarray(same).equals(before.subarray(same));
}

/**
 * After a kill: removes what was being written beside a file (workspace-relative), and gives the file, when it is half written,
 * the text that it had. Both texts are those of the change that was at work. Resolves to whether it was half written. Throws
 * what `resolvePath` and the disk say.
 */
export async function putRight(
  workspace: Pick<Workspace, 'roots' | 'isDirty'>,
  { path, before, after }: { path: string; before: string | null; after: string | null },
): Promise<boolean> {
  const file = await resolvePath(workspace.roots, path, 'write');
  await sweepTempFiles(paths.dirname(file.path));
  if (file.kind !== 'file' || before === null || after === null || workspace.isDirty(file.path)) return false;
  const { handle, stats } = await openForReading(file);
  const there = await handle.readFile().finally(() => handle.close());
  const form = formOfBytes(there, stats.mode);
  if (!isTorn(there, encodeAs(before, form), encodeAs(after, form))) return false;
  await replaceFile(file.path, encodeAs(before, form));
  return true;
}

/**
 * The same for all that a call was about to change whose end nobody recorded. What cannot be read, or is not kept any more, stays
 * as it is.
 * @param read gives a kept text by its id
 */
export async function putAllRight(
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
      await putRight(workspace, { path, before: await text(before), after: await text(after) });
    } catch {
      // Its standing says so.
    }
  }
}

/** Of a path that is gone: the first folder on the way to it that is gone, too. */
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
