import { readFileSync, readlinkSync } from 'node:fs';
import os from 'node:os';

/**
 * Who has a lock, as its file says. A process is known by its number only together with the boot, the namespace that the number
 * is from, and the moment it started: containers give the same few numbers again and again.
 */
export interface LockHolder {
  /** Of this one taking. */
  id: string;
  pid: number;
  /** The machine's name, for people. */
  machine?: string;
  /** Which start of which machine: Linux' own id of it, elsewhere its second (epoch). Absent: written by the first Towpath. */
  boot?: string | number;
  /** When the process started, in the kernel's own count; absent where nobody says. */
  started?: string;
  /** Of the process's number; Linux alone has them. */
  namespace?: string;
  /** Epoch milliseconds. */
  since?: number;
  /** The window, in words for people. */
  window?: string;
  /** It is let go of in a moment: who wants it waits for that. */
  brief?: true;
}

/** Ids of the locks that this process has. What its own number is on and is not here was another process's. */
export const held = new Set<string>();

/** Seconds by which two readings of the same boot may differ, where it has no id. */
const bootSlack = 5;

let known: Omit<LockHolder, 'id' | 'since' | 'window'> | undefined;

/** What there is to say of this process. */
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

/** The holder that a lock's text names; undefined: it is no text of ours. */
export function parseHolder(text: string): LockHolder | undefined {
  const found = tried(() => JSON.parse(text)) as Partial<LockHolder> | null | undefined;
  return typeof found?.pid === 'number' && typeof found.id === 'string' ? (found as LockHolder) : undefined;
}

/** `unknown`: nothing here can tell, only whether it shows signs of life. */
export function holderState(holder: LockHolder): 'alive' | 'dead' | 'unknown' {
  if (held.has(holder.id)) return 'alive';
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

/** The numbers in `/proc` may be those of another namespace, which is mounted there. */
const procIsOurs = () => tried(() => readlinkSync('/proc/self')) === String(process.pid);

/** `ended`: killed, and kept in the table by a parent that does not look. */
function statOf(pid: number | 'self'): { started: string; ended: boolean } | undefined {
  const stat = tried(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' '); // the name before it may hold anything
  return fields?.[19] ? { started: fields[19], ended: fields[0] === 'Z' || fields[0] === 'X' } : undefined;
}

function tried<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
