// @invariant searches-are-stable: Equal searches of an unchanged workspace return equal results, in the order of `comparePaths`.

/** Result in a file. Results of the same file are adjacent and in order. */
export interface SearchHit {
  path: string;
}

// Consumer of results in path order; returns false after the first result beyond the limit. Each call creates a fresh consumer.
type Taking<One extends SearchHit> = () => (hit: One) => boolean;

export interface FileSearch<One extends SearchHit> {
  /**
   * Searches all files until `onHit` returns false. `inOrder`: in the order of `comparePaths` on one processor; otherwise unordered in parallel.
   * Files `beyond` are skipped. Resolves to true if truncated.
   */
  run(options: {
    inOrder: boolean;
    beyond(path: string): boolean;
    onHit(hit: One): boolean;
    signal: AbortSignal;
  }): Promise<{ cut: boolean }>;
  taking: Taking<One>;
}

// Number of results before the first check for the limit, and between later checks.
const many = 512;
const more = 2048;

/**
 * Returns the first results of a search in path order, identical on every call, up to the limit and one more.
 *
 * An unordered search runs over all files and drops results beyond the current limit. If it has enough results but needs three times longer
 * to end, an ordered search starts in addition and continues while it finds results: it costs some of the same resources, but is much
 * faster if results are everywhere. The first to finish gives the answer; both answers are equal.
 */
export async function firstSortedHits<One extends SearchHit>(
  search: FileSearch<One>,
  signal: AbortSignal,
): Promise<{ hits: One[]; cut: boolean }> {
  const startedAt = performance.now();
  const over = new AbortController();
  const both = AbortSignal.any([signal, over.signal]);
  const runs: Promise<unknown>[] = [];
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      const onEnough = () => {
        const ms = performance.now() - startedAt;
        const begin = () => {
          runs.push(inOrder(search, 2 * ms, both).then(resolve, () => undefined)); // its failure fails the other, or is its end
        };
        timer = setTimeout(begin, 3 * ms);
      };
      runs.push(anyhow(search, onEnough, both).then(resolve, reject));
    });
  } finally {
    clearTimeout(timer);
    over.abort();
    await Promise.all(runs); // no process stays behind
  }
}

// `pace`: milliseconds within which a result must arrive, else the search is given up.
async function inOrder<One extends SearchHit>({ run, taking }: FileSearch<One>, pace: number, signal: AbortSignal) {
  const hits: One[] = [];
  let before = 0;
  const given = new AbortController();
  const timer = setInterval(() => {
    if (hits.length === before) given.abort();
    before = hits.length;
  }, pace);
  const take = taking();
  const onHit = (hit: One) => {
    hits.push(hit);
    return take(hit);
  };
  try {
    const { cut } = await run({
      inOrder: true,
      beyond: () => false,
      onHit,
      signal: AbortSignal.any([signal, given.signal]),
    });
    return { hits, cut };
  } finally {
    clearInterval(timer);
  }
}

async function anyhow<One extends SearchHit>(
  { run, taking }: FileSearch<One>,
  onEnough: () => void,
  signal: AbortSignal,
) {
  let hits: One[] = [];
  let last: string | undefined;
  let next = many;
  const beyond = (path: string) => last !== undefined && comparePaths(path, last) > 0;
  const keepFirst = () => {
    const found = first(hits, taking());
    hits = found.hits;
    if (found.enough && last === undefined) onEnough();
    if (found.enough) last = hits.at(-1)!.path;
    next = hits.length + (found.enough ? more : Math.max(many, hits.length));
  };
  const onHit = (hit: One) => {
    if (!beyond(hit.path)) hits.push(hit);
    if (hits.length >= next) keepFirst();
    return true;
  };
  const { cut } = await run({ inOrder: false, beyond, onHit, signal });
  return { hits: first(hits, taking()).hits, cut };
}

// Takes results up to the limit. Sorting is stable within a file.
function first<One extends SearchHit>(
  hits: readonly One[],
  take: (hit: One) => boolean,
): { hits: One[]; enough: boolean } {
  const sorted = hits.toSorted((one, other) => comparePaths(one.path, other.path));
  const end = sorted.findIndex((hit) => !take(hit));
  return { hits: end < 0 ? sorted : sorted.slice(0, end + 1), enough: end >= 0 };
}

/** Compares paths segment by segment by bytes, like ripgrep: `a/x` before `a.b`. */
export function comparePaths(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const a = one.charCodeAt(at);
    const b = other.charCodeAt(at);
    if (a !== b) return rank(a) - rank(b);
  }
  return one.length - other.length;
}

// Ranks a UTF-16 unit in UTF-8 order; the end of a segment comes first.
function rank(unit: number): number {
  if (unit === 0x2f) return 0;
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
