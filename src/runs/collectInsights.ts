import { randomUUID } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { countRunUsage, createUsageCounts, sumUsageCounts, type UsageCounts } from '../protocol/run/insights.ts';
import { mapLimit } from '../protocol/values/concurrency.ts';
import { readJournal } from './readJournal.ts';
import { journalPath } from './storedSummary.ts';

const atOnce = 4;
const version = 1;

const count = z.number();
const countsSchema = z.object({
  runs: count,
  models: z.array(
    z.object({
      day: z.string(),
      model: z.string(),
      calls: count,
      promptTokens: count,
      cachedTokens: count,
      completionTokens: count,
      cost: count,
      unpriced: count,
      timedTokens: count,
      ms: count,
      retries: count,
      failures: count,
      stops: count,
    }),
  ),
  tools: z.array(
    z.object({
      tool: z.string(),
      done: count,
      failed: count,
      denied: count,
      interrupted: count,
      ms: z.array(count),
      waits: z.array(count),
    }),
  ),
});
const storedSchema = z.object({
  version: z.literal(version),
  journalBytes: z.number(),
  journalTime: z.number(),
  counts: countsSchema,
});

/** Returns usage counts of all runs in the stores. `unread`: number of runs with an unreadable record. Never rejects. */
export async function collectUsageInsights(
  stores: readonly string[],
): Promise<{ counts: UsageCounts; unread: number }> {
  const folders = (
    await Promise.all(
      stores.map(async (store) => {
        const runs = path.join(store, 'runs');
        const names = await fs.readdir(runs).catch(() => []);
        return names.filter((name) => name.startsWith('run-')).map((name) => path.join(runs, name));
      }),
    )
  ).flat();
  const all = await mapLimit(folders, atOnce, (folder) => countsIn(folder).catch(() => undefined));
  return {
    counts: sumUsageCounts(all.flatMap((one) => one ?? [])),
    unread: all.filter((one) => one === undefined).length,
  };
}

// Uses the cached counts while they match the journal, else recounts.
async function countsIn(folder: string): Promise<UsageCounts> {
  const stat = await fs.stat(journalPath(folder)).catch(() => undefined);
  if (!stat) return createUsageCounts(); // no run
  const file = path.join(folder, 'insights.json');
  const stored = storedSchema.safeParse(await read(file)).data;
  if (stored && stored.journalBytes === stat.size && stored.journalTime === stat.mtimeMs) return stored.counts;
  const { entries } = await readJournal(journalPath(folder));
  const counts = countRunUsage(entries.flatMap(({ event }) => event ?? []));
  const fresh: z.infer<typeof storedSchema> = { version, journalBytes: stat.size, journalTime: stat.mtimeMs, counts };
  const temporaryFile = `${file}.${randomUUID()}`;
  try {
    await fs.writeFile(temporaryFile, JSON.stringify(fresh), { mode: 0o600 });
    await fs.rename(temporaryFile, file);
  } catch {
    await fs.rm(temporaryFile, { force: true }).catch(() => {}); // recounted next time
  }
  return counts;
}

const read = async (file: string): Promise<unknown> => {
  try {
    return JSON.parse(await fs.readFile(file, 'utf8'));
  } catch {
    return undefined;
  }
};
