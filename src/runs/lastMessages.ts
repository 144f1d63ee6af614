import { applyEvent } from '../protocol/run/fold.ts';
import { newRun, type Run } from '../protocol/run/run.ts';
import { readLastEvents } from './readJournal.ts';
import { journalPath, readStoredRunSummary } from './storedSummary.ts';

const [firstBytes, maxBytes] = [128 * 1024, 2 * 1024 * 1024];
const screenful = 20;

/**
 * Reads the last messages of a run, for display until the full run is read. The result counts messages from 0. Undefined: the journal is
 * short, or its end is insufficient for the display. Throws the system error.
 */
export async function readLastMessages(
  folder: string,
  id: string,
  { size: first = firstBytes, enough = screenful } = {},
): Promise<Run | undefined> {
  const { title, damaged, readOnly, createdAt } = (await readStoredRunSummary(folder)) ?? {};
  if (title === undefined || damaged !== undefined) return undefined;
  for (let size = first; size <= maxBytes; size *= 4) {
    const events = await readLastEvents(journalPath(folder), size);
    if (!events || events.some(({ type }) => type === 'mended')) return undefined;
    const messages = events.filter((event) => event.type === 'message' && event.branch === undefined);
    // Leading results belong to cards of an unread reply.
    const begin = messages.find((event) => event.type === 'message' && event.message.role !== 'tool');
    if (!begin || messages.length < enough) continue;
    const run = { ...newRun(id), title, ...(createdAt !== undefined && { createdAt }), ...(readOnly && { readOnly }) };
    for (const event of events.slice(events.indexOf(begin))) applyEvent(run, event);
    return run;
  }
  return undefined;
}
