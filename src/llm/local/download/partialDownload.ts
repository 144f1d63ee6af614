import { promises as fs } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { createDictionary } from '../../../protocol/values/dictionary.ts';
import type { DownloadableModel } from './modelHub.ts';

const unfinishedSchema = z.object({
  address: z.string(),
  files: z.record(
    z.string(),
    z.object({
      url: z.string(),
      bytes: z.number(),
      sha256: z.string().optional(),
      etag: z.string().optional(),
      finished: z.boolean().optional(),
    }),
  ),
});

export type PartialDownload = z.infer<typeof unfinishedSchema>;

const ending = '.download.json';

/** Reads the state of a partial download of the same model; parts of changed files are removed. */
export async function readPartialDownload(first: string, model: DownloadableModel): Promise<PartialDownload> {
  const before = await read(`${first}${ending}`);
  const files = createDictionary<PartialDownload['files'][string]>();
  for (const { name, ...file } of model.files) {
    const known = before?.files[name];
    const same = known?.url === file.url && known.bytes === file.bytes && known.sha256 === file.sha256;
    files[name] = same ? known : file;
    if (!same) await fs.rm(path.join(path.dirname(first), `${name}.part`), { force: true });
  }
  return { address: model.address, files };
}

export async function savePartialDownload(first: string, unfinished: PartialDownload): Promise<void> {
  const file = `${first}${ending}`;
  await fs.writeFile(`${file}.new`, JSON.stringify(unfinished), { mode: 0o600 });
  await fs.rename(`${file}.new`, file);
}

export async function removePartialDownloadState(first: string): Promise<void> {
  await fs.rm(`${first}${ending}`, { force: true });
}

export interface PausedDownload {
  address: string;
  first: string;
  received: number;
  total: number;
}

export async function pausedDownloads(folder: string): Promise<PausedDownload[]> {
  const names = await fs.readdir(folder).catch(() => []);
  const paused: PausedDownload[] = [];
  for (const name of names.filter((one) => one.endsWith(ending))) {
    const first = path.join(folder, name.slice(0, -ending.length));
    const unfinished = await read(path.join(folder, name));
    if (!unfinished) continue;
    const sizes = await Promise.all(
      Object.entries(unfinished.files).map(([file, { bytes, finished }]) =>
        finished ? bytes : sizeOf(path.join(folder, `${file}.part`)),
      ),
    );
    const total = Object.values(unfinished.files).reduce((sum, { bytes }) => sum + bytes, 0);
    paused.push({ address: unfinished.address, first, received: sizes.reduce((sum, size) => sum + size, 0), total });
  }
  return paused;
}

export async function discardPartialDownload(first: string): Promise<void> {
  const unfinished = await read(`${first}${ending}`);
  for (const [name, { finished }] of Object.entries(unfinished?.files ?? {}))
    await fs.rm(path.join(path.dirname(first), finished ? name : `${name}.part`), { force: true });
  await removePartialDownloadState(first);
}

async function sizeOf(file: string): Promise<number> {
  return (await fs.stat(file).catch(() => undefined))?.size ?? 0;
}

async function read(file: string): Promise<PartialDownload | undefined> {
  try {
    const parsed = unfinishedSchema.safeParse(JSON.parse(await fs.readFile(file, 'utf8')));
    const inside = parsed.success && Object.keys(parsed.data.files).every((name) => path.basename(name) === name);
    return inside ? parsed.data : undefined;
  } catch {
    return undefined; // missing, or cut off by a crash: the download restarts
  }
}
