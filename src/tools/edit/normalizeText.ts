/**
 * A text as it is compared: typographic quotes, dashes, blanks and compatibility forms made plain, invisible characters
 * gone. `starts[i]` is where the i-th folded character begins in the original, with one entry more for the end.
 */
interface NormalizedText {
  text: string;
  starts: number[];
}

const plain = /^[\x20-\x7e\t]*$/;

export function normalizeText(original: string): NormalizedText {
  if (plain.test(original)) {
    return { text: original, starts: Array.from({ length: original.length + 1 }, (_, index) => index) };
  }
  let text = '';
  const starts: number[] = [];
  let offset = 0;
  for (const [cluster] of original.matchAll(/\P{M}\p{M}*|\p{M}+/gsu)) {
    const folded = foldedCluster(cluster);
    for (let index = 0; index < folded.length; index++) starts.push(offset);
    text += folded;
    offset += cluster.length;
  }
  starts.push(original.length);
  return { text, starts };
}

export function foldedLine(line: string): string {
  const trimmed = line.trim();
  return plain.test(trimmed) ? trimmed : trimmed.replace(foldable, foldedCluster).trim();
}

/** The clusters of a text that can be folded to another. */
const foldable = /[\0-\x7f]\p{M}+|[^\0-\x7f]\p{M}*/gu;

/** A text has few different ones, and each is looked up faster than it is folded. */
const folds = new Map<string, string>();
const mostFolds = 10_000;
const longestFold = 8;

/** Base letter and combining marks are folded together, so that NFC and NFD are equal. */
function foldedCluster(cluster: string): string {
  const known = folds.get(cluster);
  if (known !== undefined) return known;
  const folded = cluster
    .normalize('NFKC')
    .replace(/[\u2018\u2019\u201a\u201b\u2032\u00b4\u02bc]/g, "'")
    .replace(/[\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/[\p{Zs}]/gu, ' ')
    .replace(/\p{Cf}/gu, '');
  if (folds.size >= mostFolds) folds.clear();
  if (cluster.length <= longestFold) folds.set(cluster, folded);
  return folded;
}
