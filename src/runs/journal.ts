import { constants, promises as fs } from 'node:fs';
import { crc32 } from 'node:zlib';
import { type RunEvent, type StoredEvent, storedEventSchema } from '../protocol/events.ts';

/**
 * One run's file of events. The first line names the format; each further line is `<crc32 as 8 hex digits> <event as JSON>`.
 * A line is whole on disk before anybody is told of its event. What cannot be read is moved aside, never deleted.
 */
const header = '{"towpath-run":1}\n';

export type StoreErrorCode = 'STORE_FULL' | 'STORE_READONLY' | 'STORE_LOCKED' | 'STORE_DAMAGED' | 'STORE_FAILED';

/** A run could not be kept. `message` says what that means for the person. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  constructor(
    readonly code: StoreErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** While it was open. */
  static gone = (): StoreError =>
    new StoreError(
      'STORE_DAMAGED',
      'The folder where this run is kept was deleted or moved while it was at work, so nothing more is done in it.',
    );

  static from(cause: unknown): StoreError {
    if (cause instanceof StoreError) return cause;
    const code = (cause as NodeJS.ErrnoException | undefined)?.code;
    if (code === 'ENOSPC' || code === 'EDQUOT')
      return new StoreError(
        'STORE_FULL',
        'The disk is full: this run cannot be recorded, so nothing more is done in it.',
        {
          cause,
        },
      );
    if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM')
      return new StoreError('STORE_READONLY', 'The folder where runs are kept cannot be written to.', { cause });
    if (code === 'EIO')
      return new StoreError(
        'STORE_FAILED',
        'The disk failed (EIO) while this run was recorded, so nothing more is done in it. Look after the disk; then continue.',
        { cause },
      );
    if (code === 'EMFILE' || code === 'ENFILE')
      return new StoreError(
        'STORE_FAILED',
        `Too many files are open on this machine (${code}) to record this run, so nothing more is done in it. Close what opened them; then continue.`,
        { cause },
      );
    return new StoreError('STORE_DAMAGED', `This run's record cannot be used (${code ?? String(cause)}).`, { cause });
  }
}

export interface JournalContents {
  events: StoredEvent[];
  /** Bytes up to and including the last good line. */
  goodBytes: number;
  /** What stands after the last good line could not be read, and why. */
  damage?: string;
}

/** The events of a journal up to the first line that is torn or altered. Throws `StoreError` for a foreign file. */
export async function readJournal(file: string): Promise<JournalContents> {
  let bytes: Buffer;
  try {
    bytes = await fs.readFile(file);
  } catch (error) {
    throw StoreError.from(error);
  }
  const firstEnd = bytes.indexOf(10) + 1;
  const first = bytes.toString('utf8', 0, firstEnd);
  if (first !== header) {
    if (/^\{"towpath-run":\d+\}\n$/.test(first))
      throw new StoreError('STORE_DAMAGED', 'This run was written by a newer Towpath. Update to open it.');
    throw new StoreError('STORE_DAMAGED', 'This is not the record of a run.');
  }
  const events: StoredEvent[] = [];
  let at = firstEnd;
  while (at < bytes.length) {
    const end = bytes.indexOf(10, at);
    const event = end < 0 ? undefined : parseLine(bytes.subarray(at, end));
    if (!event) {
      const what = end < 0 ? 'its last line is torn' : 'a line does not match its checksum';
      return { events, goodBytes: at, damage: `${what}, ${bytes.length - at} bytes from byte ${at}` };
    }
    events.push(event);
    at = end + 1;
  }
  return { events, goodBytes: at };
}

/** As many bytes as hold any run's first event. */
const firstBytes = 65_536;

/** The first event of a journal, without reading the rest; undefined when it cannot be read, or is not there yet. */
export async function readFirstEvent(file: string): Promise<StoredEvent | undefined> {
  const handle = await fs.open(file, 'r').catch(() => undefined);
  if (!handle) return undefined;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(firstBytes), 0, firstBytes, 0);
    const bytes = buffer.subarray(0, bytesRead);
    const at = bytes.indexOf(10) + 1;
    const end = bytes.indexOf(10, at);
    return end < 0 || bytes.toString('utf8', 0, at) !== header ? undefined : parseLine(bytes.subarray(at, end));
  } finally {
    await handle.close();
  }
}

function parseLine(line: Buffer): StoredEvent | undefined {
  const json = line.subarray(9);
  if (line[8] !== 0x20 || line.toString('latin1', 0, 8) !== checksum(json)) return undefined;
  try {
    return storedEventSchema.parse(JSON.parse(json.toString('utf8')));
  } catch {
    return undefined;
  }
}

const checksum = (bytes: Buffer): string => crc32(bytes).toString(16).padStart(8, '0');

/** Appends events, one whole line each, flushed. Appends do not overlap: the caller awaits each. */
export class Journal {
  private constructor(
    private readonly handle: fs.FileHandle,
    private bytes: number,
  ) {}

  static async create(file: string): Promise<Journal> {
    return Journal.guard(async () => {
      const handle = await fs.open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
      const journal = new Journal(handle, 0);
      await journal.write(Buffer.from(header));
      return journal;
    });
  }

  /** Opens for going on. A damaged tail is kept beside the journal before it is cut off. */
  static async open(file: string, contents: JournalContents): Promise<Journal> {
    return Journal.guard(async () => {
      if (contents.damage) {
        const tail = (await fs.readFile(file)).subarray(contents.goodBytes);
        await fs.writeFile(`${file}.damaged-${Date.now()}`, tail, { mode: 0o600, flag: 'wx' });
      }
      const handle = await fs.open(file, constants.O_WRONLY);
      if (contents.damage) await handle.truncate(contents.goodBytes);
      return new Journal(handle, contents.goodBytes);
    });
  }

  async append(event: RunEvent): Promise<void> {
    const json = Buffer.from(JSON.stringify(event));
    await Journal.guard(() => this.write(Buffer.concat([Buffer.from(`${checksum(json)} `), json, Buffer.from('\n')])));
  }

  async close(): Promise<void> {
    await this.handle.close();
  }

  get size(): number {
    return this.bytes;
  }

  private async write(line: Buffer): Promise<void> {
    try {
      for (let done = 0; done < line.length; ) {
        const { bytesWritten } = await this.handle.write(line, done, line.length - done, this.bytes + done);
        done += bytesWritten;
      }
      await this.handle.datasync();
    } catch (error) {
      await this.handle.truncate(this.bytes).catch(() => {}); // no half line stays behind a failed write
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
