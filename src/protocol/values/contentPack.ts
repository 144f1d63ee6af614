/**
 * Index of a content pack. A pack is one file: the contents one after the other, the index as JSON, and the length of the index in the last
 * eight bytes (little-endian), so that one write and one sync store any number of contents.
 */
export type ContentPackIndex = ReadonlyMap<string, ContentPackEntry>;

/** Position of a content in a pack, in bytes. */
export interface ContentPackEntry {
  offset: number;
  length: number;
}

export const contentPackSuffix = '.pack';
export const contentPackTailBytes = 8;

/** Returns the bytes after the contents. */
export function encodeContentPackIndex(index: ContentPackIndex): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify([...index].map(([id, one]) => [id, one.offset, one.length])));
  const bytes = new Uint8Array(json.length + contentPackTailBytes);
  bytes.set(json);
  new DataView(bytes.buffer).setBigUint64(json.length, BigInt(json.length), true);
  return bytes;
}

/** Returns the length of the JSON from the last eight bytes of a pack. */
export const contentPackIndexLength = (tail: Uint8Array): number =>
  Number(new DataView(tail.buffer, tail.byteOffset, contentPackTailBytes).getBigUint64(0, true));

/** Parses the JSON of an index. Throws for anything else. */
export function parseContentPackIndex(json: string): ContentPackIndex {
  const rows: unknown = JSON.parse(json);
  if (!Array.isArray(rows)) throw new SyntaxError('not an index');
  return new Map(
    rows.map((row: unknown): [string, ContentPackEntry] => {
      const [id, offset, length] = Array.isArray(row) ? row : [];
      if (typeof id !== 'string' || !Number.isSafeInteger(offset) || !Number.isSafeInteger(length))
        throw new SyntaxError('not an index');
      return [id, { offset, length }];
    }),
  );
}
