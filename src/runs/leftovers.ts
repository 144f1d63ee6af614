import { promises as fs } from 'node:fs';
import path from 'node:path';
import { mapLimit } from '../protocol/values/concurrency.ts';
import { contentPackSuffix } from '../protocol/values/contentPack.ts';
import { unfinishedForkPrefix } from './fork.ts';
import { storedImagesFolder } from './imageStore.ts';
import { acquireShortLock, isRunLocked } from './lock.ts';
import { isUnfinishedJournalHeader } from './readJournal.ts';
import { contentsFolder, outputSuffix } from './storage/storedFolders.ts';

const id = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const temporaryName = new RegExp(
  `^(lock\\.${id}|lock\\.over-[0-9a-f]{16}(\\.${id}|\\.over-.*)?|(summary\\.json|journal\\.jsonl)\\.${id})$`,
);
const temporaryContentName = new RegExp(
  `^([0-9a-f]{64}(\\${outputSuffix})?\\.${id}|[\\w-]+\\${contentPackSuffix}\\.tmp)$`,
);
const indexCopyName = new RegExp(`^${id}\\.index$`);
// Minimum age of a leftover, far above any time between write and rename, including clock differences.
const oldMs = 60 * 60 * 1000;
// Age after which the call of a snapshot is never continued.
const oldSnapshotMs = 14 * 24 * oldMs;

/**
 * Removes leftovers of killed processes in run folders, including stale locks and runs killed before their first event. `now`: epoch ms.
 */
export async function sweepRunLeftovers(runs: string, now: number): Promise<void> {
  await mapLimit(await names(runs), 2, async (name) => {
    const folder = path.join(runs, name);
    const isLeft = (file: string) => isOlder(file, now, oldMs);
    if (name.startsWith(unfinishedForkPrefix)) {
      if (await isLeft(folder)) await fs.rm(folder, { recursive: true, force: true }).catch(() => {});
      return;
    }
    const files = (await names(folder)).filter((one) => temporaryName.test(one)).map((one) => path.join(folder, one));
    for (const within of [contentsFolder(folder), storedImagesFolder(folder)])
      files.push(
        ...(await names(within)).filter((one) => temporaryContentName.test(one)).map((one) => path.join(within, one)),
      );
    for (const file of files) if (await isLeft(file)) await fs.rm(file, { force: true }).catch(() => {});
    if ((await isLeft(folder)) && (await isEmpty(folder))) return removeEmpty(folder);
    const lock = path.join(folder, 'lock');
    if ((await isLeft(lock)) && !(await isRunLocked(lock))) await letGo(lock);
  });
}

/**
 * Removes leftovers of killed processes among the working files of the recording of commands: unfinished packs, copies of an index, and
 * snapshots of calls that are never continued. `now`: epoch ms.
 */
export async function sweepSnapshotLeftovers(snapshots: string, now: number): Promise<void> {
  for (const name of await names(snapshots)) {
    const file = path.join(snapshots, name);
    const isTemporary = temporaryContentName.test(name) || indexCopyName.test(name);
    const age = name.endsWith('.snapshot') ? oldSnapshotMs : isTemporary ? oldMs : undefined;
    if (age !== undefined && (await isOlder(file, now, age))) await fs.rm(file, { force: true }).catch(() => {});
  }
}

async function isOlder(file: string, now: number, ms: number): Promise<boolean> {
  const stat = await fs.stat(file).catch(() => undefined);
  return stat !== undefined && Math.abs(now - stat.mtimeMs) > ms;
}

async function isEmpty(folder: string): Promise<boolean> {
  const left = (await names(folder)).filter((name) => name !== 'lock' && name !== 'journal.jsonl');
  if (left.length > 0 || (await isRunLocked(path.join(folder, 'lock')))) return false;
  const journal = await fs.readFile(path.join(folder, 'journal.jsonl')).catch(() => Buffer.alloc(0));
  return isUnfinishedJournalHeader(journal);
}

async function removeEmpty(folder: string): Promise<void> {
  for (const name of ['lock', 'journal.jsonl']) await fs.rm(path.join(folder, name), { force: true }).catch(() => {});
  await fs.rmdir(folder).catch(() => {});
}

// Removes a lock by taking it, so that fresh locks stay.
const letGo = (lock: string): Promise<void> =>
  acquireShortLock(lock).then(
    (taken) => taken.release(),
    () => {}, // held after all
  );

const names = (folder: string): Promise<string[]> => fs.readdir(folder).catch(() => []);
