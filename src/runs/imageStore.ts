import { createHash, randomUUID } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import type { Attachment } from '../protocol/content/messages.ts';
import type { StoredEvent } from '../protocol/run/events.ts';
import { mapLimit } from '../protocol/values/mapLimit.ts';

/**
 * Images of a run, each stored once by the hash of its bytes in the folder `images` of the run. A journal line has the hash
 * (`storedAs`) in the place of the base64 `data`. Journals of format version 1 have the data in the line; they are read as they are
 * and never rewritten. The folder lives and dies with its run: a branch has its own names of the same files, an export has the data.
 */
export const storedImages = (folder: string): string => path.join(folder, 'images');

type StoredAttachment = Omit<Attachment, 'data'> & { storedAs: string };

const isName = /^[0-9a-f]{64}$/;

/** Characters of base64 below which an image stays in its line. */
const minStored = 1024;

/** Returns the event as its line has it: images by hash, after they are on disk in `folder` (of the run). Rejects with the system's error. */
export async function withStoredImages(event: StoredEvent, folder: string): Promise<StoredEvent> {
  const stored = new Map<Attachment, StoredAttachment>();
  for (const attachment of attachmentsOf(event)) {
    const { data, ...rest } = attachment;
    if (data.length < minStored || !attachment.mediaType.startsWith('image/')) continue;
    const bytes = Buffer.from(data, 'base64');
    if (bytes.toString('base64') !== data) continue; // it would not be read as it was written
    stored.set(attachment, { ...rest, storedAs: await storeImage(storedImages(folder), bytes) });
  }
  return stored.size === 0 ? event : mapAttachments(event, (one) => (stored.get(one) ?? one) as Attachment);
}

/** Tells whether a line of this event needs a reader of format version 2. */
export const hasStoredImages = (event: StoredEvent): boolean => attachmentsOf(event).some((one) => 'storedAs' in one);

/** Writes the image under its hash unless it is there. */
async function storeImage(folder: string, bytes: Buffer): Promise<string> {
  const name = createHash('sha256').update(bytes).digest('hex');
  const file = path.join(folder, name);
  if ((await fs.stat(file).catch(() => undefined))?.size === bytes.length) return name;
  await fs.mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const temporary = `${file}.${randomUUID()}`;
  await fs.writeFile(temporary, bytes, { mode: 0o600, flush: true });
  await fs.rename(temporary, file);
  return name;
}

const storedKey = '"storedAs":"';

/** Hashes that the bytes of a journal name as images. */
export function storedImageNames(journal: Buffer): string[] {
  const names = new Set<string>();
  for (let at = journal.indexOf(storedKey); at >= 0; at = journal.indexOf(storedKey, at + 1)) {
    const start = at + storedKey.length;
    const name = journal.toString('latin1', start, start + 64);
    if (isName.test(name)) names.add(name);
  }
  return [...names];
}

/** Reads images as base64, by hash. One that is gone or was altered is not among them. */
export async function readImages(folder: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const images = new Map<string, string>();
  await mapLimit(names, 4, async (name) => {
    const bytes = await fs.readFile(path.join(storedImages(folder), name)).catch(() => undefined);
    if (bytes && createHash('sha256').update(bytes).digest('hex') === name) images.set(name, bytes.toString('base64'));
  });
  return images;
}

/**
 * Puts the data of images into a line's JSON, before the schema sees it. Returns the number of images that are lost: their
 * attachments are left out.
 */
export function restoreImages(event: unknown, images: ReadonlyMap<string, string>): number {
  let lost = 0;
  for (const owner of ownersOf(event)) {
    owner.attachments = owner.attachments.flatMap((one) => {
      const { storedAs, ...rest } = Object(one) as Partial<StoredAttachment>;
      if (typeof storedAs !== 'string' || 'data' in rest) return [one];
      const data = images.get(storedAs);
      if (data === undefined) lost++;
      return data === undefined ? [] : [{ ...rest, data }];
    });
  }
  return lost;
}

/** Gives a branch its own names of images; whatever becomes of the run that it comes from later. */
export async function shareImages(from: string, to: string): Promise<void> {
  const names = (await fs.readdir(storedImages(from)).catch(() => [])).filter((name) => isName.test(name));
  if (names.length === 0) return;
  await fs.mkdir(storedImages(to), { recursive: true, mode: 0o700 });
  await mapLimit(names, 8, async (name) => {
    const [source, target] = [path.join(storedImages(from), name), path.join(storedImages(to), name)];
    await fs.link(source, target).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST' || error.code === 'ENOENT') return;
      await fs.copyFile(source, target);
    });
  });
}

interface Owner {
  attachments: unknown[];
}

/** Parts of an event that have attachments. */
function ownersOf(event: unknown): Owner[] {
  const { message, attachments } = Object(event) as { message?: unknown; attachments?: unknown };
  const { attachments: own, toolResults } = Object(message) as { attachments?: unknown; toolResults?: unknown };
  return [
    ...(Array.isArray(attachments) ? [event as Owner] : []),
    ...(Array.isArray(own) ? [message as Owner] : []),
    ...(Array.isArray(toolResults) ? toolResults : []).filter((one) => Array.isArray(Object(one).attachments)),
  ];
}

const attachmentsOf = (event: StoredEvent): Attachment[] =>
  ownersOf(event).flatMap(({ attachments }) => attachments as Attachment[]);

/** Copies an event with other attachments. */
function mapAttachments(event: StoredEvent, map: (attachment: Attachment) => Attachment): StoredEvent {
  const copy = structuredClone(event);
  const owners = ownersOf(copy);
  for (const [index, { attachments }] of ownersOf(event).entries())
    owners[index]!.attachments = (attachments as Attachment[]).map(map);
  return copy;
}
