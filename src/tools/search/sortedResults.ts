// @invariant searches-are-stable: Equal searches of an unchanged workspace return equal results, in the order of `byPath`.

/** Something found in a file. What is found in one file comes together, in its order. */
export interface Hit {
  /** As in `byPath`'s order. */
  path: string;
}

/** Takes what is found in the order of the paths; false once that was one too many. A new one is begun with nothing. */
type Taking<One extends Hit> = () => (hit: One) => boolean;

export interface Search<One extends Hit> {
  /**
   * Goes through all files until `onHit` returns false, file by file; `inOrder`: as `byPath` has them, which takes one processor, else
   * as they come from all of them. Nothing is wanted of files that are `beyond`. Resolves to whether it was cut short.
   */
  run(options: {
    inOrder: boolean;
    beyond(path: string): boolean;
    onHit(hit: One): boolean;
    signal: AbortSignal;
  }): Promise<{ cut: boolean }>;
  taking: Taking<One>;
}

/** Found in so many pieces, it is looked whether there are enough; then, after each so many more, which are the first. */
const many = 512;
const more = 2048;

/**
 * The first of what a search finds, in order: the same from call to call, as far as it is taken and with the one that was too many.
 * All files are gone through at once, and what cannot be among the first is dropped. When there is enough of it and no end for three
 * times as long again, they are gone through in order beside that, as long as it finds more all the time: it takes from the other what it
 * uses itself, and is much the sooner one where there is something everywhere. Both come to the same, and the sooner one is the answer.
 */
export async function firstInOrder<One extends Hit>(
  search: Search<One>,
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
        const took = performance.now() - startedAt;
        const begin = () => {
          runs.push(inOrder(search, 2 * took, both).then(resolve, () => undefined)); // what fails it fails the other, or is its end
        };
        timer = setTimeout(begin, 3 * took);
      };
      runs.push(anyhow(search, onEnough, both).then(resolve, reject));
    });
  } finally {
    clearTimeout(timer);
    over.abort();
    await Promise.all(runs); // no process is left behind
  }
}

/** `pace`: in so many milliseconds something is found each time, or it is given up. */
async function inOrder<One extends Hit>({ run, taking }: Search<One>, pace: number, signal: AbortSignal) {
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

async function anyhow<One extends Hit>({ run, taking }: Search<One>, onEnough: () => void, signal: AbortSignal) {
  let hits: One[] = [];
  let last: string | undefined;
  let next = many;
  const beyond = (path: string) => last !== undefined && byPath(path, last) > 0;
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

/** As far as they are taken. Sorting leaves those of one file as they are. */
function first<One extends Hit>(hits: readonly One[], take: (hit: One) => boolean): { hits: One[]; enough: boolean } {
  const sorted = hits.toSorted((one, other) => byPath(one.path, other.path));
  const end = sorted.findIndex((hit) => !take(hit));
  return { hits: end < 0 ? sorted : sorted.slice(0, end + 1), enough: end >= 0 };
}

/** Name by name, each by its bytes, as ripgrep sorts them: `a/x` comes before `a.b`. */
export function byPath(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const a = one.charCodeAt(at);
    const b = other.charCodeAt(at);
    if (a !== b) return rank(a) - rank(b);
  }
  return one.length - other.length;
}

/** The end of a name comes first; UTF-16 has its pairs before letters that UTF-8 has before them. */
function rank(unit: number): number {
  if (unit === 0x2f) return 0;
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
