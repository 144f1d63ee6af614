import { localizedDollars } from '../src/protocol/run/money.ts';
import { formatDecimal } from '../src/protocol/text/decimal.ts';
import { currentLocale, t } from '../src/protocol/text/l10n.ts';

export function formatElapsedTime(ms: number): string {
  if (ms < 1000) return t('{0} ms', Math.max(0, Math.round(ms)));
  if (ms < 10_000) return t('{0} s', formatShortDecimal(ms / 1000));
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return t('{0} s', seconds);
  if (seconds % 60 === 0) return t('{0} min', seconds / 60);
  return t('{0} min {1} s', Math.floor(seconds / 60), seconds % 60);
}

export const formatShortDecimal = (value: number): string =>
  formatDecimal(value, value.toFixed(1).endsWith('.0') ? 0 : 1);

export const formatClockTime = (at: number): string =>
  new Date(at).toLocaleTimeString(currentLocale(), { hour: '2-digit', minute: '2-digit' });

/** `Today`, `Yesterday`, the weekday, after a week the date. */
export function formatDayLabel(at: number, now: number): string {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const daysAgo = Math.ceil((midnight - at) / 86_400_000);
  if (daysAgo <= 0) return t('Today');
  if (daysAgo === 1) return t('Yesterday');
  const date = new Date(at);
  if (daysAgo < 7) return date.toLocaleDateString(currentLocale(), { weekday: 'long' });
  return date.toLocaleDateString(currentLocale(), { day: 'numeric', month: 'long', year: 'numeric' });
}

export function formatCount(amount: number): string {
  if (amount < 1000) return String(amount);
  if (amount < 1_000_000) return `${formatDecimal(amount / 1000, amount < 100_000 ? 1 : 0)}k`;
  return `${formatDecimal(amount / 1_000_000, 1)}M`;
}

/** Formats a cost. `unpriced`: tokens without a known price. */
export function formatCost(cost: number | undefined, unpriced = 0): string {
  if (cost === undefined) return t('no price');
  const known =
    cost === 0 ? t('free') : cost < 0.0001 ? t(localizedDollars(cost)) : t('about {0}', localizedDollars(cost));
  return unpriced > 0 ? t('{0}, and {1} tokens without a price', known, formatCount(unpriced)) : known;
}
