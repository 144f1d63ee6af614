import { createHash, randomUUID } from 'node:crypto';
import { promises as fs } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { message } from '../protocol/text/l10n.ts';
import { StoreError } from './journal.ts';
import { type LockHolder, lockHolderState, ownLockIds, parseLockHolder, thisProcess } from './storage/lockHolder.ts';

/**
 * Lock of a run: one window at a time writes. The lock file names the holder (`lockHolder.ts`). The lock of a dead process is taken over. A
 * holder on another machine or in another container is judged by activity: each holder rewrites the lock every `beat`, which updates the
 * time of the file system.
 */
export interface RunLock {
  /** The previous holder may still run: never write to a file opened by the previous holder. */
  readonly fromLiving: boolean;
  /** False after a takeover. Checked after each write: data written before a takeover is visible to the next holder. */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
}

/** Milliseconds. A holder without activity for `silent` is observed for `watch` before a takeover. */
export const runLockTimes = { beat: 1000, silent: 10_000, watch: 2500 };

const tries = 20;
const pause = 15;

/** Takes the lock for the window `window`. Throws `StoreError`, with `STORE_LOCKED` if another process holds the lock. */
export async function acquireRunLock(file: string, window?: string): Promise<RunLock> {
  const ownText = newText({ window });
  return hold(file, ownText, await acquire(file, ownText, standingOfText));
}

/** Takes the lock for a moment; other takers wait. */
export async function acquireShortLock(file: string): Promise<RunLock> {
  const ownText = newText({ brief: true });
  return hold(file, ownText, await acquire(file, ownText, standingOfText));
}

/** Takes the lock from any holder outside of this process, alive or not. Throws `StoreError`. */
export async function takeOverRunLock(file: string, window?: string): Promise<RunLock> {
  const ownText = newText({ window });
  const isOurs = (text: string) => ownLockIds.has(parseLockHolder(text)?.id ?? '');
  await acquire(file, ownText, (text) => (isOurs(text) ? 'alive' : 'dead'));
  return hold(file, ownText, true);
}

async function acquire(file: string, ownText: Text, standingIn: (text: string) => Standing): Promise<boolean> {
  try {
    for (let attempt = 0; attempt < tries; attempt++) {
      const made = await create(file, ownText.text);
      if (made === 'made') return false;
      const text = await textOf(file);
      if (text === undefined) continue; // just released
      const standing = standingIn(text);
      if (standing === 'alive' && parseLockHolder(text)?.brief) {
        await sleep(pause);
        continue;
      }
      if (standing === 'alive' || (standing === 'unknown' && !(await isSilent(file, made.now)))) break;
      if (await replace(file, text, ownText)) return standing === 'unknown';
      await sleep(pause);
    }
  } catch (error) {
    ownLockIds.delete(ownText.id);
    throw StoreError.from(error);
  }
  ownLockIds.delete(ownText.id);
  throw locked();
}

export async function isRunLocked(file: string): Promise<boolean> {
  return (await findLockHolder(file)) !== undefined;
}

/** Returns the holder and the last activity (epoch ms) without changing the lock; undefined: no living holder. */
export async function findLockHolder(file: string): Promise<{ holder?: LockHolder; beatAt: number } | undefined> {
  const text = await textOf(file);
  if (text === undefined) return undefined;
  const beatAt = (await stampOf(file)) ?? 0;
  const standing = standingOfText(text);
  const isQuiet = Math.abs(Date.now() - beatAt) > runLockTimes.silent;
  return standing === 'dead' || (standing === 'unknown' && isQuiet)
    ? undefined
    : { holder: parseLockHolder(text), beatAt };
}

export const runLockedMessage = 'This run is in progress in another window. Stop it there to continue here.';
const locked = () => new StoreError('STORE_LOCKED', message(runLockedMessage));

export async function isLockedByOtherProcess(file: string): Promise<boolean> {
  const found = await findLockHolder(file);
  return found !== undefined && !found.holder?.brief && !ownLockIds.has(found.holder?.id ?? '');
}

interface Text {
  id: string;
  text: string;
}

function newText(more: Pick<LockHolder, 'window' | 'brief'>): Text {
  const holder: LockHolder = { id: randomUUID(), ...thisProcess(), since: Date.now(), ...more };
  ownLockIds.add(holder.id);
  return { id: holder.id, text: JSON.stringify(holder) };
}

