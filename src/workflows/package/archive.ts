import { createHash, randomUUID } from 'node:crypto';
import { lstat, mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Entry, fromBufferPromise } from 'yauzl';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts, type LocalizableText } from '../../protocol/text/localized.ts';
import { checkDisplayablePath, isNonPortableFileName } from '../../tools/core/pathSyntax.ts';
import { readRegularFile } from '../../tools/sandbox/regularFile.ts';
import { unfinishedUnpackMarker } from './archiveNames.ts';
import { PackageError } from './problem.ts';

interface ArchiveLimits {
  archive: number;
  file: number;
  total: number;
  entries: number;
  /** Maximum ratio of unpacked to packed size. */
  ratio: number;
}

export const archiveLimits: ArchiveLimits = {
  archive: 50_000_000,
  file: 5_000_000,
  total: 50_000_000,
  entries: 2000,
  ratio: 200,
};

/** Bytes below which the ratio is ignored, because short texts may compress better. */
const smallFile = 100_000;
const maximumDepth = 16;

/**
 * Unpacks a `.bmad` archive below `storage` into a folder named by content hash, once, and returns the folder. Everything is validated
 * before writing, and the folder is complete or absent. Throws `PackageError`.
 */
export async function unpackArchive(file: string, storage: string, limits = archiveLimits): Promise<string> {
  const name = path.basename(file);
  const bytes = await readArchive(file, name, limits);
  const folder = path.join(storage, createHash('sha256').update(bytes).digest('hex'));
  // The modification time records the last use and prevents a concurrent cleanup.
  const isUnpacked = await utimes(folder, new Date(), new Date()).then(
    () => true,
    () => false,
  );
  if (isUnpacked) return folder;

  const files = await readEntries(bytes, name, limits);
  const temporary = path.join(storage, unfinishedUnpackMarker + randomUUID());
  try {
    for (const [inside, content] of files) {
      const target = path.join(temporary, ...inside.split('/'));
      await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
      await writeFile(target, content, { flag: 'wx', mode: 0o600, flush: true });
    }
    await rename(temporary, folder).catch(async (error) => {
      if (!(await lstat(folder).catch(() => undefined))) throw error; // otherwise another window was faster
    });
    return folder;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function readArchive(file: string, name: string, limits: ArchiveLimits): Promise<Buffer> {
  try {
    return await readRegularFile(file, limits.archive);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const isTooLarge = code === 'too large';
    throw new PackageError(
      name,
      isTooLarge ? message('larger than {0} bytes', limits.archive) : message('cannot be read'),
    );
  }
}

async function readEntries(bytes: Buffer, name: string, limits: ArchiveLimits): Promise<Map<string, Buffer>> {
  const refuse = (text: LocalizableText) => new PackageError(name, text);
  const files = new Map<string, Buffer>();
  const names = new Names();
  let total = 0;
  try {
    const zip = await fromBufferPromise(bytes, { strictFileNames: true, validateEntrySizes: true });
    if (zip.entryCount > limits.entries) throw refuse(message('more than {0} entries', limits.entries));
    for await (const entry of zip.eachEntry()) {
      const { fileName } = entry;
      const problem = names.add(fileName) ?? kindProblem(entry) ?? sizeProblem(entry, limits);
      if (problem) throw refuse(joinLocalizableTexts([JSON.stringify(fileName.slice(0, 200)), problem]));
      if (fileName.endsWith('/')) continue;
      total += entry.uncompressedSize;
      if (total > limits.total) throw refuse(message('unpacks to more than {0} bytes', limits.total));
      // yauzl fails if an entry exceeds the validated size
      const pieces: Buffer[] = [];
      for await (const piece of await zip.openReadStreamPromise(entry)) pieces.push(piece as Buffer);
      files.set(fileName, Buffer.concat(pieces));
    }
  } catch (error) {
    throw error instanceof PackageError
      ? error
      : refuse(message('not a whole zip archive: {0}', (error as Error).message));
  }
  if (files.size === 0) throw refuse(message('contains no files'));
  return files;
}

/** Set of archive names: relative, unique, and valid on any disk. */
class Names {
  private readonly kinds = new Map<string, 'file' | 'folder'>();

  add(name: string): LocalizedMessage | undefined {
    const isFolder = name.endsWith('/');
    const segments = name.replace(/\/$/, '').split('/');
    if (name.startsWith('/') || segments.includes('..') || segments.includes('.') || segments.includes(''))
      return message('leads out of its folder or is not a relative path');
    if (segments.length > maximumDepth) return message('is nested too deeply');
    if (segments.some((segment) => isNonPortableFileName(segment) || Buffer.byteLength(segment) > 200))
      return message('is not a valid name on every system');
    try {
      checkDisplayablePath(segments);
    } catch {
      return message('has invisible characters in its name');
    }
    const folded = segments.map((segment) => segment.normalize('NFC').toLowerCase());
    for (let depth = 1; depth < folded.length; depth++) {
      const folder = folded.slice(0, depth).join('/');
      if (this.kinds.get(folder) === 'file') return message('is inside a file');
      this.kinds.set(folder, 'folder');
    }
    const whole = folded.join('/');
    const kind = this.kinds.get(whole);
    if (kind === 'file' || (kind === 'folder' && !isFolder)) return message('occurs twice');
    this.kinds.set(whole, isFolder ? 'folder' : 'file');
    return undefined;
  }
}

/** Rejects entries other than files and folders; the upper bits contain the Unix mode. */
function kindProblem(entry: Entry): LocalizedMessage | undefined {
  const type = (entry.externalFileAttributes >>> 16) & 0o170000;
  if (type === 0o120000) return message('is a link');
  if (type !== 0 && type !== 0o100000 && type !== 0o040000) return message('is not a regular file');
  return entry.canDecodeFileData() ? undefined : message('is encrypted or packed in an unknown way');
}

function sizeProblem({ uncompressedSize, compressedSize }: Entry, limits: ArchiveLimits): LocalizedMessage | undefined {
  if (uncompressedSize > limits.file) return message('unpacks to more than {0} bytes', limits.file);
  const tooGood = uncompressedSize > smallFile && uncompressedSize > compressedSize * limits.ratio;
  return tooGood ? message('unpacks to more than {0} times its size', limits.ratio) : undefined;
}
