// @invariant files-open-in-one-place: A file that others can change is opened only as a regular file, through one function.
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  type Stats,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** Reads a whole plain file, following links. Throws the system's error, or a code for other kinds and large files. */
export async function readRegularFile(path: string, maxBytes: number): Promise<Buffer> {
  const { handle, stats } = await openRegularFile(path);
  try {
    if (stats.size > maxBytes) throw Object.assign(new Error(`${path} is too large.`), { code: 'too large' });
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

export const notRegularFileCode = 'NOT_PLAIN';

/**
 * Opens a file that another process may have replaced: pipes, sockets and devices are neither read nor waited for. The caller closes the
 * handle.
 */
export async function openRegularFile(path: string | Buffer, flags = 0): Promise<{ handle: FileHandle; stats: Stats }> {
  const special = () => Object.assign(new Error(`${path} is no plain file.`), { code: notRegularFileCode });
  // O_NONBLOCK prevents a pipe from blocking the open. Windows has neither flag.
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

/** Reads a whole plain file synchronously, without following links. Undefined if missing or larger. */
export function readRegularFileSync(path: string, maxBytes: number): Buffer | undefined {
  let opened: number | undefined;
  try {
    opened = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
    const stats = fstatSync(opened);
    return stats.isFile() && stats.size <= maxBytes ? readFileSync(opened) : undefined;
  } catch {
    return undefined;
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}

/** Reads the first bytes of a plain file synchronously, following links. Undefined if missing or unreadable. */
export function readFileHeadSync(path: string, bytes: number): Buffer | undefined {
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

const pieceBytes = 1_000_000;

/**
 * Reads a whole plain file synchronously in pieces, without following links. Undefined for other kinds, and if the file changed meanwhile.
 * Throws the system's error.
 * @param take receives each piece, which is overwritten by the next
 */
export function readUnchangedFileSync(path: string, take: (piece: Buffer) => void): BigIntStats | undefined {
  const opened = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
  try {
    const stats = fstatSync(opened, { bigint: true });
    if (!stats.isFile()) return undefined;
    const piece = Buffer.alloc(Math.min(pieceBytes, Number(stats.size)));
    let done = 0;
    for (let read = 1; done < stats.size && read > 0; done += read) {
      read = readSync(opened, piece, 0, piece.length, done);
      take(piece.subarray(0, read));
    }
    const after = fstatSync(opened, { bigint: true });
    const isSame = after.size === stats.size && after.mtimeNs === stats.mtimeNs && after.ctimeNs === stats.ctimeNs;
    return BigInt(done) === stats.size && isSame ? stats : undefined;
  } finally {
    closeSync(opened);
  }
}
