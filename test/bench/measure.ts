export const rounds = 9;

/** Median milliseconds of CPU time of each, taken in turns so that all have the same weather. */
export async function compare(runs: Record<string, () => Promise<void>>): Promise<Record<string, number>> {
  const times: Record<string, number[]> = {};
  for (let round = -2; round < rounds; round++) {
    for (const [name, run] of Object.entries(runs)) {
      const before = process.cpuUsage();
      await run();
      const { user, system } = process.cpuUsage(before);
      times[name] ??= [];
      if (round >= 0) times[name].push((user + system) / 1000); // the first two warm up
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)]));
}

export function median(all: readonly number[]): number {
  return [...all].sort((one, other) => one - other)[Math.floor(all.length / 2)]!;
}

/** One line of a table: what, its numbers, and whether the one that counts is within its budget. */
export function line(what: string, numbers: Record<string, string>, value: number, budget: number): void {
  const within = value <= budget;
  const columns = Object.entries(numbers).map(([name, number]) => `${name} ${number.padStart(9)}`);
  console.log(`${within ? 'ok  ' : 'OVER'}  ${what.padEnd(34)} ${columns.join('   ')}`);
  if (!within) process.exitCode = 1;
}

export const inMs = (ms: number): string => `${ms.toFixed(1)} ms`;
