import { promises as fs } from 'node:fs';
import path from 'node:path';
import { t } from '../../../protocol/text/l10n.ts';
import { type LocalizableText, localize } from '../../../protocol/text/localized.ts';
import { type GgufInfo, readModelFileDescription } from './ggufInfo.ts';
import { isLaterModelPart, splitModelParts } from './splitModel.ts';

export interface LocalModel {
  path: string;
  files: string[];
  bytes: number;
  info?: GgufInfo;
  trouble?: string;
}

const deepest = 4;
const maxFiles = 2000;

export type ModelFileReader = (file: string) => ModelDescription | Promise<ModelDescription>;
type ModelDescription = Pick<LocalModel, 'info'> & { trouble?: LocalizableText };

/** Returns the models in folders and files, sorted by name; missing paths are ignored. A split model is one entry. */
export async function listModelFiles(
  locations: readonly string[],
  read: ModelFileReader = readModelFileDescription,
): Promise<LocalModel[]> {
  const files = new Set<string>();
  for (const location of locations) await collect(location, deepest, files);
  const models = await Promise.all(
    [...files].filter((file) => !isLaterModelPart(file)).map((file) => describe(file, read)),
  );
  return models
    .filter((model) => model !== undefined)
    .filter(({ info }) => info?.architecture !== 'clip') // an image projector of another model
    .sort((a, b) => path.basename(a.path).localeCompare(path.basename(b.path), 'en'));
}

async function collect(location: string, depth: number, files: Set<string>): Promise<void> {
  const stat = await fs.stat(location).catch(() => undefined);
  if (stat?.isFile() && /\.gguf$/i.test(location)) files.add(location);
  if (!stat?.isDirectory() || depth === 0) return;
  const names = await fs.readdir(location).catch(() => []);
  for (const name of names) {
    if (files.size >= maxFiles) return;
    if (!name.startsWith('.')) await collect(path.join(location, name), depth - 1, files);
  }
}

async function describe(first: string, read: ModelFileReader): Promise<LocalModel | undefined> {
  const all = splitModelParts(first);
  const stats = await Promise.all(all.map((file) => fs.stat(file).catch(() => undefined)));
  if (!stats[0]) return undefined; // deleted meanwhile
  const files = all.filter((_, index) => stats[index]);
  const bytes = stats.reduce((sum, stat) => sum + (stat?.size ?? 0), 0);
  const missing = all.length - files.length;
  const description = await readOnce(first, `${stats[0].size} ${stats[0].mtimeMs}`, read);
  return {
    path: first,
    files,
    bytes,
    ...(description.info && { info: description.info }),
    ...(missing > 0
      ? { trouble: lacking(missing, all.length) }
      : description.trouble !== undefined && { trouble: localize(description.trouble) }),
  };
}

const lacking = (missing: number, all: number): string =>
  missing === 1
    ? t('{0} of its {1} files is missing.', missing, all)
    : t('{0} of its {1} files are missing.', missing, all);

const headers = new Map<string, { version: string; description: ReturnType<ModelFileReader> }>();

function readOnce(file: string, version: string, read: ModelFileReader): ReturnType<ModelFileReader> {
  const known = headers.get(file);
  if (known?.version === version) return known.description;
  const description = read(file);
  headers.set(file, { version, description });
  return description;
}
