import { createHash, randomUUID } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import type { Attachment } from '../protocol/content/messages.ts';
import type { StoredEvent } from '../protocol/run/events.ts';
import { mapLimit } from '../protocol/values/concurrency.ts';

/**
 * Images of a run, stored once per hash in the folder `images` of the run. A journal line has the hash (`storedAs`) instead of the base64
 * `data`. Journals of format version 1 contain the data and are never rewritten. A branch has hard links to the files; an export contains
 * the data.
 */
export const storedImagesFolder = (folder: string): string => path.join(folder, 'images');

type StoredAttachment = Omit<Attachment, 'data'> & { storedAs: string };

const isName = /^[0-9a-f]{64}$/;

const minStored = 1024;

/** Replaces images by hashes after writing the images to `folder` (of the run). Rejects with the system error. */
export async function moveImagesToStore(event: StoredEvent, folder: string): Promise<StoredEvent> {
  const stored = new Map<Attachment, StoredAttachment>();
  for (const attachment of attachmentsOf(event)) {
    const { data, ...rest } = attachment;
    if (data.length < minStored || !attachment.mediaType.startsWith('image/')) continue;
    const bytes = Buffer.from(data, 'base64');
    if (bytes.toString('base64') !== data) continue; // not reproducible byte for byte
    stored.set(attachment, { ...rest, storedAs: await storeImage(storedImagesFolder(folder), bytes) });
  }
  return stored.size === 0 ? event : mapAttachments(event, (one) => (stored.get(one) ?? one) as Attachment);
}

/** Tells whether the line needs a reader of format version 2. */
export const hasStoredImages = (event: StoredEvent): boolean => attachmentsOf(event).some((one) => 'storedAs' in one);

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

export function storedImageNames(journal: Buffer): string[] {
  const names = new Set<string>();
  for (let at = journal.indexOf(storedKey); at >= 0; at = journal.indexOf(storedKey, at + 1)) {
    const start = at + storedKey.length;
    const name = journal.toString('latin1', start, start + 64);
    if (isName.test(name)) names.add(name);
  }
  return [...names];
}

/** Reads images as base64, by hash. Missing or altered images are omitted. */
export async function readImages(folder: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const images = new Map<string, string>();
  await mapLimit(names, 4, async (name) => {
    const bytes = await fs.readFile(path.join(storedImagesFolder(folder), name)).catch(() => undefined);
    if (bytes && createHash('sha256').update(bytes).digest('hex') === name) images.set(name, bytes.toString('base64'));
  });
  return images;
}

/** Inserts image data into parsed JSON before validation. Returns the number of lost images, whose attachments are removed. */
export function insertStoredImages(event: unknown, images: ReadonlyMap<string, string>): number {
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

/** Hard-links images into a branch, so that the branch survives the deletion of the parent run. */
export async function linkStoredImages(from: string, to: string): Promise<void> {
  const names = (await fs.readdir(storedImagesFolder(from)).catch(() => [])).filter((name) => isName.test(name));
  if (names.length === 0) return;
  await fs.mkdir(storedImagesFolder(to), { recursive: true, mode: 0o700 });
  await mapLimit(names, 8, async (name) => {
    const [source, target] = [path.join(storedImagesFolder(from), name), path.join(storedImagesFolder(to), name)];
    await fs.link(source, target).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST' || error.code === 'ENOENT') return;
      await fs.copyFile(source, target);
    });
  });
}

interface Owner {
  attachments: unknown[];
}

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

function mapAttachments(event: StoredEvent, map: (attachment: Attachment) => Attachment): StoredEvent {
  const copy = structuredClone(event);
  const owners = ownersOf(copy);
  for (const [index, { attachments }] of ownersOf(event).entries())
    owners[index]!.attachments = (attachments as Attachment[]).map(map);
  return copy;
}
