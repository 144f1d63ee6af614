import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, promises as fs } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { inferenceSpeedsFilePrefix } from './measuredSpeeds.ts';

/**
 * Metadata of a state. A folder contains the engine's files (`….state`) and their metadata (`….json`). A file name is used once and a file
 * is complete and immutable, so windows share a folder without locks, and a reader tolerates missing files. Names start with the run id, by
 * which states are removed.
 */
const stateSchema = z.object({
  identity: z.string(),
  tokens: z.base64(),
  from: z.number(),
  bytes: z.number(),
  sha256: z.string(),
});

export interface SavedSequenceState {
  file: string;
  key: string;
  tokens: Uint32Array;
  /** First token in all layers of the memory; truncation must end after this token. */
  from: number;
  bytes: number;
  sha256: string;
}

/** Age in milliseconds after which an unfinished file is abandoned. */
const oldMs = 60 * 60 * 1000;
const unfinished = '.part';

export async function readSequenceStates(folder: string, identity: string): Promise<SavedSequenceState[]> {
  const names = (await namesIn(folder)).filter((name) => name.endsWith('.json'));
  const states = await Promise.all(names.map((name) => readState(path.join(folder, name), identity)));
  return states.filter((state) => state !== undefined);
}

async function readState(file: string, identity: string): Promise<SavedSequenceState | undefined> {
  try {
    const { tokens, ...state } = stateSchema.parse(JSON.parse(await fs.readFile(file, 'utf8')));
    if (state.identity !== identity) return undefined;
    const bytes = new Uint8Array(Buffer.from(tokens, 'base64'));
    return {
      file: file.replace(/json$/, 'state'),
      key: path.basename(file).split('.')[0]!,
      tokens: new Uint32Array(bytes.buffer, 0, bytes.byteLength >> 2),
      from: state.from,
      bytes: state.bytes,
      sha256: state.sha256,
    };
  } catch {
    return undefined; // removed meanwhile, or a foreign file
  }
}

export async function createUnfinishedSequenceStateFile(folder: string, key: string): Promise<string> {
  await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, `${key}.${randomUUID()}${unfinished}`);
  await fs.writeFile(file, '', { mode: 0o600, flag: 'wx' });
  return file;
}

/**
 * Completes the file written by the engine. Discards the file if the run was removed, even at this moment: a removal deletes the run first
 * and its states second.
 */
export async function saveSequenceState(
  begun: string,
  {
    identity,
    tokens,
    from,
    exists,
  }: Pick<SavedSequenceState, 'tokens' | 'from'> & { identity: string; exists(): Promise<boolean> },
): Promise<SavedSequenceState | undefined> {
  const [key] = path.basename(begun).split('.') as [string];
  const file = begun.slice(0, -unfinished.length);
  try {
    const { sha256, bytes } = await sumOf(begun);
    const numbers = Buffer.from(tokens.buffer, tokens.byteOffset, tokens.byteLength).toString('base64');
    const header = { identity, tokens: numbers, from, bytes, sha256 };
    await fs.writeFile(`${file}.json${unfinished}`, JSON.stringify(header), { mode: 0o600, flag: 'wx' });
    await fs.rename(begun, `${file}.state`);
    await fs.rename(`${file}.json${unfinished}`, `${file}.json`);
    const state = { file: `${file}.state`, key, tokens, from, bytes, sha256 };
    if (await exists()) return state;
    await removeSequenceState(state.file);
  } catch (error) {
    for (const left of [begun, `${file}.state`, `${file}.json${unfinished}`, `${file}.json`])
      await fs.rm(left, { force: true }).catch(() => {});
    throw error;
  }
  return undefined;
}

/** Removes the states of a run that newer states replace. */
export async function removeOtherSequenceStates(
  folder: string,
  identity: string,
  key: string,
  retained: readonly SavedSequenceState[],
): Promise<void> {
  const files = new Set(retained.map(({ file }) => file));
  for (const one of await readSequenceStates(folder, identity))
    if (one.key === key && !files.has(one.file)) await removeSequenceState(one.file);
}

/** Returns true if the file is byte-identical to the saved state. Throws the signal's reason. */
export async function isIntactSequenceStateFile(
  { file, bytes, sha256 }: SavedSequenceState,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    if ((await fs.stat(file)).size !== bytes) return false;
    return (await sumOf(file, signal)).sha256 === sha256;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

export async function touchSequenceState({ file }: SavedSequenceState): Promise<void> {
  const now = new Date();
  await fs.utimes(file.replace(/state$/, 'json'), now, now).catch(() => {});
}

/**
 * Removes the metadata first, because a file without metadata is ignored.
 *
 * @param file the engine's file
 */
export async function removeSequenceState(file: string): Promise<void> {
  for (const ending of ['json', 'state']) await fs.rm(file.replace(/state$/, ending), { force: true }).catch(() => {}); // open elsewhere: removed by the next trim
}

/**
 * Removes the oldest states of all folders until `bytes` remain, the leftovers of killed processes, and (in the folder `own`) the states of
 * missing runs. Returns the remaining bytes.
 */
export async function trimSequenceStates(
  folders: readonly string[],
  bytes: number,
  { own, exists }: { own: string; exists(key: string): Promise<boolean> },
): Promise<number> {
  const files: { file: string; size: number; at: number }[] = [];
  for (const folder of folders) {
    const names = new Set(await namesIn(folder));
    for (const name of names) {
      const file = path.join(folder, name);
      const stat = await fs.stat(file).catch(() => undefined);
      if (!stat) continue;
      const isOld = Math.abs(Date.now() - stat.mtimeMs) > oldMs;
      const other = await fs.stat(file.replace(/state$/, 'json')).catch(() => undefined);
      if (name.startsWith(inferenceSpeedsFilePrefix)) {
        if (Math.abs(Date.now() - stat.mtimeMs) > 24 * oldMs) await fs.rm(file, { force: true }).catch(() => {});
      } else if (name.endsWith(unfinished) || (name.endsWith('.json') && !names.has(name.replace(/json$/, 'state')))) {
        if (isOld) await fs.rm(file, { force: true }).catch(() => {});
        files.push({ file: '', size: isOld ? 0 : stat.size, at: Number.POSITIVE_INFINITY });
      } else if (name.endsWith('.state')) {
        const isLeft = !other && isOld;
        if (isLeft || (folder === own && !(await exists(name.split('.')[0]!)))) await removeSequenceState(file);
        else files.push({ file, size: stat.size, at: (other ?? stat).mtimeMs });
      }
    }
  }
  let left = files.reduce((sum, { size }) => sum + size, 0);
  for (const { file, size } of files.sort((one, two) => one.at - two.at)) {
    if (left <= bytes) break;
    if (file === '') continue;
    await removeSequenceState(file);
    left -= size;
  }
  return left;
}

async function sumOf(file: string, signal?: AbortSignal): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(file, { highWaterMark: 1 << 20 })) {
    signal?.throwIfAborted();
    hash.update(piece);
    bytes += piece.length;
  }
  return { sha256: hash.digest('hex'), bytes };
}

const namesIn = (folder: string): Promise<string[]> => fs.readdir(folder).catch(() => []);
