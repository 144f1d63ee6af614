/**
 * Normalized text for comparison: plain quotes, dashes, blanks and compatibility forms, without invisible characters. `starts[i]` is the
 * original position of the i-th character, with one more entry for the end.
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

export function normalizeLineForMatch(line: string): string {
  const trimmed = line.trim();
  return plain.test(trimmed) ? trimmed : trimmed.replace(foldable, foldedCluster).trim();
}

const foldable = /[\0-\x7f]\p{M}+|[^\0-\x7f]\p{M}*/gu;

const folds = new Map<string, string>();
const maxFolds = 10_000;
const longestFold = 8;

// Normalizes a base letter together with combining marks, so that NFC and NFD are equal.
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
  if (folds.size >= maxFolds) folds.clear();
  if (cluster.length <= longestFold) folds.set(cluster, folded);
  return folded;
}
