import { promises as fs } from 'node:fs';
import path from 'node:path';
import {
  type ContentPackIndex,
  contentPackIndexLength,
  contentPackSuffix,
  contentPackTailBytes,
  parseContentPackIndex,
} from '../../protocol/values/contentPack.ts';

// Indexes of packs by path. A pack never changes.
const indexes = new Map<string, ContentPackIndex>();
const maxIndexes = 200;

/** Reads a content from the packs of a folder; undefined if no pack holds it. An unreadable pack is skipped. */
export async function readPackedContent(folder: string, id: string): Promise<Buffer | undefined> {
  for (const pack of await packsIn(folder)) {
    const entry = (await readPackIndex(pack))?.get(id);
    if (!entry) continue;
    const handle = await fs.open(pack, 'r');
    try {
      const bytes = Buffer.alloc(entry.length);
      const { bytesRead } = await handle.read(bytes, 0, entry.length, entry.offset);
      return bytes.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  }
  return undefined;
}

/** Returns the packs of a folder that hold one of the contents, as absolute paths. */
export async function packsWithContents(folder: string, ids: ReadonlySet<string>): Promise<string[]> {
  const found: string[] = [];
  for (const pack of await packsIn(folder)) {
    const index = await readPackIndex(pack);
    if (index && [...index.keys()].some((id) => ids.has(id))) found.push(pack);
  }
  return found;
}

const packsIn = async (folder: string): Promise<string[]> =>
  (await fs.readdir(folder).catch(() => []))
    .filter((name) => name.endsWith(contentPackSuffix))
    .map((name) => path.join(folder, name));

async function readPackIndex(pack: string): Promise<ContentPackIndex | undefined> {
  const known = indexes.get(pack);
  if (known) return known;
  const index = await readIndex(pack).catch(() => undefined); // removed by the quota, or damaged
  if (!index) return undefined;
  if (indexes.size >= maxIndexes) indexes.clear();
  indexes.set(pack, index);
  return index;
}

async function readIndex(pack: string): Promise<ContentPackIndex> {
  const handle = await fs.open(pack, 'r');
  try {
    const { size } = await handle.stat();
    const tail = Buffer.alloc(contentPackTailBytes);
    await handle.read(tail, 0, tail.length, size - tail.length);
    const length = contentPackIndexLength(tail);
    if (length > size - tail.length) throw new RangeError('not a pack');
    const json = Buffer.alloc(length);
    await handle.read(json, 0, length, size - tail.length - length);
    return parseContentPackIndex(json.toString('utf8'));
  } finally {
    await handle.close();
  }
}
