import type { Played } from './case.ts';
import { type Invariant, invariants } from './invariants.ts';

const columns = Object.keys(invariants) as Invariant[];

/** One line of the table: how many cases of a part break each invariant. */
export interface Row {
  part: string;
  played: readonly Played[];
  /** Why it was left out. */
  leftOut?: string;
}

/** The table, what its columns mean, and how each kind of breach is seen again. */
export function tableOf(rows: readonly Row[]): string {
  const width = (column: string) => Math.max(5, column.length + 1);
  const head = [
    ''.padEnd(10),
    'cases'.padStart(7),
    'kills'.padStart(7),
    ...columns.map((one) => one.padStart(width(one))),
  ];
  const lines = rows.map(({ part, played, leftOut }) => {
    if (leftOut) return `${part.padEnd(10)}  left out: ${leftOut}`;
    const kills = played.reduce((sum, one) => sum + one.kills, 0);
    const numbers = columns.map((column) => {
      const broken = played.filter(({ breaches }) => breaches.some(({ invariant }) => invariant === column));
      return String(broken.length).padStart(width(column));
    });
    return [part.padEnd(10), String(played.length).padStart(7), String(kills).padStart(7), ...numbers].join('');
  });
  const meanings = columns.map((column) => `${column.padEnd(5)} ${invariants[column]}`);
  const all = rows.flatMap(({ played }) => played);
  return [head.join(''), ...lines, '', 'Cases in which this did not hold:', ...meanings, '', ...kindsOf(all)].join(
    '\n',
  );
}

/** Breaches that differ only in their numbers are of one kind; each with one case that shows it. */
function kindsOf(played: readonly Played[]): string[] {
  const kinds = new Map<string, { count: number; example: Played }>();
  for (const one of played)
    for (const { invariant, what } of one.breaches) {
      const kind = `${invariant.padEnd(5)} ${what.replace(/\b\d+\b/g, 'n')}`;
      kinds.set(kind, { example: one, ...kinds.get(kind), count: (kinds.get(kind)?.count ?? 0) + 1 });
    }
  return [...kinds]
    .sort(
      ([one], [other]) =>
        columns.indexOf(one.split(' ')[0] as Invariant) - columns.indexOf(other.split(' ')[0] as Invariant),
    )
    .map(
      ([kind, { count, example }]) =>
        `${String(count).padStart(4)} × ${kind}   (${example.harmed.at(-1) ?? ''}: --case ${example.name})`,
    );
}
