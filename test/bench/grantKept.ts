import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { GrantRow } from '../../src/tools/commands/grants/grantRow.ts';
import { examplesOf } from '../support/grantExamples.ts';

/** What was found of one row: of the lists how many were drawn, are covered, differ by more than their order, and ran; and what those did. */
export interface Result {
  command: string;
  /** How it is started here. */
  start: string;
  drawn: number;
  covered: number;
  different: number;
  run: number;
  writes: number;
  connections: number;
  programs: number;
  reads: number;
  changed: number;
  late: number;
  /** Of each kind of fault one, to be shown. */
  examples: string[];
}

const kept = process.env.GRANT_KEPT;
const before = new Map<string, Result>(
  kept && existsSync(kept)
    ? readFileSync(kept, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { row: string; result: Result })
        .map(({ row, result }) => [row, result])
    : [],
);

/** What was found when the row was as it is now; undefined where nothing of it ran, or something was found. */
export function keptResult(row: GrantRow): Result | undefined {
  const result = before.get(digest(row));
  return result && result.run > 0 && faultsOf(result) === 0 ? result : undefined;
}

export function keepResult(row: GrantRow, result: Result): void {
  if (kept) appendFileSync(kept, `${JSON.stringify({ row: digest(row), result })}\n`);
}

type Sums = Omit<Result, 'command' | 'start' | 'examples'>;

export function sumOf(results: readonly Result[]): Sums {
  const zero: Sums = {
    ...{ drawn: 0, covered: 0, different: 0, run: 0, late: 0 },
    ...{ writes: 0, connections: 0, programs: 0, reads: 0, changed: 0 },
  };
  for (const result of results) for (const what of Object.keys(zero) as (keyof Sums)[]) zero[what] += result[what];
  return zero;
}

const faultsOf = ({ writes, connections, programs, reads, changed }: Result): number =>
  writes + connections + programs + reads + changed;

const digest = (row: GrantRow): string =>
  createHash('sha256')
    .update(JSON.stringify({ ...row, ...examplesOf(row) }))
    .digest('hex');
