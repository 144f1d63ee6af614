/** What was measured on this machine, of one model in one context. */
export interface Speeds {
  /** Tokens of a prompt. */
  readPerSecond?: number;
  /** Bytes of a state, checked and taken into the engine. */
  restoredPerSecond?: number;
  /** Bytes of a state, by the engine alone: what a reply may have to wait for. */
  savedPerSecond?: number;
  /** Epoch milliseconds: when something was restored last. */
  restoredAt?: number;
}

/** Of the time that reading would take, what restoring may take at most. */
const maxReadShare = 0.5;
/** Milliseconds after which it is tried again: the machine was busy, or is now. */
const believedMs = 24 * 60 * 60 * 1000;
/** Bytes that disks write in a second, until one has. */
const usualPerSecond = 300e6;

/** Whether it takes at most its share of the time of reading to restore a state; what nobody has measured is tried. */
export function isWorth(
  { tokens, bytes }: { tokens: number; bytes: number },
  { readPerSecond, restoredPerSecond, restoredAt = 0 }: Speeds,
  now: number,
  share = maxReadShare,
): boolean {
  if (!readPerSecond || !restoredPerSecond || Math.abs(now - restoredAt) > believedMs) return true;
  return bytes / restoredPerSecond <= share * (tokens / readPerSecond);
}

/** Milliseconds in which the engine saves so much. */
export const savingMs = (bytes: number, { savedPerSecond = usualPerSecond }: Speeds): number =>
  (bytes / savedPerSecond) * 1000;

/** A newer measurement beside what was known: one that was disturbed counts half. */
export const mean = (known: number | undefined, measured: number): number =>
  known === undefined ? measured : (known + measured) / 2;
