import { createHash, type Hash } from 'node:crypto';
import { createReadStream, promises as fs } from 'node:fs';
import path from 'node:path';
import { byteSizeMessage } from '../../../protocol/text/byteSizes.ts';
import { message } from '../../../protocol/text/l10n.ts';
import { LLMError } from '../../core/errors.ts';
import type { DownloadableModel } from './modelHub.ts';

const reserve = 256 * 1024 ** 2;

export async function checkFreeSpace(
  model: DownloadableModel,
  folder: string,
  freeBytes: (folder: string) => Promise<number> = freeOnDisk,
): Promise<void> {
  let missing = 0;
  for (const { name, bytes } of model.files) {
    const target = path.join(folder, name);
    missing += bytes - ((await sizeOnDisk(target)) ?? (await sizeOnDisk(`${target}.part`)) ?? 0);
  }
  const free = await freeBytes(folder);
  if (missing <= 0 || missing + reserve <= free) return;
  const text = message(
    'There is not enough space in {0}: {1} are needed and {2} are free. Delete something, or set another download folder.',
    folder,
    byteSizeMessage(missing),
    byteSizeMessage(free),
  );
  throw new LLMError('UNKNOWN', text, { details: { missing, free } });
}

async function freeOnDisk(folder: string): Promise<number> {
  const { bavail, bsize } = await fs.statfs(folder);
  return bavail * bsize;
}

export async function sizeOnDisk(file: string): Promise<number | undefined> {
  try {
    return (await fs.stat(file)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Returns the checksum state and length of a file. `onBytesRead` receives the bytes read so far. Throws the signal's reason. */
export async function hashFile(
  file: string,
  onBytesRead: (bytes: number) => void,
  signal?: AbortSignal,
): Promise<{ hash: Hash; length: number }> {
  const hash = createHash('sha256');
  let length = 0;
  for await (const bytes of createReadStream(file, { highWaterMark: 1 << 20 })) {
    signal?.throwIfAborted();
    hash.update(bytes);
    length += bytes.length;
    onBytesRead(length);
  }
  return { hash, length };
}
