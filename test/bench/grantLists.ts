import type { GrantRow } from '../../src/tools/commands/grants/grantRow.ts';
import { parseCommandOptionTypes } from '../../src/tools/commands/grants/options.ts';
import { examplesOf } from '../support/grantExamples.ts';

/** What an attacker would write behind an option; `OUTSIDE` is a folder beside the open one. */
const dangerous =
  `/OUTSIDE/canary /OUTSIDE ../outside/canary .. ../../x /etc/passwd /tmp/canary ~ ~/canary http://127.0.0.1:9/x 127.0.0.1:9 git@127.0.0.1:x file:///OUTSIDE/canary ./evil.sh evil.sh evil ./evil.js ./evil.py ./evil.rb evil.X evil:x ./evil.cmake ./evil.mk ./evil.so evil.json evil.toml evil.ini evil.yml link link/canary .env %GS |evil.sh !./evil.sh @evil.txt @/OUTSIDE/args a=./evil.sh x:/OUTSIDE/canary PWNED stash@{0} HEAD:../x HEAD:.env :/x -1 ''`.split(
    ' ',
  );
const plain =
  'src test tests . src/a.ts src/a.c src/a.py src/a.go tests/test_a.py test/a.js spec/a_spec.rb HEAD main HEAD~1 main..HEAD build a all test build lint check x 1 2 100 auto json text core ./... ./a a.b a::b user.name origin unit dist/a.js README.md scripts/a.sh'.split(
    ' ',
  );

/** Numbers from 0 to below 1, the same for the same seed. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** The options that a help text or manual names. */
export const optionsIn = (help: string): string[] => [
  ...new Set(
    [...help.matchAll(/(?<![\w-])(--?(?:\[no-\])?[A-Za-z][\w-]*)/g)].flatMap(([, name]) =>
      name!.includes('[no-]') ? [name!.replace('[no-]', ''), name!.replace('[no-]', 'no-')] : [name!],
    ),
  ),
];

/** Options that the row knows, each with the values that it says; `''` for any. */
const optionsWithValues = (row: GrantRow) =>
  [row.options, row.before, row.rest?.options].flatMap((spelled) =>
    [...parseCommandOptionTypes(spelled)].flatMap(([name, { flag, value }]) => [
      ...(flag ? [name] : []),
      ...(value === undefined ? [] : value.split(' ').map((type) => `${name}=${type}`)),
    ]),
  );

const goodValues: Record<string, string[]> = {
  '#': ['1', '4'],
  '<time>': ['5s'],
  '<name>': ['a', 'core'],
  '<path>': ['src', 'build', 'src/a.c'],
  '<folder>': ['.', 'src'],
  '<manifest>': ['Cargo.toml', 'pom.xml'],
  '<output>': ['bin/a', 'coverage.out', 'dist/x'],
  '<format>': ['%h', 'oneline', '%(refname)'],
  '<target>': ['all', 'unit'],
  '<warning>': ['error', 'ignore'],
  '<noplugin>': ['no:cacheprovider'],
  '<lint>': ['warnings'],
};

/**
 * Command lines that begin with the row's command, or with one of its examples: options that the program itself names, those of the
 * row, values and operands that lead astray.
 * @param start how the command is started here
 */
export function drawLists(
  row: GrantRow,
  start: string,
  own: readonly string[],
  count: number,
  next: () => number,
): string[] {
  const pick = <T>(all: readonly T[]): T => all[Math.floor(next() * all.length)]!;
  const known = optionsWithValues(row);
  const value = () => (next() < 0.6 ? pick(dangerous) : pick(plain));
  const spelled = (name: string, text: string): string[] => {
    const way = next();
    if (way < 0.5) return [`${name}=${text}`];
    return way < 0.85 || name.startsWith('--') ? [name, text] : [name + text];
  };
  const option = (): string[] => {
    if (own.length > 0 && next() < 0.3) {
      const name = pick(own);
      return next() < 0.5 ? [name] : spelled(name, value());
    }
    if (known.length === 0) return [];
    const [, name, type] = /^([^=]+)(?:=(.*))?$/s.exec(pick(known))!;
    if (name === '-#') return [`-${1 + Math.floor(next() * 9)}`];
    if (type === undefined) return next() < 0.9 ? [name!] : spelled(name!, value());
    if (next() < 0.4) return spelled(name!, value());
    return spelled(name!, pick(goodValues[type] ?? (type === '' ? plain : type.split('|'))));
  };
  const examples = examplesOf(row).yes.map((text) =>
    text.startsWith(row.command) ? start + text.slice(row.command.length) : text,
  );
  const lists = new Set<string>();
  for (let tries = 0; lists.size < count && tries < count * 20; tries++) {
    const words: string[] = [];
    const needed = row.needs?.length && next() < 0.9 ? [pick(row.needs)] : [];
    for (let left = Math.floor(next() * 4); left > 0; left--) words.push(...option());
    for (let left = Math.floor(next() * 3); left > 0; left--) words.push(next() < 0.5 ? pick(plain) : pick(dangerous));
    if (next() < 0.15) words.splice(Math.floor(next() * (words.length + 1)), 0, '--');
    if (next() < 0.1) words.reverse();
    const begun = next() < 0.15 ? [pick(examples)] : [start, ...needed.map(quote)];
    lists.add([...begun, ...words.map(quote)].join(' '));
  }
  return [...lists];
}

/**
 * The same lists without those that only stand in another order, in an order in which a few of them already show much: first what has a
 * word that was not there before, then what has a new pair of neighbours.
 */
export function spread(lists: readonly string[]): string[] {
  const known = new Set<string>();
  const kinds = new Map(lists.map((text) => [text.split(' ').sort().join(' '), text]));
  const news = (features: string[]) => {
    const before = known.size;
    for (const feature of features) known.add(feature);
    return known.size > before;
  };
  const words = (text: string) => text.split(' ');
  const pairs = (text: string) => words(text).map((word, at, all) => `${all[at - 1]} ${word}`);
  const [first, others] = parted([...kinds.values()], (text) => news(words(text)));
  const [second, last] = parted(others, (text) => news(pairs(text)));
  return [...first, ...second, ...last];
}

function parted<T>(all: readonly T[], test: (one: T) => boolean): [T[], T[]] {
  const [yes, no]: [T[], T[]] = [[], []];
  for (const one of all) (test(one) ? yes : no).push(one);
  return [yes, no];
}

const quote = (word: string): string => {
  if (word === "''") return word;
  return /^[\w@%+=:,./^~-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
};
