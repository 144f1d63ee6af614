import { createHash, type Hash } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import { message } from '../../../protocol/text/l10n.ts';
import { joinLocalizableTexts } from '../../../protocol/text/localized.ts';
import { onAbort } from '../../../protocol/values/abort.ts';
import { createDeadlineWatch, sleep } from '../../core/deadlines.ts';
import { LLMError } from '../../core/errors.ts';
import { checkFreeSpace, hashFile, sizeOnDisk } from './diskSpace.ts';
import { offlineModelHint, sendAnonymousRequest } from './fetchRange.ts';
import { type DownloadableModel, downloadRefusedError, type ModelDownloadFile } from './modelHub.ts';
import {
  discardPartialDownload,
  type PartialDownload,
  pausedDownloads,
  readPartialDownload,
  removePartialDownloadState,
  savePartialDownload,
} from './partialDownload.ts';

export interface DownloadProgress {
  state: 'checking' | 'downloading';
  /** Bytes of the whole model, all files together. */
  received: number;
  total: number;
}

export interface DownloadOptions {
  folder: string;
  /** Pauses the download: the received part stays, and the next call resumes. */
  signal?: AbortSignal;
  onProgress?: (progress: DownloadProgress) => void;
  /** Locks the file against other windows; rejects if another window holds the lock. */
  lock: (file: string) => Promise<{ release(): Promise<void> }>;
  freeBytes?: (folder: string) => Promise<number>;
  connectMs?: number;
  idleMs?: number;
  retryMs?: number;
}

const retries = 3;

/**
 * Downloads a model into a folder and returns the path of its (first) file, which exists complete and verified or not at all. A partial
 * download is resumed unless the remote file has changed. Throws `LLMError`, the error of the lock, or the signal's reason.
 */
export async function downloadModelFiles(model: DownloadableModel, options: DownloadOptions): Promise<string> {
  await prepare(options.folder);
  await checkFreeSpace(model, options.folder, options.freeBytes);
  const first = path.join(options.folder, model.files[0]!.name);
  const lock = await options.lock(`${first}.lock`);
  try {
    options.signal?.throwIfAborted();
    const unfinished = await readPartialDownload(first, model);
    await savePartialDownload(first, unfinished);
    const total = model.files.reduce((sum, { bytes }) => sum + bytes, 0);
    let done = 0;
    for (const file of model.files) {
      const report = (state: DownloadProgress['state'], received: number) =>
        options.onProgress?.({ state, received: done + received, total });
      await downloadFile(file, { first, unfinished, report, options });
      done += file.bytes;
    }
    await removePartialDownloadState(first);
    return first;
  } catch (error) {
    const begun = (await pausedDownloads(options.folder)).some((one) => one.first === first && one.received > 0);
    if (!begun && !options.signal?.aborted) await discardPartialDownload(first);
    throw error;
  } finally {
    await lock.release();
  }
}

/** Checks the folder first, because later writes fail with less helpful errors. */
async function prepare(folder: string): Promise<void> {
  try {
    await fs.mkdir(folder, { recursive: true });
    await fs.access(folder, fs.constants.W_OK);
  } catch (error) {
    const { code, message: text } = error as NodeJS.ErrnoException;
    const why = message(
      'Models cannot be stored in {0} ({1}). Set another download folder, or make this one writable.',
      folder,
      code ?? text,
    );
    throw new LLMError('UNKNOWN', why);
  }
}

interface FileJob {
  first: string;
  unfinished: PartialDownload;
  report(state: DownloadProgress['state'], received: number): void;
  options: DownloadOptions;
}

async function downloadFile(file: ModelDownloadFile, job: FileJob): Promise<void> {
  const target = path.join(job.options.folder, file.name);
  if (await sizeOnDisk(target)) return checkExisting(target, file, job);
  const partFile = `${target}.part`;
  let { hash, length } = await hashOf(partFile, file, job);
  let received = false; // the error of an unreachable server is reported at once before the first bytes
  for (let failures = 0; length < file.bytes; ) {
    const before = length;
    try {
      ({ hash, length } = await append(file, partFile, { hash, length }, job));
    } catch (error) {
      job.options.signal?.throwIfAborted();
      if (error instanceof Broken) ({ hash, length } = error);
      else if (!received || !(error instanceof LLMError && error.retryable)) throw error;
      received ||= length > before;
      failures = length > before ? 0 : failures + 1;
      if (failures > retries) throw error instanceof Broken ? error.error : error;
      await sleep((job.options.retryMs ?? 1000) * 2 ** failures, job.options.signal);
    }
  }
  await checkSum(partFile, file, hash);
  await fs.rename(partFile, target);
  job.unfinished.files[file.name]!.finished = true;
  await savePartialDownload(job.first, job.unfinished);
}

class Broken extends Error {
  constructor(
    readonly error: LLMError,
    readonly hash: Hash,
    readonly length: number,
  ) {
    super(error.message);
  }
}

interface Written {
  hash: Hash;
  length: number;
}

