import { promises as fs } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type StoredEvent, storedEventSchema } from '../protocol/run/events.ts';
import { storedRunFormatVersion } from '../protocol/run/eventVersions.ts';
import { isConversationEventType } from '../protocol/run/isConversation.ts';
import { type LocalizedMessage, localizedCount, message } from '../protocol/text/l10n.ts';
import type { ReadOnlyReasonCode } from '../protocol/text/readOnlyReason.ts';
import { insertStoredImages, readImages, storedImageNames } from './imageStore.ts';
import { checksum, journalHeader, StoreError } from './journal.ts';

/**
 * Line with a valid checksum. `previous`: number of the preceding event, absent in journals of the first version. `event`: absent if
 * unreadable for this version. `version`: format version of the event type, absent for 1. `line` counts from 1; `at` is the offset of the
 * first byte.
 */
export interface JournalEntry {
  seq: number;
  previous?: number;
  event?: StoredEvent;
  type: string;
  version?: number;
  line: number;
  at: number;
}

// Damaged part of a journal. `at`: offset of the first byte, also the identity of the damage. `loses`: events are or may be lost.
interface CorruptRange {
  at: number;
  line: number;
  text: LocalizedMessage;
  loses: boolean;
}

/**
 * Readable content of a journal: whole lines sorted by number without duplicates, and the damage. `newer`: reason that prevents
 * continuation. `wholeBytes`: size up to the last complete line; a torn line may follow.
 */
export interface JournalContents {
  entries: JournalEntry[];
  wounds: CorruptRange[];
  newer?: ReadOnlyReasonCode;
  wholeBytes: number;
  size: number;
}

const maxMs = 10;

/**
 * Versions that one flipped bit produces from the current header count as damage. A future incompatible version must use another number.
 */
const flippedVersions = new Set([0, 3, 5, 9]);

/**
 * Reads a journal. Throws `StoreError` if the file is unreadable or contains no event of a run.
 *
 * @param runId expected run; lines of another run are damage
 */
export async function readJournal(file: string, runId?: string): Promise<JournalContents> {
  const bytes = await fs.readFile(file).catch((error) => {
    throw StoreError.from(error);
  });
  const { version, start, loses } = headOf(bytes);
  const images = await readImages(path.dirname(file), storedImageNames(bytes));
  const found = new Found();
  let wholeBytes = start;
  let pause = performance.now() + maxMs;
  for (const { line, at, end } of lines(bytes, start)) {
    if (end < 0) {
      found.wounds.push(wound(line, at, message('its last line is torn ({0})', bytesFrom(bytes.length - at, at))));
      break;
    }
    wholeBytes = end + 1;
    if (performance.now() > pause) {
      await setImmediate(); // yields to other work
      pause = performance.now() + maxMs;
    }
    const entry = parseLine(bytes.subarray(at, end), line, at, images);
    if (entry?.lostImages) found.addLostImages(entry, entry.lostImages);
    if (entry?.event && runId !== undefined && entry.event.runId !== runId)
      found.wounds.push(wound(line, at, message('line {0} is of another run', line)));
    else if (entry && isReadable(entry)) found.add(entry);
    else if (entry) found.addUnreadable(entry);
    else found.wounds.push(wound(line, at, message('line {0} is damaged ({1})', line, bytesFrom(end - at, at))));
  }
  const { wounds } = found;
  const entries = found.entries.sort((one, other) => one.seq - other.seq);
  if (version > 1) return { entries, wounds: [], newer: 'writtenByNewer', wholeBytes, size: bytes.length };
  if (version === 0) {
    if (entries.length === 0) throw new StoreError('STORE_DAMAGED', message('This is not the record of a run.'));
    wounds.push({ ...wound(1, 0, message('its first line, which names the format, is damaged')), loses });
  }
  addMissing(entries, wounds);
  wounds.sort((one, other) => one.at - other.at);
  const newer = entries.some(isNewer) ? 'continuedByNewer' : undefined;
  return { entries, wounds, ...(newer && { newer }), wholeBytes, size: bytes.length };
}

const firstBytes = 65_536;

/** Reads the first event only; undefined: unreadable or missing. */
export async function readFirstEvent(file: string): Promise<StoredEvent | undefined> {
  const handle = await fs.open(file, 'r').catch(() => undefined);
  if (!handle) return undefined;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(firstBytes), 0, firstBytes, 0);
    const bytes = buffer.subarray(0, bytesRead);
    for (const { line, at, end } of lines(bytes, headOf(bytes).start)) {
      const entry = end < 0 ? undefined : parseLine(bytes.subarray(at, end), line, at);
      if (entry) return entry.event;
    }
    return undefined;
  } catch {
    return undefined;
  } finally {
    await handle.close();
  }
}

/** Reads the events in the last `size` bytes; undefined: the journal is shorter, or a line is damaged. Throws the system error. */
export async function readLastEvents(file: string, size: number): Promise<StoredEvent[] | undefined> {
  const handle = await fs.open(file, 'r');
  try {
    const { size: all } = await handle.stat();
    if (all <= size) return undefined;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0, size, all - size);
    const bytes = buffer.subarray(0, bytesRead);
    const images = await readImages(path.dirname(file), storedImageNames(bytes));
    const events: StoredEvent[] = [];
    let previous: number | undefined;
    for (const { line, at, end } of lines(bytes, bytes.indexOf(10) + 1)) {
      const entry = end < 0 ? undefined : parseLine(bytes.subarray(at, end), line, at, images);
      if (!entry?.event || isNewer(entry) || entry.lostImages) return undefined;
      if (previous !== undefined && entry.previous !== previous) return undefined;
      previous = entry.seq;
      events.push(entry.event);
    }
    return events;
  } finally {
    await handle.close();
  }
}

