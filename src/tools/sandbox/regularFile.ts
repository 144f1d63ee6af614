// @invariant files-open-in-one-place: A file that others can change is opened only as a regular file, through one function.
import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** The whole of a plain file, links followed. Throws what the system says, or a code in words: no plain file, or too large. */
export async function readPlain(path: string, mostBytes: number): Promise<Buffer> {
  const { handle, stats } = await openPlain(path);
  try {
    if (stats.size > mostBytes) throw Object.assign(new Error(`${path} is too large.`), { code: 'too large' });
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

export const notPlain = 'NOT_PLAIN';

/**
 * The one way to open what somebody else may have put there: a pipe, a socket or a device is neither read nor waited for, whatever
 * it was a moment ago. The caller closes the handle.
 */
export async function openPlain(path: string, flags = 0): Promise<{ handle: FileHandle; stats: Stats }> {
  const special = () => Object.assign(new Error(`${path} is no plain file.`), { code: notPlain });
  // O_NONBLOCK: a pipe must not hang the open. Windows knows neither flag.
  const all = constants.O_RDONLY | flags | (constants.O_NONBLOCK ?? 0);
  const handle = await open(path, all).catch((error) => {
    throw error.code === 'ENXIO' ? special() : error; // a socket
  });
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw special();
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The whole of a plain file that is no link, for who cannot wait. Undefined: there is none, or it is larger. */
export function readPlainNow(path: string, mostBytes: number): Buffer | undefined {
  let opened: number | undefined;
  try {
    opened = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
    const stats = fstatSync(opened);
    return stats.isFile() && stats.size <= mostBytes ? readFileSync(opened) : undefined;
  } catch {
    return undefined;
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}

/** The first bytes of a plain file, links followed, for who cannot wait. Undefined: there is none, or it cannot be read. */
export function readHeadNow(path: string, bytes: number): Buffer | undefined {
  let opened: number | undefined;
  try {
    opened = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    if (!fstatSync(opened).isFile()) return undefined;
    const head = Buffer.alloc(bytes);
    return head.subarray(0, readSync(opened, head, 0, bytes, 0));
  } catch {
    return undefined;
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}
