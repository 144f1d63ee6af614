// @invariant branches-are-separate-runs: A branch copies the events of its parent and never reads through the parent.
import { randomUUID } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import type { Message } from '../protocol/content/messages.ts';
import type { RunBranchOrigin } from '../protocol/run/branches.ts';
import type { StoredEvent } from '../protocol/run/events.ts';
import { callsInStartOrder, callsWithOrphanedCommand, type Run } from '../protocol/run/run.ts';
import { type LocalizedMessage, message } from '../protocol/text/l10n.ts';
import { readOnlyReasonMessages } from '../protocol/text/readOnlyReason.ts';
import { mapLimit } from '../protocol/values/concurrency.ts';
import { foldJournal } from './foldJournal.ts';
import { linkStoredImages, moveImagesToStore } from './imageStore.ts';
import { journalHeader, journalLineOf, StoreError } from './journal.ts';
import type { JournalContents } from './readJournal.ts';
import { packsWithContents } from './storage/contentPacks.ts';
import { contentsFolder, outputSuffix } from './storage/storedFolders.ts';

export interface ForkableUserMessage {
  seq: number;
  at: number;
  message: Extract<Message, { role: 'user' }>;
}

export function eventNumbersOfMessages(run: Run, { entries }: JournalContents): number[] {
  const indexes = new Map(run.messages.map((message, at) => [message, at]));
  const seqs: number[] = [];
  for (const { event, seq } of entries) {
    const at = event?.type === 'message' ? indexes.get(event.message) : undefined;
    if (at !== undefined) seqs[at] = seq;
  }
  return seqs;
}

export function forkableUserMessages(run: Run, contents: JournalContents): ForkableUserMessage[] {
  const seqs = eventNumbersOfMessages(run, contents);
  return run.messages.flatMap((message, at) => (message.role === 'user' ? [{ seq: seqs[at]!, at, message }] : []));
}

const foldUpTo = (id: string, contents: JournalContents, seq: number): Run =>
  foldJournal(id, { ...contents, entries: contents.entries.filter((entry) => entry.seq <= seq) });

export function callIdsAfterEvent(run: Run, contents: JournalContents, seq: number): string[] {
  const before = foldUpTo(run.id, contents, seq);
  return callsInStartOrder(run).flatMap(([id]) => (before.calls[id]?.ok === undefined ? [id] : []));
}

/**
 * Returns the events of a branch from event `seq`: the shared events with unchanged numbers, then a stop. Excluded are the title, queued
 * messages, and processes, which belong to the parent's window. Reported damage stays separate.
 *
 * @param now epoch milliseconds
 */
export function createForkEvents(
  id: string,
  run: Run,
  contents: JournalContents,
  seq: number,
  now: number,
): StoredEvent[] {
  const until = foldUpTo(run.id, contents, seq);
  const foreign = new Set(callsWithOrphanedCommand(until).map(([toolCallId]) => toolCallId));
  const parent = parentAt(run, eventNumbersOfMessages(run, contents), seq);
  const { workflowId, agentId, model } = until;
  const start: StoredEvent = { runId: id, seq: 1, at: now, type: 'run-start', workflowId, agentId, model, parent };
  const events = contents.entries.flatMap(({ event }): StoredEvent[] => {
    if (!event || event.seq > seq) return [];
    const own = { ...event, runId: id };
    switch (own.type) {
      case 'queued':
      case 'queued-change':
      case 'queued-remove':
        return [];
      case 'title':
        return [{ ...own, title: '', by: undefined }]; // titled by its own messages
      case 'pin':
      case 'approval-request': // the request stays in the parent run
      case 'limit-raise': // a raise applies to the parent run only
        return [];
      case 'run-start':
        return [{ ...own, at: now, parent, imported: undefined }]; // owned by the user from here on
      case 'mended':
        return [{ ...own, places: [] }]; // offsets of the parent's file
      case 'command-start':
        return foreign.has(own.toolCallId) ? [] : [own];
      case 'tool-start':
        // The snapshot of a call without an end belongs to the parent, which still compares it.
        return [
          {
            ...own,
            ...(foreign.has(own.toolCallId) && { command: undefined }),
            ...(until.calls[own.toolCallId]?.ok === undefined && { snapshot: undefined }),
          },
        ];
      case 'tool-end':
        return [{ ...own, ...(foreign.has(own.toolCallId) && { background: undefined }), snapshot: undefined }];
      case 'command-changes':
        return [{ ...own, snapshot: undefined }];
      default:
        return [own];
    }
  });
  const begun = events[0]?.type === 'run-start' ? events : [start, ...events]; // the first line was lost
  return [...begun, { runId: id, seq: seq + 1, at: now, type: 'phase', phase: 'WaitingUser' }];
}

