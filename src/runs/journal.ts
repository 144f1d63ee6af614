import { randomUUID } from 'node:crypto';
import { constants, promises as fs } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { StoredEvent } from '../protocol/run/events.ts';
import {
  appendedListFormatVersion,
  eventVersions,
  heldRunFormatVersion,
  repositoryFormatVersion,
  serverQuestionFormatVersion,
} from '../protocol/run/eventVersions.ts';
import type { StoreErrorCode } from '../protocol/text/codes.ts';
import { message } from '../protocol/text/l10n.ts';
import { type LocalizableText, UserFacingError } from '../protocol/text/localized.ts';
import { hasStoredImages } from './imageStore.ts';

/**
 * Event file of one run. The first line names the format; each further line is `<crc32 as 8 hex digits> <event as JSON>`, with the number
 * of the preceding event as `previous`. Listeners receive an event after its line is on disk. Unreadable bytes are never deleted. Reader:
 * `readJournal.ts`.
 */
export const journalHeader = '{"towpath-run":1}\n';

export class StoreError extends UserFacingError {
  override readonly name = 'StoreError';
  constructor(
    readonly code: StoreErrorCode,
    text: LocalizableText,
    options?: ErrorOptions,
  ) {
    super(text, options);
  }

  static gone = (): StoreError =>
    new StoreError(
      'STORE_DAMAGED',
      message(
        'The folder of this run was deleted or moved while the run was in progress, so nothing more is done in it.',
      ),
    );

  static callNotStarted = (): StoreError =>
    new StoreError(
      'STORE_FULL',
      message('The command was not started: the disk is full, so its changes could not be undone.'),
    );

  static from(cause: unknown): StoreError {
    if (cause instanceof StoreError) return cause;
    const code = (cause as NodeJS.ErrnoException | undefined)?.code;
    if (code === 'ENOSPC' || code === 'EDQUOT')
      return new StoreError(
        'STORE_FULL',
        message('The disk is full: this run cannot be recorded, so nothing more is done in it.'),
        {
          cause,
        },
      );
    if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM')
      return new StoreError('STORE_READONLY', message('The folder of the runs cannot be written to.'), {
        cause,
      });
    if (code === 'EIO')
      return new StoreError(
        'STORE_FAILED',
        message(
          'The disk failed while this run was recorded, so nothing more is done in it. Check the disk; then continue.',
        ),
        { cause },
      );
    if (code === 'EMFILE' || code === 'ENFILE')
      return new StoreError(
        'STORE_FAILED',
        message(
          'Too many files are open on this machine ({0}) to record this run, so nothing more is done in it. Close the programs that opened them; then continue.',
          code,
        ),
        { cause },
      );
    const unusable = message("This run's record cannot be used ({0}).", code ?? String(cause));
    return new StoreError('STORE_DAMAGED', unusable, { cause });
  }
}

const alreadyExists = message('A run with this ID already exists. Continue it, or start another run.');

export const checksum = (bytes: Buffer): string => crc32(bytes).toString(16).padStart(8, '0');

function versionOf(event: StoredEvent): number | undefined {
  if (event.type === 'node' && event.grown) return appendedListFormatVersion;
  if (event.type === 'approval' && event.holds) return heldRunFormatVersion;
  if ('repositories' in event && event.repositories) return repositoryFormatVersion;
  if (event.type === 'ask' && event.by !== undefined) return serverQuestionFormatVersion;
  return hasStoredImages(event) ? 2 : eventVersions[event.type];
}

export function journalLineOf(event: StoredEvent, previous: number): Buffer {
  const version = versionOf(event);
  const json = Buffer.from(JSON.stringify({ previous, ...(version && { version }), ...event }));
  return Buffer.concat([Buffer.from(`${checksum(json)} `), json, Buffer.from('\n')]);
}

/** Appends events as flushed lines. The caller awaits each append. */
export class Journal {
  private constructor(
    private readonly handle: fs.FileHandle,
    private bytes: number,
    private previous: number,
  ) {}

  /** Creates the file atomically: a journal always has its first line. */
  static async create(file: string): Promise<Journal> {
    return Journal.guard(async () => {
      const temporaryFile = `${file}.${randomUUID()}`;
      try {
        await fs.writeFile(temporaryFile, journalHeader, { mode: 0o600, flag: 'wx', flush: true });
        await fs.link(temporaryFile, file).catch(async (error: NodeJS.ErrnoException) => {
          const exists = error.code === 'EEXIST' || (await fs.stat(file).catch(() => undefined)) !== undefined;
          if (exists) throw new StoreError('ENGINE_RUN_EXISTS', alreadyExists, { cause: error });
          return fs.rename(temporaryFile, file); // file system without hard links
        });
      } finally {
        await fs.rm(temporaryFile, { force: true }).catch(() => {});
      }
      return new Journal(await fs.open(file, constants.O_WRONLY), journalHeader.length, 0);
    });
  }

  /**
   * Opens a journal after its last whole line, with `previous` as the number of the newest event. A torn line is copied beside the journal
   * and cut off; damage within the file stays.
   */
  static async open(file: string, whole: { wholeBytes: number; size: number; previous: number }): Promise<Journal> {
    const { wholeBytes, size, previous } = whole;
    return Journal.guard(async () => {
      if (wholeBytes < size) {
        const tail = (await fs.readFile(file)).subarray(wholeBytes);
        await fs.writeFile(`${file}.damaged-${Date.now()}`, tail, { mode: 0o600, flag: 'wx', flush: true });
      }
      const handle = await fs.open(file, constants.O_WRONLY);
      if (wholeBytes < size) await handle.truncate(wholeBytes);
      return new Journal(handle, wholeBytes, previous);
    });
  }

  async append(event: StoredEvent): Promise<void> {
    await Journal.guard(() => this.write(journalLineOf(event, this.previous)));
    this.previous = event.seq;
  }

  async close(): Promise<void> {
    await this.handle.close();
  }

  get size(): number {
    return this.bytes;
  }

  async stamp(): Promise<{ size: number; mtimeMs: number }> {
    const { mtimeMs } = await this.handle.stat();
    return { size: this.bytes, mtimeMs };
  }

  private async write(line: Buffer): Promise<void> {
    try {
      for (let done = 0; done < line.length; ) {
        const { bytesWritten } = await this.handle.write(line, done, line.length - done, this.bytes + done);
        done += bytesWritten;
      }
      await this.handle.datasync();
    } catch (error) {
      await this.handle.truncate(this.bytes).catch(() => {}); // removes the partial line of a failed write
      throw error;
    }
    this.bytes += line.length;
  }

  private static async guard<Value>(work: () => Promise<Value>): Promise<Value> {
    try {
      return await work();
    } catch (error) {
      throw StoreError.from(error);
    }
  }
}
