import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';

export const rounds = 9;

/** Median milliseconds of CPU time of each, taken in turns so that all have the same weather. */
export async function compare(runs: Record<string, () => Promise<void>>, warmUps = 2): Promise<Record<string, number>> {
  const times: Record<string, number[]> = {};
  for (let round = -warmUps; round < rounds; round++) {
    for (const [name, run] of Object.entries(runs)) {
      const before = process.cpuUsage();
      await run();
      const { user, system } = process.cpuUsage(before);
      times[name] ??= [];
      if (round >= 0) times[name].push((user + system) / 1000);
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)]));
}

/**
 * How many times the base each costs. Beside the base alone, because the garbage of one would be collected on the bill of
 * the next; and long warmed up, because compiling goes on for a while on the same bill.
 */
export async function timesOf(
  base: () => Promise<void>,
  runs: Record<string, () => Promise<void>>,
): Promise<Record<string, { ms: number; times: number }>> {
  const costs: Record<string, { ms: number; times: number }> = {};
  for (const [name, run] of Object.entries(runs)) {
    const { base: least, run: ms } = (await compare({ base, run }, 12)) as { base: number; run: number };
    costs[name] = { ms, times: ms / least };
  }
  return costs;
}

export const median = (all: readonly number[]): number => part(all, 0.5);

/** The value that so much of all, from 0 to 1, is not above. */
export function part(all: readonly number[], share: number): number {
  const sorted = [...all].sort((one, other) => one - other);
  return sorted[Math.min(all.length - 1, Math.floor(all.length * share))]!;
}

/**
 * Another process that does nothing but sleep `everyMs` and note how many ms too late it was woken. `take`: those since the
 * last time.
 */
export async function startLateness(everyMs: number): Promise<{ take(): Promise<number[]>; close(): void }> {
  const code = `let late = [0];
    let at = performance.now();
    setInterval(() => { const now = performance.now(); late.push(Math.max(0, now - at - ${everyMs})); at = now; }, ${everyMs});
    process.on('message', () => { process.send(late); late = [0]; });`;
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const take = () =>
    new Promise<number[]>((resolve) => {
      child.once('message', (late: number[]) => resolve(late));
      child.send('take');
    });
  await take(); // it is there
  return { take, close: () => void child.kill() };
}

/** What a line says. */
export interface Row {
  what: string;
  numbers: Record<string, string>;
  within: boolean;
  /** How much of its budget it takes; absent: it has none, or none at all is within it. */
  taken?: number;
}

/** The variable that names a file in which rows are told to whoever runs several benchmarks: a line of JSON for each. */
export const rowsIn = 'TOWPATH_BENCH_ROWS';

/** One line of a table: what, its numbers, and whether the one that counts is within its budget. */
export function line(what: string, numbers: Record<string, string>, value: number, budget: number): void {
  const within = value <= budget;
  const columns = Object.entries(numbers).map(([name, number]) => `${name} ${number.padStart(9)}`);
  console.log(`${within ? 'ok  ' : 'OVER'}  ${what.padEnd(34)} ${columns.join('   ')}`);
  if (!within) process.exitCode = 1;
  const taken = budget > 0 && budget < Infinity ? value / budget : undefined;
  const row: Row = { what, numbers, within, ...(taken !== undefined && { taken }) };
  const file = process.env[rowsIn];
  if (file) appendFileSync(file, `${JSON.stringify(row)}\n`);
}

export const inMs = (ms: number): string => `${ms.toFixed(1)} ms`;
