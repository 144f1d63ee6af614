import { readFileSync, readlinkSync } from 'node:fs';
import os from 'node:os';

/**
 * Holder of a lock, as stored in the lock file. A process id is unique only with boot, pid namespace (Linux) and start time, because
 * containers reuse small ids.
 * - `boot`: the boot id on Linux, else the boot time (epoch seconds); absent in locks of the first version.
 * - `started`: start time of the process in kernel units, absent if unknown; `since`: epoch milliseconds.
 * - `brief`: released within a moment, so that takers wait.
 */
export interface LockHolder {
  id: string;
  pid: number;
  machine?: string;
  boot?: string | number;
  started?: string;
  namespace?: string;
  since?: number;
  window?: string;
  brief?: true;
}

/** Ids of locks of this process. A lock with this process id and another id belongs to an earlier process. */
export const ownLockIds = new Set<string>();

const bootSlack = 5;

let known: Omit<LockHolder, 'id' | 'since' | 'window'> | undefined;

export function thisProcess(): Omit<LockHolder, 'id' | 'since' | 'window'> {
  known ??= {
    pid: process.pid,
    machine: os.hostname(),
    boot: tried(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()) ?? bootSecond(),
    started: statOf('self')?.started,
    namespace: namespaceOf(),
  };
  return known;
}

const bootSecond = () => Math.round(Date.now() / 1000 - os.uptime());
const namespaceOf = () =>
  process.platform === 'linux' ? (tried(() => readlinkSync('/proc/self/ns/pid')) ?? 'unknown') : undefined;

export function parseLockHolder(text: string): LockHolder | undefined {
  const found = tried(() => JSON.parse(text)) as Partial<LockHolder> | null | undefined;
  return typeof found?.pid === 'number' && typeof found.id === 'string' ? (found as LockHolder) : undefined;
}

/** `unknown`: the holder cannot be checked from here, only the activity. */
export function lockHolderState(holder: LockHolder): 'alive' | 'dead' | 'unknown' {
  if (ownLockIds.has(holder.id)) return 'alive';
  const me = thisProcess();
  if (holder.boot === undefined) return holder.pid !== me.pid && exists(holder.pid) ? 'alive' : 'dead';
  if (!isSameBoot(holder, me) || holder.namespace !== me.namespace || me.namespace === 'unknown') return 'unknown';
  if (holder.pid === me.pid || !exists(holder.pid)) return 'dead';
  const now = procIsOurs() ? statOf(holder.pid) : undefined;
  if (now === undefined || holder.started === undefined) return 'unknown';
  return now.started === holder.started && !now.ended ? 'alive' : 'dead';
}

function isSameBoot(one: Pick<LockHolder, 'boot' | 'machine'>, other: Pick<LockHolder, 'boot' | 'machine'>): boolean {
  if (typeof one.boot !== 'number' || typeof other.boot !== 'number') return one.boot === other.boot;
  return one.machine === other.machine && Math.abs(one.boot - other.boot) <= bootSlack;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const procIsOurs = () => tried(() => readlinkSync('/proc/self')) === String(process.pid);

function statOf(pid: number | 'self'): { started: string; ended: boolean } | undefined {
  const stat = tried(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' '); // the process name may contain any character
  return fields?.[19] ? { started: fields[19], ended: fields[0] === 'Z' || fields[0] === 'X' } : undefined;
}

function tried<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
