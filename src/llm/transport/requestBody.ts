/** Bytes from which items of a list are kept as a chunk. */
const defaultChunkBytes = 65_536;

/** JSON text of the beginning of a list, as UTF-8. `ends[i]`: number of items up to the end of `chunks[i]`, which ends with a comma. */
interface SentList {
  items: object[];
  ends: number[];
  chunks: Buffer[];
}

const sentLists = new WeakMap<object, SentList>(); // by the first item

/**
 * Returns `JSON.stringify(body)` as text, or as UTF-8 if it is long. The beginning of a long list is kept for the next request, which
 * contains the same objects: only new messages of a conversation are converted to JSON. The objects of a list must not be modified later.
 */
export function toRequestBody(body: object, chunkBytes = defaultChunkBytes): string | Uint8Array {
  const parts: (string | Buffer)[] = [];
  for (const [name, value] of Object.entries(body)) {
    const list = Array.isArray(value) ? listParts(value, chunkBytes) : [JSON.stringify(value) as string | undefined];
    if (list[0] === undefined) continue;
    parts.push(`${parts.length > 0 ? ',' : '{'}${JSON.stringify(name)}:`, ...(list as typeof parts));
  }
  parts.push(parts.length > 0 ? '}' : '{}');
  if (parts.every((part) => typeof part === 'string')) return parts.join('');
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}

function listParts(list: readonly unknown[], chunkBytes: number): (string | Buffer)[] {
  const first = list[0];
  if (!isObject(first) || !list.every(isObject)) return [JSON.stringify(list)];
  const sent = sentLists.get(first) ?? { items: [], ends: [], chunks: [] };
  keepCommonChunks(sent, list);
  let begin = sent.ends.at(-1) ?? 0;
  let text = '';
  for (let at = begin; at < list.length; at++) {
    text += JSON.stringify(list[at]);
    if (at === list.length - 1) break; // a chunk ends with a comma
    text += ',';
    if (text.length < chunkBytes) continue;
    sent.chunks.push(Buffer.from(text));
    sent.ends.push(at + 1);
    for (; begin <= at; begin++) sent.items.push(list[begin]!);
    text = '';
  }
  if (sent.chunks.length > 0) sentLists.set(first, sent);
  return ['[', ...sent.chunks, `${text}]`];
}

const isObject = (item: unknown): item is object => typeof item === 'object' && item !== null;

/** Drops the chunks after the first item that is another one in the new list, or its last. */
function keepCommonChunks({ items, ends, chunks }: SentList, list: readonly object[]): void {
  let common = 0;
  while (common < items.length && common < list.length - 1 && items[common] === list[common]) common++;
  while ((ends.at(-1) ?? 0) > common) {
    ends.pop();
    chunks.pop();
  }
  items.length = ends.at(-1) ?? 0;
}
