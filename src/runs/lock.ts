import { createHash, randomUUID } from 'node:crypto';
import { promises as fs } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { message } from '../protocol/text/l10n.ts';
import { StoreError } from './journal.ts';
import { held, holderState, type LockHolder, parseHolder, thisProcess } from './storage/lockHolder.ts';

/**
 * One window at a time writes a run. The lock is a file that names who has it (`holder.ts`). A dead process's lock is taken
 * over; one of which nobody here can tell, because it is of another machine or container, when it shows no more life: whoever
 * has a lock writes it anew every `beat`, so that the file system's own clock says when that was.
 */
export interface Lock {
  /** The one before it may be at work still: what that one has open must not be written by two. */
  readonly fromLiving: boolean;
  /** False: somebody has taken it over. Asked after each write: what was written while this was true is there for the next one. */
  isMine(): Promise<boolean>;
  release(): Promise<void>;
}

/** Milliseconds. Without a sign of life for `silent`, a holder is watched for `watch` before it is given up. */
export const lockTimes = { beat: 1000, silent: 10_000, watch: 2500 };

/** How often it is tried, and how long apart, while another one is taking the same lock over. */
const tries = 20;
const pause = 15;

/** Takes the lock, for a window that `window` names. Throws `StoreError`, `STORE_LOCKED` when somebody else has it. */
export async function takeLock(file: string, window?: string): Promise<Lock> {
  const mine = newText({ window });
  return hold(file, mine, await acquire(file, mine, standingOfText));
}

/** For less than a moment: whoever wants it meanwhile waits. */
export async function takeBriefly(file: string): Promise<Lock> {
  const mine = newText({ brief: true });
  return hold(file, mine, await acquire(file, mine, standingOfText));
}

/** Takes the lock from whoever has it, alive or not, but not from this process itself. Throws `StoreError`. */
export async function takeOver(file: string, window?: string): Promise<Lock> {
  const mine = newText({ window });
  const isOurs = (text: string) => held.has(parseHolder(text)?.id ?? '');
  await acquire(file, mine, (text) => (isOurs(text) ? 'alive' : 'dead'));
  return hold(file, mine, true);
}

/** Resolves to whether the one before may be at work still. */
async function acquire(file: string, mine: Text, standingIn: (text: string) => Standing): Promise<boolean> {
  try {
    for (let attempt = 0; attempt < tries; attempt++) {
      const made = await create(file, mine.text);
      if (made === 'made') return false;
      const text = await textOf(file);
      if (text === undefined) continue; // released in this moment
      const standing = standingIn(text);
      if (standing === 'alive' && parseHolder(text)?.brief) {
        await sleep(pause);
        continue;
      }
      if (standing === 'alive' || (standing === 'unknown' && !(await isSilent(file, made.now)))) break;
      if (await replace(file, text, mine)) return standing === 'unknown';
      await sleep(pause);
    }
  } catch (error) {
    held.delete(mine.id);
    throw StoreError.from(error);
  }
  held.delete(mine.id);
  throw locked();
}

/** Whether somebody who lives has the lock; it is only looked at, so that looking is in nobody's way. */
export async function isLocked(file: string): Promise<boolean> {
  return (await holderOf(file)) !== undefined;
}

/** Who has the lock, and the last sign of life (epoch ms); undefined: nobody who lives. Only looked at. */
export async function holderOf(file: string): Promise<{ holder?: LockHolder; beatAt: number } | undefined> {
  const text = await textOf(file);
  if (text === undefined) return undefined;
  const beatAt = (await stampOf(file)) ?? 0;
  const standing = standingOfText(text);
  const isQuiet = Math.abs(Date.now() - beatAt) > lockTimes.silent;
  return standing === 'dead' || (standing === 'unknown' && isQuiet) ? undefined : { holder: parseHolder(text), beatAt };
}

export const lockedMessage = 'This run is in progress in another window. Stop it there to continue here.';
const locked = () => new StoreError('STORE_LOCKED', message(lockedMessage));

/** Somebody has it for longer than a moment, and not this process. */
export async function isHeldElsewhere(file: string): Promise<boolean> {
  const found = await holderOf(file);
  return found !== undefined && !found.holder?.brief && !held.has(found.holder?.id ?? '');
}

interface Text {
  id: string;
  text: string;
}

