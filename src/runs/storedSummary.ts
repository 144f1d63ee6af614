import { randomUUID } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import type { ErrorInfo } from '../protocol/content/messages.ts';
import { pendingApprovalIds } from '../protocol/run/pending.ts';
import { type Corruption, callsWithOrphanedCommand, type Run, runTitle } from '../protocol/run/run.ts';
import { type RunSummary, runSummarySchema } from '../protocol/run/summary.ts';
import { foldJournal } from './foldJournal.ts';
import { checksum, StoreError } from './journal.ts';
import { isUnfinishedJournalHeader, readJournal } from './readJournal.ts';

// Stamp of a journal: size, time, and the largest known size; a shorter journal has lost data.
const stampShape = { journalBytes: z.number(), journalTime: z.number(), mostBytes: z.number() };
export const storedRunSummarySchema = runSummarySchema.omit({ id: true, live: true });
const summarySchema = z.strictObject({ ...stampShape, ...storedRunSummarySchema.shape, check: z.string() });
type Summary = z.infer<typeof summarySchema>;

export interface JournalFileStamp {
  size: number;
  mtimeMs: number;
}

export const journalPath = (folder: string): string => path.join(folder, 'journal.jsonl');

const summaryIn = (folder: string): string => path.join(folder, 'summary.json');

export async function readRunSummary(folder: string, id: string): Promise<RunSummary | undefined> {
  const stat = await fs.stat(journalPath(folder)).catch(() => undefined);
  const stored = stat && (await readStoredRunSummary(folder));
  if (stored && stored.journalBytes === stat.size && stored.journalTime === stat.mtimeMs) return listed(id, stored);
  return stat && (await readAnew(folder, id, stat, stored))?.summary;
}

export async function readRunForIndex(
  folder: string,
  id: string,
): Promise<{ summary: RunSummary; run?: Run; stamp: JournalFileStamp } | undefined> {
  const stat = await fs.stat(journalPath(folder)).catch(() => undefined);
  const read = stat && (await readAnew(folder, id, stat, await readStoredRunSummary(folder)));
  return read && { ...read, stamp: { size: stat.size, mtimeMs: stat.mtimeMs } };
}

async function readAnew(
  folder: string,
  id: string,
  stat: JournalFileStamp,
  stored: Summary | undefined,
): Promise<{ summary: RunSummary; run?: Run } | undefined> {
  if (
    !stored &&
    stat.size < 100 &&
    isUnfinishedJournalHeader(await fs.readFile(journalPath(folder)).catch(() => Buffer.from('x')))
  )
    return undefined;
  try {
    const { run, contents } = await readRunWithJournal(folder, id, stored);
    if (run.seq === 0 && !run.damage && !run.readOnly) return undefined;
    if (run.damage && run.messages.length === 0) run.title ||= stored?.title ?? ''; // the first message is among the lost events
    const most = Math.max(contents.wholeBytes, stored?.mostBytes ?? 0);
    await writeRunSummary(folder, run, stat, most).catch(() => {});
    return { run, summary: toStoredRunSummary(run) };
  } catch (error) {
    const { title = 'Damaged run', createdAt = stat.mtimeMs, updatedAt = stat.mtimeMs } = stored ?? {};
    const { message: damaged, said } = StoreError.from(error);
    const summary: RunSummary = { id, title, phase: 'Failed', createdAt, updatedAt, live: false, damaged };
    return { summary: { ...summary, ...(said && { damagedSaid: said }) } };
  }
}

function listed(id: string, { journalBytes: _, journalTime: __, mostBytes: ___, check: ____, ...summary }: Summary) {
  return { id, live: false, ...summary };
}

export async function readRunWithJournal(folder: string, id: string, stored?: Summary) {
  const contents = await readJournal(journalPath(folder), id);
  const { mostBytes: maxBytes } = stored ?? (await readStoredRunSummary(folder)) ?? {};
  return { contents, run: foldJournal(id, contents, maxBytes) };
}

export async function readStoredRunSummary(folder: string): Promise<Summary | undefined> {
  try {
    const stored = summarySchema.parse(JSON.parse(await fs.readFile(summaryIn(folder), 'utf8')));
    const { check, ...summary } = stored;
    return check === checkOf(summary) ? stored : undefined;
  } catch {
    return undefined;
  }
}

const checkOf = (summary: Omit<Summary, 'check'>): string =>
  checksum(Buffer.from(JSON.stringify(Object.entries(summary).sort(([one], [other]) => (one < other ? -1 : 1)))));

export async function writeRunSummary(
  folder: string,
  run: Run,
  stamp: JournalFileStamp,
  maxBytes = stamp.size,
): Promise<void> {
  const { id: _, live: __, ...summary } = toStoredRunSummary(run);
  const said = { journalBytes: stamp.size, journalTime: stamp.mtimeMs, mostBytes: maxBytes, ...summary };
  const temporaryFile = `${summaryIn(folder)}.${randomUUID()}`;
  try {
    await fs.writeFile(temporaryFile, JSON.stringify({ ...said, check: checkOf(said) }), { mode: 0o600 });
    await fs.rename(temporaryFile, summaryIn(folder));
  } catch (error) {
    await fs.rm(temporaryFile, { force: true }).catch(() => {});
    throw error;
  }
}

const damageOf = (run: Run): Corruption | undefined => run.damage?.findLast(({ open }) => open);

export function toStoredRunSummary(run: Run): RunSummary {
  const damaged = damageOf(run);
  const { id, phase, createdAt, updatedAt, readOnly, imported, parent, error, named, pinned } = run;
  const model = run.models?.at(-1)?.model || run.model;
  const { cost } = run.usage;
  return {
    id,
    live: false,
    title: runTitle(run),
    phase,
    createdAt,
    updatedAt,
    ...(callsWithOrphanedCommand(run).length > 0 && { commands: true }),
    ...(pendingApprovalIds(run).length > 0 && { awaitsApproval: true }),
    ...(damaged && { damaged: damaged.text, ...(damaged.said && { damagedSaid: damaged.said }) }),
    ...(readOnly && { readOnly }),
    ...(imported && { imported }),
    ...(parent && { parent }),
    ...(model && { model }),
    ...(cost !== undefined && { cost }),
    ...(error && { error: shortErrorInfo(error) }),
    ...(named && { named }),
    ...(pinned && { pinned }),
  };
}

const longestSentence = 300;

function shortErrorInfo({ code, message, said }: ErrorInfo): ErrorInfo {
  if (message.length > longestSentence) return { code, message: message.slice(0, longestSentence) };
  return { code, message, ...(said && { said }) };
}
