import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/**
 * Walks through the header of a GGUF file and says what is wrong with it, or undefined. The engine trusts the lengths
 * in there: on a damaged or cut-off header it would try again and again for minutes.
 */
export function ggufTrouble(path: string): string | undefined {
  const file = openSync(path, 'r');
  try {
    walk(new Cursor(file, fstatSync(file).size));
    return undefined;
  } catch (error) {
    if (error instanceof Trouble) return error.message;
    throw error;
  } finally {
    closeSync(file);
  }
}

class Trouble extends Error {}

/** Bytes of a scalar by its type's number; 8 is a string, 9 an array. */
const sizes: Record<number, number> = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 };
const stringType = 8;
const arrayType = 9;

function walk(cursor: Cursor): void {
  if (cursor.text(4) !== 'GGUF') throw new Trouble('It does not begin like a GGUF file.');
  const version = cursor.u32();
  if (version < 2 || version > 3) throw new Trouble(`It has GGUF version ${version}; 2 and 3 are known.`);
  const tensors = cursor.count();
  const entries = cursor.count();
  for (let index = 0; index < entries; index++) {
    cursor.skip(cursor.count());
    skipValue(cursor, cursor.u32(), 0);
  }
  for (let index = 0; index < tensors; index++) {
    cursor.skip(cursor.count());
    cursor.skip(cursor.u32() * 8 + 4);
    if (cursor.count() >= cursor.size) throw new Trouble('It is cut off: its last tensors are missing.');
  }
}

function skipValue(cursor: Cursor, type: number, depth: number): void {
  const size = sizes[type];
  if (size !== undefined) cursor.skip(size);
  else if (type === stringType) cursor.skip(cursor.count());
  else if (type === arrayType && depth < 4) {
    const element = cursor.u32();
    const length = cursor.count();
    const elementSize = sizes[element];
    if (elementSize !== undefined) cursor.skip(length * elementSize);
    else for (let index = 0; index < length; index++) skipValue(cursor, element, depth + 1);
  } else throw new Trouble(`Its header has a value of an unknown type, ${type}.`);
}

/** Reads forward through a file, a window at a time. */
class Cursor {
  private readonly window = Buffer.alloc(1 << 20);
  private windowStart = 0;
  private windowLength = 0;
  private at = 0;

  constructor(
    private readonly file: number,
    readonly size: number,
  ) {}

  u32(): number {
    return this.take(4).readUInt32LE();
  }

  /** A 64-bit number of things. */
  count(): number {
    return Number(this.take(8).readBigUInt64LE());
  }

  text(length: number): string {
    return this.take(length).toString('latin1');
  }

  skip(length: number): void {
    this.at += length;
    if (this.at > this.size) throw new Trouble('Its header is damaged or cut off.');
  }

  private take(length: number): Buffer {
    const start = this.at;
    this.skip(length);
    if (start < this.windowStart || this.at > this.windowStart + this.windowLength) {
      this.windowStart = start;
      this.windowLength = readSync(this.file, this.window, 0, this.window.length, start);
    }
    return this.window.subarray(start - this.windowStart, this.at - this.windowStart);
  }
}
