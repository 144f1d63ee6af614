import { type Run, runTitle } from '../protocol/run/run.ts';
import type { IndexedRun } from './history.ts';

interface FoundRun {
  indexed: IndexedRun;
  excerpt?: string;
}

// Searchable characters per run: the start and end of a longer text.
const maxText = 200_000;

export function searchTextOfRun(run: Run): Buffer {
  const messages = [...run.messages, ...(run.damage ?? []).flatMap(({ messages }) => messages)];
  const texts = messages.flatMap((message) => (message.role === 'tool' ? [] : [message.content]));
  return Buffer.from(`${searchable(runTitle(run))}\t${searchable(bothEnds(texts, maxText / 2))}`);
}

export const searchTextOfRunTitle = (title: string): Buffer => Buffer.from(`${searchable(title)}\t`);

function searchable(text: string): string {
  const plain = isPlain.test(text) ? text : text.normalize('NFKD').replace(/[\p{M}\p{Cf}]+/gu, '');
  return plain
    .toLowerCase()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}
const isPlain = /^[\x20-\x7E\s]*$/;

/** Returns the runs that contain every word of `query`, also as part of a word; all runs for an empty query. */
export function findMatchingRuns(runs: readonly IndexedRun[], query: string): FoundRun[] {
  const wanted = searchWords(query)
    .sort((one, other) => other.length - one.length) // long words are probably rare
    .map((word) => Buffer.from(word));
  return runs.flatMap((indexed) => {
    const { searchText } = indexed;
    const positions: number[] = [];
    for (const word of wanted) {
      const position = searchText.indexOf(word);
      if (position < 0) return [];
      positions.push(position);
    }
    const title = searchText.indexOf(9);
    const inText = positions.find((position) => position > title);
    return [
      { indexed, ...(inText !== undefined && { excerpt: around(searchText.subarray(title + 1), inText - title - 1) }) },
    ];
  });
}

export const matchesSearchQuery = (text: string, query: string): boolean =>
  searchWords(query).every((word) => searchable(text).includes(word));

const searchWords = (query: string): string[] =>
  searchable(query)
    .split(' ')
    .filter((word) => word !== '')
    .slice(0, maxWanted);

const maxWanted = 20;

const [before, after] = [30, 90];

function around(text: Buffer, at: number): string {
  const [from, to] = [Math.max(0, at - before), Math.min(text.length, at + after)];
  const cut = /^\uFFFD+|\uFFFD+$/gu; // split multibyte character
  const lead = text.toString('utf8', from, at).replace(cut, '');
  const rest = text.toString('utf8', at, to).replace(cut, '');
  const space = from > 0 ? lead.indexOf(' ') : -1; // starts at a word boundary
  return `${from > 0 ? '…' : ''}${lead.slice(space + 1)}${rest}${to < text.length ? '…' : ''}`;
}

function bothEnds(texts: readonly string[], most: number): string {
  const first: string[] = [];
  let [next, left] = [0, most];
  for (; next < texts.length && texts[next]!.length <= left; next++) {
    first.push(texts[next]!);
    left -= texts[next]!.length + 1;
  }
  if (next === texts.length) return first.join(' ');
  const last: string[] = [];
  let budget = most + Math.max(0, left);
  for (let at = texts.length - 1; at >= next && budget > 0; at--) {
    const text = texts[at]!;
    last.unshift(text.length <= budget ? text : `${text.slice(0, budget / 2)} ${text.slice(text.length - budget / 2)}`);
    budget -= text.length + 1;
  }
  return [...first, ...last].join(' ');
}
