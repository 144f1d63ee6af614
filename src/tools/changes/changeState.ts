import { readlink } from 'node:fs/promises';
import type { FileMove, StoredFileChange } from '../../protocol/run/events.ts';
import { ToolError } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import { currentContent, sha256 } from '../sandbox/fileText.ts';
import { openForReading } from '../sandbox/openFile.ts';
import { type ResolvedPath, resolvePath } from '../sandbox/paths.ts';

export interface AppliedChanges {
  changes?: readonly StoredFileChange[];
  moved?: FileMove;
}

type ChangeState = 'before' | 'after' | 'neither';

/** Returns the state of each change and of the move, from the files on disk. Content ids decide; an unreadable file is `neither`. */
export async function readFileChangeStates(
  workspace: Workspace,
  { changes = [], moved }: AppliedChanges,
): Promise<{ changes: ChangeState[]; moved?: ChangeState }> {
  const each: ChangeState[] = [];
  for (const change of changes) each.push(await guarded(() => ofChange(workspace, change)));
  return { changes: each, ...(moved && { moved: await guarded(() => ofMove(workspace, moved)) }) };
}

const guarded = (look: () => Promise<ChangeState>): Promise<ChangeState> => look().catch(() => 'neither');

async function ofChange(workspace: Workspace, change: StoredFileChange): Promise<ChangeState> {
  const now = await currentContentId(workspace, change);
  return now === change.after ? 'after' : now === change.before ? 'before' : 'neither';
}

/** Returns the id of the current content at a change's path, computed in the form of the change; null if nothing exists there. */
export async function currentContentId(
  workspace: Workspace,
  change: Pick<StoredFileChange, 'path' | 'kind' | 'before'>,
): Promise<string | null> {
  const file = await find(workspace, change.path);
  return file === null ? null : idOf(workspace, file, change);
}

async function ofMove(workspace: Workspace, { from, to }: FileMove): Promise<ChangeState> {
  const exists = async (path: string) => (await find(workspace, path)) !== null;
  const [old, now] = [await exists(from), await exists(to)];
  return old === now ? 'neither' : now ? 'after' : 'before';
}

// Resolves the path itself without following a final link; null if nothing exists.
async function find(workspace: Workspace, path: string): Promise<ResolvedPath | null> {
  try {
    return await resolvePath(workspace.roots, path, 'delete');
  } catch (error) {
    if (error instanceof ToolError && error.code === 'ENOENT') return null;
    throw error;
  }
}

async function idOf(
  workspace: Workspace,
  file: ResolvedPath,
  { kind, before }: Pick<StoredFileChange, 'kind' | 'before'>,
): Promise<string | null> {
  if (kind === 'folder' || file.kind === 'folder') return kind === file.kind ? before : '';
  if (kind === 'link' || file.kind === 'link') return kind === file.kind ? sha256(await readlink(file.path)) : '';
  if (kind === undefined) {
    const content = await currentContent(workspace, file);
    return sha256(Buffer.isBuffer(content) ? content : content.text);
  }
  const { handle } = await openForReading(file);
  try {
    return sha256(await handle.readFile());
  } finally {
    await handle.close();
  }
}