function hold(file: string, ownText: Text, fromLiving: boolean): RunLock {
  const beating = setInterval(() => void beat(file, ownText.text), runLockTimes.beat);
  beating.unref();
  return {
    fromLiving,
    isHeld: async () => (await textOf(file)) === ownText.text,
    async release() {
      clearInterval(beating);
      await whileItIs(file, ownText.text, () => fs.unlink(file)).catch(() => {}); // the process that takes over holds the lock now
      ownLockIds.delete(ownText.id);
    },
  };
}

async function beat(file: string, text: string): Promise<void> {
  const handle = await fs.open(file, 'r+').catch(() => undefined);
  try {
    if (handle && (await handle.readFile('utf8')) === text) await handle.write(text, 0);
  } catch {
    // A failing disk is reported by the run itself.
  } finally {
    await handle?.close().catch(() => {});
  }
}

type Standing = ReturnType<typeof lockHolderState>;

const standingOfText = (text: string): Standing => {
  const holder = parseLockHolder(text);
  return holder ? lockHolderState(holder) : 'unknown'; // may be half written on file systems without links
};

/**
 * Tells whether the lock shows no activity, by the clock of the file system only, because machine clocks differ and jump. `now`: current
 * file system time. Old or future times are observed before a decision.
 */
async function isSilent(file: string, now: number): Promise<boolean> {
  const last = await stampOf(file);
  if (last === undefined) return false;
  if (Math.abs(now - last) < runLockTimes.silent) return false;
  await sleep(runLockTimes.watch);
  return (await stampOf(file)) === last;
}

// Opens the file, because network file systems then query the server instead of a cache.
async function stampOf(file: string): Promise<number | undefined> {
  const handle = await fs.open(file, 'r').catch(() => undefined);
  try {
    return (await handle?.stat())?.mtimeMs;
  } finally {
    await handle?.close();
  }
}

const textOf = (file: string): Promise<string | undefined> => fs.readFile(file, 'utf8').catch(() => undefined);

async function create(file: string, text: string): Promise<'made' | { now: number }> {
  const temporaryFile = `${file}.${randomUUID()}`;
  try {
    await fs.writeFile(temporaryFile, text, { flag: 'wx', mode: 0o600 });
    const { mtimeMs: now } = await fs.stat(temporaryFile);
    // Some file systems have no links.
    const isMade = await isPut(fs.link(temporaryFile, file)).catch(() =>
      isPut(fs.writeFile(file, text, { flag: 'wx', mode: 0o600 })),
    );
    return isMade ? 'made' : { now };
  } finally {
    await fs.unlink(temporaryFile).catch(() => {});
  }
}

function isPut(put: Promise<void>): Promise<boolean> {
  const failed = (error: NodeJS.ErrnoException) => (error.code === 'EEXIST' ? false : Promise.reject(error));
  return put.then(() => true, failed);
}

// Replaces the lock text `stale`; false: the lock changed, or another process is replacing it.
async function replace(file: string, stale: string, ownText: Text): Promise<boolean> {
  const temporaryFile = `${file}.${randomUUID()}`;
  try {
    await fs.writeFile(temporaryFile, ownText.text, { flag: 'wx', mode: 0o600 });
    return await whileItIs(file, stale, () => fs.rename(temporaryFile, file));
  } catch (error) {
    if (error instanceof StoreError && error.code === 'STORE_LOCKED') return false;
    throw error;
  } finally {
    await fs.unlink(temporaryFile).catch(() => {});
  }
}

/**
 * Runs `work` while the lock has this text. A lock on the text itself admits one process: of several processes that find a stale lock, one
 * replaces it and none replaces the new lock. Throws `STORE_LOCKED` during another replacement.
 */
async function whileItIs(file: string, text: string, work: () => Promise<void>): Promise<boolean> {
  const right = `${file}.over-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
  const ownText = newText({ brief: true });
  await acquire(right, ownText, standingOfText);
  try {
    if ((await textOf(file)) !== text) return false;
    await work();
    return true;
  } finally {
    if ((await textOf(right)) === ownText.text) await fs.unlink(right).catch(() => {});
    ownLockIds.delete(ownText.id);
  }
}
