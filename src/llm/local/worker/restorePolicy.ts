export interface InferenceSpeeds {
  readPerSecond?: number;
  restoredPerSecond?: number;
  savedPerSecond?: number;
  restoredAt?: number;
}

const maxReadShare = 0.5;
/** Milliseconds after which a measurement expires, because the load of the machine may have changed. */
const believedMs = 24 * 60 * 60 * 1000;
const usualPerSecond = 300e6;

/** Returns true if a restore takes at most its share of the prefill time; without a measurement, a restore is tried. */
export function isSequenceStateRestoreWorthwhile(
  { tokens, bytes }: { tokens: number; bytes: number },
  { readPerSecond, restoredPerSecond, restoredAt = 0 }: InferenceSpeeds,
  now: number,
  share = maxReadShare,
): boolean {
  if (!readPerSecond || !restoredPerSecond || Math.abs(now - restoredAt) > believedMs) return true;
  return bytes / restoredPerSecond <= share * (tokens / readPerSecond);
}

export const estimatedSequenceStateSaveMs = (
  bytes: number,
  { savedPerSecond = usualPerSecond }: InferenceSpeeds,
): number => (bytes / savedPerSecond) * 1000;

/** Averages a measurement with the known value, so that a disturbed measurement counts half. */
export const averageWithKnown = (known: number | undefined, measured: number): number =>
  known === undefined ? measured : (known + measured) / 2;