// Returns the first run with the shared events, so that forks at the same message have the same origin.
function parentAt(run: Run, seqs: readonly number[], seq: number): RunBranchOrigin {
  const { run: from, seq: at, line = [] } = run.parent ?? {};
  const above = from === undefined ? [] : [{ run: from, seq: at! }, ...line];
  const path = [{ run: run.id, seq }, ...above].map((position) => ({ ...position }));
  for (;;) {
    const [own, before] = path as [(typeof path)[number], (typeof path)[number]?];
    if (!before || seqs.some((one) => one > before.seq && one <= own.seq)) break;
    path.shift();
    before.seq = Math.min(before.seq, own.seq);
  }
  const [parent, ...rest] = path;
  return { ...parent!, ...(rest.length > 0 && { line: rest }) };
}

/**
 * Returns the reason why a run cannot be forked at event `seq`, as a sentence: the run has state beyond the events.
 *
 * @param hasState the run has a state folder
 */
export function forkRefusalReason(
  run: Run,
  contents: JournalContents,
  seq: number,
  hasState: boolean,
): LocalizedMessage | undefined {
  if (run.readOnly) return message(readOnlyReasonMessages[run.readOnly]);
  if (!run.graph) return undefined;
  const until = foldUpTo(run.id, contents, seq);
  if (!until.graph) return message('A workflow starts from its first message. Run it again instead.');
  if (!hasState) return undefined;
  return message(
    'The run of a package stores its state in files that exist only in their current form, so it has no branches.',
  );
}

export const unfinishedForkPrefix = 'forking.';

/**
 * Creates the folder of a branch atomically. Referenced contents are shared, so that the branch survives the deletion of the parent run.
 */
export async function storeFork(runs: string, from: string, id: string, events: readonly StoredEvent[]): Promise<void> {
  const temporaryFolder = path.join(runs, `${unfinishedForkPrefix}${randomUUID()}`);
  try {
    await fs.mkdir(contentsFolder(temporaryFolder), { recursive: true, mode: 0o700 });
    await linkStoredImages(path.join(runs, from), temporaryFolder);
    let previous = 0;
    const lines: Buffer[] = [];
    for (const event of events) {
      lines.push(journalLineOf(await moveImagesToStore(event, temporaryFolder), previous));
      previous = event.seq;
    }
    const journal = Buffer.concat([Buffer.from(journalHeader), ...lines]);
    await shareContents(
      contentsFolder(path.join(runs, from)),
      contentsFolder(temporaryFolder),
      journal.toString('latin1'),
    );
    await fs.writeFile(path.join(temporaryFolder, 'journal.jsonl'), journal, { mode: 0o600, flag: 'wx', flush: true });
    await fs.rename(temporaryFolder, path.join(runs, id));
  } catch (error) {
    await fs.rm(temporaryFolder, { recursive: true, force: true }).catch(() => {});
    throw StoreError.from(error);
  }
}

async function shareContents(from: string, to: string, journal: string): Promise<void> {
  const named = new Set(journal.match(/\b[0-9a-f]{64}\b/g) ?? []);
  const single = (await fs.readdir(from).catch(() => [])).filter((name) =>
    named.has(path.basename(name, outputSuffix)),
  );
  const packs = (await packsWithContents(from, named)).map((pack) => path.basename(pack));
  await mapLimit([...single, ...packs], 8, async (name) => {
    const [source, target] = [path.join(from, name), path.join(to, name)];
    await fs.link(source, target).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return; // removed by the quota meanwhile, as in the parent
      await fs.copyFile(source, target);
      await fs.chmod(target, 0o600);
    });
  });
}