export const isUnfinishedJournalHeader = (bytes: Buffer): boolean =>
  bytes.length < journalHeader.length && journalHeader.startsWith(bytes.toString('latin1'));

function* lines(bytes: Buffer, start: number): Generator<{ line: number; at: number; end: number }> {
  for (let at = start, line = start === 0 ? 1 : 2; at < bytes.length; line++) {
    const end = bytes.indexOf(10, at);
    yield { line, at, end };
    if (end < 0) return;
    at = end + 1;
  }
}

/**
 * Parses the first line: version (0: none) and start of the events. A damaged first line is assumed to have its original length, so that
 * the following line is found.
 */
function headOf(bytes: Buffer): { version: number; start: number; loses: boolean } {
  const end = bytes.indexOf(10) + 1;
  const named = Number(/^\{"towpath-run":(\d{1,9})\}\n$/.exec(bytes.toString('latin1', 0, end))?.[1] ?? 0);
  const version = flippedVersions.has(named) ? 0 : named;
  if (version > 0) return { version, start: end, loses: false };
  for (const start of [journalHeader.length, 0]) {
    const lineEnd = bytes.indexOf(10, start);
    if (lineEnd > 0 && isLine(bytes.subarray(start, lineEnd))) return { version, start, loses: false };
  }
  return { version, start: end, loses: true };
}

const isLine = (bytes: Buffer): boolean =>
  bytes[8] === 0x20 && bytes.toString('latin1', 0, 8) === checksum(bytes.subarray(9));

function parseLine(
  bytes: Buffer,
  line: number,
  at: number,
  images: ReadonlyMap<string, string> = new Map(),
): (JournalEntry & { lostImages?: number }) | undefined {
  if (!isLine(bytes)) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8', 9));
    const { seq, previous, type, version } = Object(value) as Record<string, unknown>;
    if (typeof seq !== 'number' || typeof type !== 'string') return undefined;
    const lostImages = insertStoredImages(value, images);
    const event = storedEventSchema.safeParse(value).data;
    const numbers = {
      ...(typeof previous === 'number' && { previous }),
      ...(typeof version === 'number' && { version }),
    };
    return { seq, type, ...numbers, ...(event && { event }), ...(lostImages > 0 && { lostImages }), line, at };
  } catch {
    return undefined;
  }
}

// Only a version number marks a line of a newer version; an unreadable line without a version is damaged.
const isNewer = ({ version = 1 }: JournalEntry): boolean => version > storedRunFormatVersion;
const isReadable = (entry: JournalEntry): boolean => entry.event !== undefined || isNewer(entry);

class Found {
  readonly entries: JournalEntry[] = [];
  readonly wounds: CorruptRange[] = [];
  private readonly bySeq = new Map<number, JournalEntry>();
  private newest = 0;

  addLostImages({ line, at }: JournalEntry, count: number): void {
    const text = message('{0} of line {1} cannot be read', localizedCount(count, 'image'), line);
    this.wounds.push({ ...wound(line, at, text), loses: false });
  }

  /** Isolates a line that the schema rejects. Only a lost conversation event separates the following events. */
  addUnreadable(entry: JournalEntry): void {
    const { line, at, type } = entry;
    const loses = isConversationEventType(type);
    this.wounds.push({ ...wound(line, at, message('line {0} ({1}) cannot be read', line, type)), loses });
    if (!loses) this.add(entry);
  }

  add(entry: JournalEntry): void {
    const { seq, line, at } = entry;
    const first = this.bySeq.get(seq);
    if (first) {
      const isSame = JSON.stringify(first.event) === JSON.stringify(entry.event);
      const text = isSame
        ? message('line {0} repeats line {1}', line, first.line)
        : message('line {0} contradicts line {1}', line, first.line);
      this.wounds.push({ ...wound(line, at, text), loses: !isSame });
      return;
    }
    if (seq < this.newest)
      this.wounds.push({ ...wound(line, at, message('line {0} was at the wrong position', line)), loses: false });
    this.newest = Math.max(seq, this.newest);
    this.bySeq.set(seq, entry);
    this.entries.push(entry);
  }
}

// Reports lines whose loss is visible only in `previous` of the next line.
function addMissing(entries: readonly JournalEntry[], wounds: CorruptRange[]): void {
  for (const [index, entry] of entries.entries()) {
    const before = entries[index - 1];
    if (entry.previous === undefined || entry.previous === (before?.seq ?? 0)) continue;
    if (wounds.some(({ at, loses }) => loses && isBetween(at, before, entry))) continue; // reported already
    wounds.push(wound(entry.line, entry.at, message('the part before line {0} is missing', entry.line)));
  }
}

export function isJournalGap(
  before: JournalEntry | undefined,
  entry: JournalEntry,
  wounds: readonly CorruptRange[],
): boolean {
  if (entry.previous !== undefined) return entry.previous !== (before?.seq ?? 0);
  return wounds.some(({ at, loses }) => loses && isBetween(at, before, entry));
}

const isBetween = (at: number, before: JournalEntry | undefined, entry: JournalEntry): boolean =>
  at > (before?.at ?? -1) && at < entry.at;

const wound = (line: number, at: number, text: LocalizedMessage): CorruptRange => ({ at, line, text, loses: true });
const bytesFrom = (bytes: number, at: number) => message('{0} from byte {1}', localizedCount(bytes, 'byte'), at);
