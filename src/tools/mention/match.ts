const stretch = 4000;

/**
 * Returns the names with the best match for a typed text, best first; ties are in path order. Undefined if aborted in between. Names are
 * paths with `/`; folders end with `/`.
 */
export async function bestMatches(
  names: readonly string[],
  typed: string,
  most: number,
  isGivenUp: () => boolean = () => false,
): Promise<string[] | undefined> {
  const query = typed.toLowerCase();
  const best: { name: string; fit: number }[] = [];
  for (const [index, name] of names.entries()) {
    if (index % stretch === stretch - 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (isGivenUp()) return undefined;
    }
    const fit = matchScore(name, query);
    if (fit === 0) continue;
    const last = best.at(-1);
    if (best.length === most && last && !isBefore({ name, fit }, last)) continue;
    if (best.length === most) best.pop();
    const position = best.findIndex((one) => isBefore({ name, fit }, one));
    best.splice(position < 0 ? best.length : position, 0, { name, fit });
  }
  return best.map(({ name }) => name);
}

const isBefore = (one: { name: string; fit: number }, other: { name: string; fit: number }): boolean =>
  one.fit !== other.fit ? one.fit > other.fit : one.name < other.name;

/** Minimum score of a contiguous match; lower scores match only letters in order. */
export const minContiguousMatchScore = 340;

/** Scores a name; 0 is no match. A prefix of the last segment scores highest, then contiguous matches, then letters in order. */
export function matchScore(path: string, query: string): number {
  const lower = path.toLowerCase();
  const isFolder = lower.endsWith('/');
  const begin = lower.lastIndexOf('/', lower.length - (isFolder ? 2 : 1)) + 1;
  const name = isFolder ? lower.slice(begin, -1) : lower.slice(begin);
  const shortness = Math.max(0, 60 - path.length / 4) + (isFolder ? 0 : 1);
  if (query === '') return 1 + shortness;
  if (name === query || lower === query) return 1000 + shortness;
  if (name.startsWith(query)) return 800 + shortness;
  if (lower.startsWith(query)) return 700 + shortness;
  const inName = name.indexOf(query);
  if (inName > 0) return (isWordStart(path, begin + inName) ? 600 : 500) + shortness;
  const inPath = lower.indexOf(query);
  if (inPath > 0) return (isWordStart(path, inPath) ? 400 : 350) + shortness;
  const gaps = gapsIn(name, query);
  if (gaps !== undefined) return Math.max(150, 250 - gaps * 5) + shortness;
  const wide = gapsIn(lower, query);
  return wide === undefined ? 0 : Math.max(1, 100 - wide * 3) + shortness;
}

const isWordStart = (path: string, at: number): boolean =>
  /[^\p{L}\p{N}]/u.test(path[at - 1]!) || /\p{Ll}\p{Lu}/u.test(path.slice(at - 1, at + 1));

// Returns the number of pieces of the query found in order; undefined if letters are missing.
function gapsIn(text: string, query: string): number | undefined {
  let at = -1;
  let gaps = 0;
  for (const letter of query) {
    const next = text.indexOf(letter, at + 1);
    if (next < 0) return undefined;
    if (next !== at + 1) gaps += 1;
    at = next;
  }
  return gaps;
}
