/** The same numbers between 0 and 1 every time (mulberry32). */
export function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Random things that are the same for the same number. */
export interface Random {
  /** From 0 up to, and never, 1. */
  next(): number;
  /** A whole number below `most`. */
  upTo(most: number): number;
  chance(part: number): boolean;
  pick<One>(list: readonly One[]): One;
  /** A length: mostly short, now and then nearly `most`. */
  long(most: number): number;
  /** Words, code, digits or Chinese, so many characters. */
  text(length: number): string;
}

const kinds = [
  'some words of a longer text that says little ',
  'const value = await read({ path: "src/a.ts" }); // "quoted" \\ and\n',
  '0x3fa9c1 17.25 2026-11-23T00:00:00Z 42 ',
  '这是一个用来测试的中文句子，没有别的意思。',
];

export function randomFrom(seed: number): Random {
  const next = generator(seed * 7919); // neighbours have little in common
  const upTo = (most: number) => Math.floor(next() * most);
  const pick = <One>(list: readonly One[]): One => list[upTo(list.length)]!;
  return {
    next,
    upTo,
    chance: (part) => next() < part,
    pick,
    long: (most) => Math.floor(most * next() ** 4),
    text(length) {
      const words = pick(kinds);
      return words.repeat(Math.ceil(length / words.length)).slice(0, Math.floor(length));
    },
  };
}
