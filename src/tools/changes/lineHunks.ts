import { type DiffHunk, diffSequences } from '../edit/diff.ts';

// Maximum lines of a part without lines that occur once; above, the part is one hunk: correct but coarse.
const maxCompared = 400;

const lineEnds = /\r\n|\n|\r/g;

/** Splits like an editor: an empty line follows the last line end. A byte order mark is not part of a line. */
export const editorLines = (text: string): string[] => text.replace(/^\uFEFF/, '').split(lineEnds);

/**
 * Returns the difference of two texts in lines. Lines that occur once in both texts align the rest, so that the time grows with the length of
 * the texts and hardly with the number of differences.
 */
export function diffLines(from: readonly string[], to: readonly string[]): DiffHunk[] {
  const hunks: DiffHunk[] = [];
  const add = (hunk: DiffHunk) => {
    const last = hunks.at(-1);
    if (last && last.fromEnd === hunk.fromStart && last.toEnd === hunk.toStart) {
      last.fromEnd = hunk.fromEnd;
      last.toEnd = hunk.toEnd;
    } else hunks.push(hunk);
  };
  const whole = withoutCommonEnds(from, to, {
    fromStart: 0,
    fromEnd: from.length,
    toStart: 0,
    toEnd: to.length,
  });
  let { fromStart, toStart } = whole;
  const anchors = alignedUniqueLines(from, to, whole);
  for (const [fromEnd, toEnd] of [...anchors, [whole.fromEnd, whole.toEnd] as const]) {
    for (const hunk of diffPart(from, to, { fromStart, fromEnd, toStart, toEnd })) add(hunk);
    [fromStart, toStart] = [fromEnd + 1, toEnd + 1];
  }
  return hunks;
}

function diffPart(from: readonly string[], to: readonly string[], part: DiffHunk): DiffHunk[] {
  const { fromStart, fromEnd, toStart, toEnd } = withoutCommonEnds(from, to, part);
  if (fromStart === fromEnd && toStart === toEnd) return [];
  const [was, is] = [from.slice(fromStart, fromEnd), to.slice(toStart, toEnd)];
  const known = new Set(was);
  if (was.length + is.length > maxCompared || !is.some((line) => known.has(line)))
    return [{ fromStart, fromEnd, toStart, toEnd }];
  return diffSequences(was, is).map((hunk) => ({
    fromStart: fromStart + hunk.fromStart,
    fromEnd: fromStart + hunk.fromEnd,
    toStart: toStart + hunk.toStart,
    toEnd: toStart + hunk.toEnd,
  }));
}

function withoutCommonEnds(from: readonly string[], to: readonly string[], part: DiffHunk): DiffHunk {
  let { fromStart, fromEnd, toStart, toEnd } = part;
  while (fromStart < fromEnd && toStart < toEnd && from[fromStart] === to[toStart]) {
    fromStart += 1;
    toStart += 1;
  }
  while (fromStart < fromEnd && toStart < toEnd && from[fromEnd - 1] === to[toEnd - 1]) {
    fromEnd -= 1;
    toEnd -= 1;
  }
  return { fromStart, fromEnd, toStart, toEnd };
}

/** Returns the positions of lines that occur once in both parts: the longest sequence that ascends in both. */
function alignedUniqueLines(from: readonly string[], to: readonly string[], part: DiffHunk): [number, number][] {
  const positions = new Map<string, { from: number; to: number }>();
  for (let at = part.fromStart; at < part.fromEnd; at += 1) {
    const known = positions.get(from[at]!);
    if (known) known.from = -1;
    else positions.set(from[at]!, { from: at, to: -2 });
  }
  for (let at = part.toStart; at < part.toEnd; at += 1) {
    const known = positions.get(to[at]!);
    if (known) known.to = known.to === -2 ? at : -1;
  }
  const pairs = [...positions.values()].filter((one) => one.from >= 0 && one.to >= 0);
  const ends: number[] = []; // by length: index of the pair that ends the sequence with the lowest position
  const before: number[] = [];
  for (const [index, pair] of pairs.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[ends[middle]!]!.to < pair.to) low = middle + 1;
      else high = middle;
    }
    before[index] = low > 0 ? ends[low - 1]! : -1;
    ends[low] = index;
  }
  const aligned: [number, number][] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at]!) aligned.push([pairs[at]!.from, pairs[at]!.to]);
  return aligned.reverse();
}

/**
 * Replaces lines `[start, end)` of a text. Line ends stay; new lines get the line end that is the most frequent in the text.
 *
 * @param lineEnd line end of new lines in a text without any
 */
export function replaceLineRange(
  text: string,
  start: number,
  end: number,
  lines: readonly string[],
  lineEnd = '\n',
): string {
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  const all = editorLines(text);
  const ends: string[] = text.match(lineEnds) ?? [];
  const usual = usualLineEnd(text) ?? lineEnd;
  const joined = [
    ...all.slice(0, start).map((line, at) => ({ line, end: ends[at] })),
    ...lines.map((line, at) => ({ line, end: end - start === lines.length ? ends[start + at] : usual })),
    ...all.slice(end).map((line, at) => ({ line, end: ends[end + at] })),
  ];
  const last = joined.length - 1;
  return mark + joined.map(({ line, end }, at) => (at === last ? line : line + (end ?? usual))).join('');
}

/** Returns the most frequent line end of a text; undefined if there is none. */
export function usualLineEnd(text: string): string | undefined {
  const counts = new Map<string, number>();
  for (const end of text.match(lineEnds) ?? []) counts.set(end, (counts.get(end) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one)[0]?.[0];
}
