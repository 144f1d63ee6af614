import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { message, withDigitGrouping } from '../../../protocol/text/l10n.ts';
import { type LocalizableText, messageOf, UserFacingError } from '../../../protocol/text/localized.ts';

export type GgufValue = number | boolean | string | { length: number; numbers: number[] };

export interface GgufHeader {
  version: number;
  metadata: Map<string, GgufValue>;
  tensors: number;
  parameters: number;
}

/**
 * Reads the header of a GGUF file and checks all lengths: the engine trusts the lengths and would retry for minutes on a corrupt header.
 * Arrays are stored only as their length, long texts only as their beginning. Throws `InvalidGgufError`.
 */
export function readGgufHeader(path: string): GgufHeader {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)); // a pipe would block
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new InvalidGgufError(message('It is not a regular file.'));
    return read(new Cursor(file, stats.size));
  } finally {
    closeSync(file);
  }
}

export function invalidGgufReason(path: string): LocalizableText | undefined {
  try {
    readGgufHeader(path);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidGgufError) return messageOf(error);
    throw error;
  }
}

export class InvalidGgufError extends UserFacingError {}

const readers: Record<number, { size: number; read(bytes: Buffer): number | boolean }> = {
  0: { size: 1, read: (bytes) => bytes.readUInt8() },
  1: { size: 1, read: (bytes) => bytes.readInt8() },
  2: { size: 2, read: (bytes) => bytes.readUInt16LE() },
  3: { size: 2, read: (bytes) => bytes.readInt16LE() },
  4: { size: 4, read: (bytes) => bytes.readUInt32LE() },
  5: { size: 4, read: (bytes) => bytes.readInt32LE() },
  6: { size: 4, read: (bytes) => bytes.readFloatLE() },
  7: { size: 1, read: (bytes) => bytes.readUInt8() !== 0 },
  10: { size: 8, read: (bytes) => Number(bytes.readBigUInt64LE()) },
  11: { size: 8, read: (bytes) => Number(bytes.readBigInt64LE()) },
  12: { size: 8, read: (bytes) => bytes.readDoubleLE() },
};
const stringType = 8;
const arrayType = 9;
const longestText = 4096;
const longestTemplate = 65_536;
/** Maximum metadata entries and tensors: models have hundreds, and parsing is synchronous. */
const maxEntries = 65_536;
/** Maximum array elements of variable size, which must be read sequentially: a vocabulary and its merges. */
const maxElements = 4_000_000;
const maxDimensions = 4;
const longestArray = 512;

function read(cursor: Cursor): GgufHeader {
  if (cursor.text(4) !== 'GGUF') throw new InvalidGgufError(message('It is not a GGUF file.'));
  const version = cursor.u32();
  if (version < 2 || version > 3)
    throw new InvalidGgufError(message('It has GGUF version {0}; 2 and 3 are known.', version));
  const tensors = cursor.count();
  const entries = cursor.count();
  for (const [count, what] of [
    [entries, 'entries'],
    [tensors, 'tensors'],
  ] as const) {
    if (count > maxEntries) throw new InvalidGgufError(tooMany(count, what, maxEntries));
  }
  const metadata = new Map<string, GgufValue>();
  for (let index = 0; index < entries; index++) {
    const key = readText(cursor);
    const longest = key === 'tokenizer.chat_template' ? longestTemplate : longestText;
    metadata.set(key, readValue(cursor, cursor.u32(), 0, longest));
  }
  let parameters = 0;
  for (let index = 0; index < tensors; index++) {
    cursor.skip(cursor.count());
    let weights = 1;
    const dimensions = cursor.u32();
    if (dimensions > maxDimensions) throw new InvalidGgufError(tooMany(dimensions, 'dimensions', maxDimensions));
    for (let index = 0; index < dimensions; index++) weights *= cursor.count();
    parameters += weights;
    cursor.skip(4);
    if (cursor.count() >= cursor.size)
      throw new InvalidGgufError(message('It is cut off: its last tensors are missing.'));
  }
  return { version, metadata, tensors, parameters };
}

const damaged = {
  entries: 'Its header is damaged: {0} metadata entries; at most {1} are read.',
  tensors: 'Its header is damaged: {0} tensors; at most {1} are read.',
  dimensions: 'Its header is damaged: a tensor with {0} dimensions; at most {1} are read.',
  texts: 'Its header is damaged: {0} texts in lists; at most {1} are read.',
} as const;

const tooMany = (count: number, what: keyof typeof damaged, most: number) =>
  message(damaged[what], withDigitGrouping(count), withDigitGrouping(most));

function readText(cursor: Cursor, longest = longestText): string {
  const length = cursor.count();
  const text = cursor.text(Math.min(length, longest));
  if (length > longest) cursor.skip(length - longest);
  return text;
}

function readValue(cursor: Cursor, type: number, depth: number, longest = longestText): GgufValue {
  const scalar = readers[type];
  if (scalar) return cursor.take(scalar.size, scalar.read);
  if (type === stringType) return readText(cursor, longest);
  if (type !== arrayType || depth >= 4)
    throw new InvalidGgufError(message('Its header contains a value of an unknown type, {0}.', type));
  const element = cursor.u32();
  const length = cursor.count();
  const numbers: number[] = [];
  const elements = readers[element];
  if (elements && length > longestArray) cursor.skip(length * elements.size);
  else {
    cursor.walked += length;
    if (cursor.walked > maxElements) throw new InvalidGgufError(tooMany(cursor.walked, 'texts', maxElements));
    for (let index = 0; index < length; index++) {
      if (element === stringType) cursor.skip(cursor.count());
      else {
        const value = readValue(cursor, element, depth + 1);
        if (typeof value === 'number') numbers.push(value);
      }
    }
  }
  return { length, numbers };
}

class Cursor {
  private readonly window = Buffer.alloc(1 << 20);
  private windowStart = 0;
  private windowLength = 0;
  private at = 0;
  walked = 0;

  constructor(
    private readonly file: number,
    readonly size: number,
  ) {}

  u32(): number {
    return this.take(4, (bytes) => bytes.readUInt32LE());
  }

  count(): number {
    return this.take(8, (bytes) => Number(bytes.readBigUInt64LE()));
  }

  text(length: number): string {
    return this.take(length, (bytes) => bytes.toString('utf8'));
  }

  skip(length: number): void {
    this.at += length;
    if (this.at > this.size) throw new InvalidGgufError(message('Its header is damaged or cut off.'));
  }

  /** Returns the result of `read` for the next bytes, which are valid only until the next call. */
  take<Value>(length: number, read: (bytes: Buffer) => Value): Value {
    const start = this.at;
    this.skip(length);
    if (start < this.windowStart || this.at > this.windowStart + this.windowLength) {
      this.windowStart = start;
      this.windowLength = readSync(this.file, this.window, 0, this.window.length, start);
    }
    return read(this.window.subarray(start - this.windowStart, this.at - this.windowStart));
  }
}
