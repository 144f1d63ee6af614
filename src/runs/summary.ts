import { promises as fs } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { runPhaseSchema, type StoredEvent } from '../protocol/events.ts';
import { applyEvent, newRun, type Run, type RunSummary, titleOf } from '../protocol/run.ts';
import { readJournal, StoreError } from './journal.ts';

const summarySchema = z.object({
  journalBytes: z.number(),
  title: z.string(),
  phase: runPhaseSchema,
  createdAt: z.number(),
  updatedAt: z.number(),
});

/** Where a run's folder has its journal. */
export const journalIn = (folder: string): string => path.join(folder, 'journal.jsonl');

const summaryIn = (folder: string): string => path.join(folder, 'summary.json');

/** What a list says of the run in this folder, by its summary, or by its journal where that is lost; undefined: no run. */
export async function readSummary(folder: string, id: string): Promise<RunSummary | undefined> {
  const stat = await fs.stat(journalIn(folder)).catch(() => undefined);
  if (!stat) return undefined;
  try {
    const { journalBytes, ...kept } = summarySchema.parse(JSON.parse(await fs.readFile(summaryIn(folder), 'utf8')));
    if (journalBytes === stat.size) return { id, live: false, ...kept };
  } catch {
    // Absent or of another shape: read the journal itself.
  }
  try {
    const contents = await readJournal(journalIn(folder));
    const run = fold(id, contents.events);
    if (!contents.damage) await writeSummary(folder, run, stat.size).catch(() => {});
    return { id, live: false, ...summarise(run), ...(contents.damage && { damaged: contents.damage }) };
  } catch (error) {
    const at = stat.mtimeMs;
    const damaged = StoreError.from(error).message;
    return { id, title: 'Damaged run', phase: 'Failed', createdAt: at, updatedAt: at, live: false, damaged };
  }
}

export async function writeSummary(folder: string, run: Run, journalBytes: number): Promise<void> {
  await fs.writeFile(summaryIn(folder), JSON.stringify({ journalBytes, ...summarise(run) }), { mode: 0o600 });
}

export function fold(id: string, events: readonly StoredEvent[]): Run {
  const run = newRun(id);
  for (const event of events) applyEvent(run, event);
  return run;
}

function summarise(run: Run): Pick<RunSummary, 'title' | 'phase' | 'createdAt' | 'updatedAt'> {
  return { title: titleOf(run), phase: run.phase, createdAt: run.createdAt, updatedAt: run.updatedAt };
}