/** It counts as this process's before it is on disk: a second taker here must not take it for one that was left. */
function newText(more: Pick<LockHolder, 'window' | 'brief'>): Text {
  const holder: LockHolder = { id: randomUUID(), ...thisProcess(), since: Date.now(), ...more };
  held.add(holder.id);
  return { id: holder.id, text: JSON.stringify(holder) };
}

function hold(file: string, mine: Text, fromLiving: boolean): Lock {
  const beating = setInterval(() => void beat(file, mine.text), lockTimes.beat);
  beating.unref();
  return {
    fromLiving,
    isMine: async () => (await textOf(file)) === mine.text,
    async release() {
      clearInterval(beating);
      await whileItIs(file, mine.text, () => fs.unlink(file)).catch(() => {}); // whoever is taking it over has it now
      held.delete(mine.id);
    },
  };
}

/** The same bytes again, in the same file that was looked at: it is whole at every moment, and never somebody else's. */
async function beat(file: string, text: string): Promise<void> {
  const handle = await fs.open(file, 'r+').catch(() => undefined);
  try {
    if (handle && (await handle.readFile('utf8')) === text) await handle.write(text, 0);
  } catch {
    // A disk that takes no write: the run itself says so.
  } finally {
    await handle?.close().catch(() => {});
  }
}

type Standing = ReturnType<typeof holderState>;

const standingOfText = (text: string): Standing => {
  const holder = parseHolder(text);
  return holder ? holderState(holder) : 'unknown'; // it may be half written yet, where links are unknown
};

/**
 * No sign of life, by the file system's clock alone: that of this machine may jump, and another machine's is another one.
 * `now`: its time now. What is old, or from the future, is watched before it is believed.
 */
async function isSilent(file: string, now: number): Promise<boolean> {
  const last = await stampOf(file);
  if (last === undefined) return false;
  if (Math.abs(now - last) < lockTimes.silent) return false;
  await sleep(lockTimes.watch);
  return (await stampOf(file)) === last;
}

/** Opened to be looked at: a network's file system asks its server then, and not its memory. */
async function stampOf(file: string): Promise<number | undefined> {
  const handle = await fs.open(file, 'r').catch(() => undefined);
  try {
    return (await handle?.stat())?.mtimeMs;
  } finally {
    await handle?.close();
  }
}

const textOf = (file: string): Promise<string | undefined> => fs.readFile(file, 'utf8').catch(() => undefined);

/** Whole at once: a lock that is made and still empty would look like one that a crash left. `now`: the file system's time. */
async function create(file: string, text: string): Promise<'made' | { now: number }> {
  const aside = `${file}.${randomUUID()}`;
  try {
    await fs.writeFile(aside, text, { flag: 'wx', mode: 0o600 });
    const { mtimeMs: now } = await fs.stat(aside);
    // Links are unknown to some file systems.
    const isMade = await isPut(fs.link(aside, file)).catch(() =>
      isPut(fs.writeFile(file, text, { flag: 'wx', mode: 0o600 })),
    );
    return isMade ? 'made' : { now };
  } finally {
    await fs.unlink(aside).catch(() => {});
  }
}

/** False: somebody else's is there. */
function isPut(put: Promise<void>): Promise<boolean> {
  const failed = (error: NodeJS.ErrnoException) => (error.code === 'EEXIST' ? false : Promise.reject(error));
  return put.then(() => true, failed);
}

/** Puts our text in the place of `stale`; false: it is another one's by now, or somebody is at it. */
async function replace(file: string, stale: string, mine: Text): Promise<boolean> {
  const aside = `${file}.${randomUUID()}`;
  try {
    await fs.writeFile(aside, mine.text, { flag: 'wx', mode: 0o600 });
    return await whileItIs(file, stale, () => fs.rename(aside, file));
  } catch (error) {
    if (error instanceof StoreError && error.code === 'STORE_LOCKED') return false;
    throw error;
  } finally {
    await fs.unlink(aside).catch(() => {});
  }
}

/**
 * Only who has the lock of a lock's text may put something in its place, and only while it is that text: of many who find the
 * same dead one's lock, one replaces it, and none replaces the lock of that one. Throws `STORE_LOCKED` while another is at it.
 */
async function whileItIs(file: string, text: string, work: () => Promise<void>): Promise<boolean> {
  const right = `${file}.over-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
  const mine = newText({ brief: true });
  await acquire(right, mine, standingOfText);
  try {
    if ((await textOf(file)) !== text) return false;
    await work();
    return true;
  } finally {
    if ((await textOf(right)) === mine.text) await fs.unlink(right).catch(() => {});
    held.delete(mine.id);
  }
}
