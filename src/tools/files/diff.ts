/** A place where two sequences differ: `[fromStart, fromEnd)` of the first became `[toStart, toEnd)` of the second. */
export interface Hunk {
  fromStart: number;
  fromEnd: number;
  toStart: number;
  toEnd: number;
}

/** Above this many comparisons the differing middle is one hunk: correct, only coarser. */
const maximumCells = 4_000_000;

/** The hunks between two sequences, in order, by a longest common subsequence. */
export function diff(from: readonly string[], to: readonly string[]): Hunk[] {
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start += 1;
  let fromEnd = from.length;
  let toEnd = to.length;
  while (fromEnd > start && toEnd > start && from[fromEnd - 1] === to[toEnd - 1]) {
    fromEnd -= 1;
    toEnd -= 1;
  }
  if (start === fromEnd && start === toEnd) return [];
  const rows = fromEnd - start;
  const columns = toEnd - start;
  if (rows === 0 || columns === 0 || rows * columns > maximumCells)
    return [{ fromStart: start, fromEnd, toStart: start, toEnd }];

  // lengths[i][j]: the longest common subsequence of what follows i and j.
  const width = columns + 1;
  const lengths = new Uint32Array((rows + 1) * width);
  for (let i = rows - 1; i >= 0; i--) {
    for (let j = columns - 1; j >= 0; j--) {
      const same = from[start + i] === to[start + j];
      lengths[i * width + j] = same
        ? lengths[(i + 1) * width + j + 1]! + 1
        : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
    }
  }
  const hunks: Hunk[] = [];
  let i = 0;
  let j = 0;
  while (i < rows || j < columns) {
    if (i < rows && j < columns && from[start + i] === to[start + j]) {
      i += 1;
      j += 1;
      continue;
    }
    const hunk = { fromStart: start + i, fromEnd: 0, toStart: start + j, toEnd: 0 };
    while ((i < rows || j < columns) && !(i < rows && j < columns && from[start + i] === to[start + j])) {
      const skipsTo = i >= rows || (j < columns && lengths[i * width + j + 1]! > lengths[(i + 1) * width + j]!);
      if (skipsTo) j += 1;
      else i += 1;
    }
    hunks.push({ ...hunk, fromEnd: start + i, toEnd: start + j });
  }
  return hunks;
}

/** How many lines a change adds and removes. */
export function countChanges(before: readonly string[], after: readonly string[]): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const hunk of diff(before, after)) {
    added += hunk.toEnd - hunk.toStart;
    removed += hunk.fromEnd - hunk.fromStart;
  }
  return { added, removed };
}
