/** Measurements of one model and context on this machine. */
export interface Speeds {
  /** Prompt tokens. */
  readPerSecond?: number;
  /** State bytes, verified and loaded into the engine. */
  restoredPerSecond?: number;
  /** State bytes written by the engine, the time for which a reply may have to wait. */
  savedPerSecond?: number;
  /** Epoch milliseconds of the last restore. */
  restoredAt?: number;
}

/** Maximum duration of a restore relative to a prefill. */
const maxReadShare = 0.5;
/** Milliseconds after which a measurement expires, because the load of the machine may have changed. */
const believedMs = 24 * 60 * 60 * 1000;
/** Assumed disk speed in bytes per second before a measurement. */
const usualPerSecond = 300e6;

/** Returns true if a restore takes at most its share of the prefill time; without a measurement, a restore is tried. */
export function isWorth(
  { tokens, bytes }: { tokens: number; bytes: number },
  { readPerSecond, restoredPerSecond, restoredAt = 0 }: Speeds,
  now: number,
  share = maxReadShare,
): boolean {
  if (!readPerSecond || !restoredPerSecond || Math.abs(now - restoredAt) > believedMs) return true;
  return bytes / restoredPerSecond <= share * (tokens / readPerSecond);
}

export const savingMs = (bytes: number, { savedPerSecond = usualPerSecond }: Speeds): number =>
  (bytes / savedPerSecond) * 1000;

/** Averages a measurement with the known value, so that a disturbed measurement counts half. */
export const mean = (known: number | undefined, measured: number): number =>
  known === undefined ? measured : (known + measured) / 2;
