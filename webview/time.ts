import { dollars } from '../src/protocol/money.ts';

/** `12 ms`, `1.4 s`, `12 s`, `3 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1).replace('.0', '')} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** `now`, `5 min`, `3 h`, `2 d`, then the date. */
export function ago(at: number, now: number): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) return 'now';
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h`;
  if (minutes < 7 * 24 * 60) return `${Math.floor(minutes / (24 * 60))} d`;
  return new Date(at).toLocaleDateString(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
}

/** `Today`, `Yesterday`, the weekday, after a week the date. */
export function day(at: number, now: number): string {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const daysAgo = Math.ceil((midnight - at) / 86_400_000);
  if (daysAgo <= 0) return 'Today';
  if (daysAgo === 1) return 'Yesterday';
  const date = new Date(at);
  if (daysAgo < 7) return date.toLocaleDateString(undefined, { weekday: 'long' });
  return date.toLocaleDateString(undefined, { day: 'numeric', month: 'long', year: 'numeric' });
}

/** `840`, `12.3k`, `1.2M`. */
export function count(amount: number): string {
  if (amount < 1000) return String(amount);
  if (amount < 1_000_000) return `${(amount / 1000).toFixed(amount < 100_000 ? 1 : 0)}k`;
  return `${(amount / 1_000_000).toFixed(1)}M`;
}

/** What something has cost, in words. `unpriced`: tokens whose price is not known, which is not the same as nothing. */
export function costWords(cost: number | undefined, unpriced = 0): string {
  if (cost === undefined) return 'no price';
  const known = cost === 0 ? 'free' : `${cost < 0.0001 ? '' : 'about '}${dollars(cost)}`;
  return unpriced > 0 ? `${known}, and ${count(unpriced)} tokens without a price` : known;
}
