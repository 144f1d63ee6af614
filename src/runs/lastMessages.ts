import { applyEvent } from '../protocol/run/fold.ts';
import { newRun, type Run } from '../protocol/run/run.ts';
import { readLastEvents } from './readJournal.ts';
import { journalIn, readStoredSummary } from './storedSummary.ts';

/** Bytes of a journal that are read for its last messages: first so many, and at most. */
const [firstBytes, mostBytes] = [128 * 1024, 2 * 1024 * 1024];
/** Messages that fill any screen. */
const screenful = 20;

/**
 * Reads the last messages of the run in this folder, to be shown while the rest is read: a run of its own, whose messages are
 * counted from 0. Undefined: it is short, or its end alone would not show what the whole run shows. Throws the system's error.
 */
export async function readLastMessages(
  folder: string,
  id: string,
  { size: first = firstBytes, enough = screenful } = {},
): Promise<Run | undefined> {
  const { title, damaged, readOnly, createdAt } = (await readStoredSummary(folder)) ?? {};
  if (title === undefined || damaged !== undefined) return undefined;
  for (let size = first; size <= mostBytes; size *= 4) {
    const events = await readLastEvents(journalIn(folder), size);
    if (!events || events.some(({ type }) => type === 'mended')) return undefined;
    const messages = events.filter((event) => event.type === 'message' && event.branch === undefined);
    // Results stand in the cards of a reply that was not read.
    const begin = messages.find((event) => event.type === 'message' && event.message.role !== 'tool');
    if (!begin || messages.length < enough) continue;
    const run = { ...newRun(id), title, ...(createdAt !== undefined && { createdAt }), ...(readOnly && { readOnly }) };
    for (const event of events.slice(events.indexOf(begin))) applyEvent(run, event);
    return run;
  }
  return undefined;
}