/** Requests the missing part. A server that sends the whole file or another file restarts the download. */
async function append(file: ModelDownloadFile, partFile: string, so: Written, job: FileJob): Promise<Written> {
  const { connectMs = 15_000, idleMs = 60_000, signal } = job.options;
  const { etag } = job.unfinished.files[file.name] ?? {};
  const headers: Record<string, string> = { 'accept-encoding': 'identity' };
  if (so.length > 0) headers.range = `bytes=${so.length}-`;
  if (so.length > 0 && etag) headers['if-range'] = etag;
  const connection = new AbortController();
  const stopListening = onAbort(signal, (reason) => connection.abort(reason));
  const watch = createDeadlineWatch(signal);
  try {
    const answer = await sendAnonymousRequest({
      method: 'GET',
      url: file.url,
      headers,
      connectMs,
      signal: connection.signal,
    });
    const { response } = answer;
    if (response.status === 416) return { hash: createHash('sha256'), length: await emptied(partFile) };
    if (!response.ok || !response.body) throw await downloadRefusedError(answer, file.name, new URL(file.url).origin);
    let { hash, length } = continues(response, so.length) ? so : { hash: createHash('sha256'), length: 0 };
    if (length === 0) await emptied(partFile);
    await rememberTag(file, response, job);
    const reader = response.body.getReader();
    const output = await fs.open(partFile, 'a');
    try {
      for (;;) {
        const { value, done } = await watch.wait(reader.read(), idleMs, () => fellSilent(file, idleMs));
        if (done) break;
        if (length + value.byteLength > file.bytes) throw tooMuch(file);
        await output.appendFile(value).catch((error) => Promise.reject(notWritten(partFile, error)));
        hash.update(value);
        length += value.byteLength;
        job.report('downloading', length);
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof LLMError && !error.retryable) throw error;
      throw new Broken(error instanceof LLMError ? error : brokeOff(file, length), hash, length);
    } finally {
      await output.sync();
      await output.close();
    }
    if (length < file.bytes) throw new Broken(brokeOff(file, length), hash, length);
    return { hash, length };
  } finally {
    watch.close();
    stopListening();
    connection.abort();
  }
}

function continues(response: Response, length: number): boolean {
  return response.status === 206 && new RegExp(`^bytes ${length}-`).test(response.headers.get('content-range') ?? '');
}

/** Stores a strong ETag. A weak ETag does not guarantee equal bytes; without a strong ETag only the checksum detects a changed file. */
async function rememberTag(file: ModelDownloadFile, response: Response, { first, unfinished }: FileJob): Promise<void> {
  const etag = response.headers.get('etag');
  const strong = etag?.startsWith('"') ? etag : undefined;
  const known = unfinished.files[file.name];
  if (!known || known.etag === strong) return;
  known.etag = strong;
  await savePartialDownload(first, unfinished);
}

async function emptied(file: string): Promise<0> {
  await fs.writeFile(file, '');
  return 0;
}

/** Hashes the existing part. A part without evidence that the remote file is unchanged is ignored. */
async function hashOf(partFile: string, file: ModelDownloadFile, job: FileJob): Promise<Written> {
  const length = (await sizeOnDisk(partFile)) ?? 0;
  const known = file.sha256 ?? job.unfinished.files[file.name]?.etag;
  if (length === 0 || length > file.bytes || !known)
    return { hash: createHash('sha256'), length: await emptied(partFile) };
  return hashFile(partFile, (bytes) => job.report('checking', bytes), job.options.signal);
}

async function checkSum(partFile: string, file: ModelDownloadFile, hash: Hash): Promise<void> {
  if (!file.sha256 || hash.digest('hex') === file.sha256) return;
  await fs.rm(partFile, { force: true });
  const text = message(
    '{0} was damaged during the download: its checksum is not the one of {1}. It was deleted; download it again.',
    file.name,
    new URL(file.url).host,
  );
  throw new LLMError('LLM_BAD_RESPONSE', text);
}

/** Throws if another file has the same name: it belongs to the user and must not be modified. */
async function checkExisting(target: string, file: ModelDownloadFile, job: FileJob): Promise<void> {
  if ((await sizeOnDisk(target)) === file.bytes) {
    const { hash } = await hashFile(target, (bytes) => job.report('checking', bytes), job.options.signal);
    if (!file.sha256 || hash.digest('hex') === file.sha256) return;
  }
  const text = message(
    'Another file exists at {0}. Rename or delete it, or select another folder, and download again.',
    target,
  );
  throw new LLMError('UNKNOWN', text, { details: { path: target } });
}

const notWritten = (file: string, error: NodeJS.ErrnoException) =>
  new LLMError(
    'UNKNOWN',
    message(
      '{0} cannot be written ({1}). Free some space, or set another download folder.',
      file,
      error.code ?? error.message,
    ),
  );
const fellSilent = (file: ModelDownloadFile, ms: number) => {
  const silent = message('{0} stopped responding for {1} seconds.', new URL(file.url).host, ms / 1000);
  return new LLMError('LLM_TIMEOUT', joinLocalizableTexts([silent, offlineModelHint]), { retryable: true });
};
const brokeOff = (file: ModelDownloadFile, length: number) =>
  new LLMError(
    'LLM_INCOMPLETE',
    length > 0
      ? message('The download of {0} was interrupted. The downloaded part is stored; resume it later.', file.name)
      : message('The download of {0} was interrupted before any data arrived. Try again later.', file.name),
    { retryable: true },
  );
const tooMuch = (file: ModelDownloadFile) =>
  new LLMError(
    'LLM_BAD_RESPONSE',
    message('{0} sent more than the {1} bytes of {2}.', new URL(file.url).host, file.bytes, file.name),
  );
