import { constants } from 'node:fs';
import { access, type FileHandle, mkdir, open, realpath } from 'node:fs/promises';
import * as paths from 'node:path';
import { quoteForMessage } from '../core/pathSyntax.ts';
import { ToolError } from '../core/tool.ts';
import { swappedLinkError } from './openFile.ts';
import { errnoToToolError } from './paths.ts';

/** Linux flag for a handle that only names a folder; missing in Node's constants. */
export const O_PATH = 0o10000000;

/** Calls `work` with a stable name of a path's folder: the name stays the same folder even if links are swapped. */
export async function withStableFolder(
  path: string,
  make: boolean,
  work: (folder: string, name: string) => Promise<void>,
) {
  const folder = paths.dirname(path);
  const handles: FileHandle[] = [];
  try {
    const held = await hold(folder, make, handles);
    await work(held ?? folder, paths.basename(path));
    if (held === undefined && (await realpath(folder)) !== folder) throw swappedLinkError(paths.basename(path));
  } catch (error) {
    throw asToolError(error, path);
  } finally {
    for (const handle of handles) await handle.close();
  }
}

// Opens each folder from `/` on, never through a link. Undefined if the system has no such handles.
async function hold(folder: string, make: boolean, handles: FileHandle[]): Promise<string | undefined> {
  if (!(await supportsFolderHandles())) {
    if (make) await mkdir(folder, { recursive: true });
    if ((await realpath(folder)) !== folder) throw swappedLinkError(paths.basename(folder));
    return undefined;
  }
  let held = '/';
  for (const name of folder.split('/').filter(Boolean)) {
    const next = paths.join(held, name);
    const flags = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    const handle = await open(next, flags).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'ELOOP' || error.code === 'ENOTDIR') throw swappedLinkError(name);
      if (error.code !== 'ENOENT' || !make) throw error;
      const why = await mkdir(next).catch((failure: NodeJS.ErrnoException) => failure);
      if (why && why.code !== 'EEXIST') throw why; // created by another process is equally good
      return open(next, flags);
    });
    handles.push(handle);
    held = `/proc/self/fd/${handle.fd}`;
  }
  return held;
}

export const supportsFolderHandles = async (): Promise<boolean> =>
  process.platform === 'linux' &&
  access('/proc/self/fd').then(
    () => true,
    () => false,
  );

function asToolError(error: unknown, path: string): ToolError {
  if (error instanceof ToolError) return error;
  const name = paths.basename(path);
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (code === 'EEXIST') return new ToolError('E_PRECONDITION_FAILED', `${quoteForMessage(name)} exists already.`);
  if (code === 'ENOTDIR') return swappedLinkError(name);
  return errnoToToolError(error, name);
}
