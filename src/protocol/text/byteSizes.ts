import { type LocalizedMessage, message, t } from './l10n.ts';

const units = [
  { from: 0.95e9, bytes: 1e9, whole: '{0} GB', part: '{0}.{1} GB' },
  { from: 0.1e6, bytes: 1e6, whole: '{0} MB', part: '{0}.{1} MB' },
  { from: Number.NEGATIVE_INFINITY, bytes: 1e3, whole: '{0} kB', part: '{0}.{1} kB' },
] as const;

/** Formats a size in bytes with a decimal unit and at most one decimal, like `2.1 GB`. */
export function byteSizeMessage(bytes: number): LocalizedMessage {
  const unit = units.find(({ from }) => bytes >= from) ?? units[2];
  const tenths = Math.round((bytes / unit.bytes) * 10);
  if (bytes / unit.bytes >= 100 || tenths % 10 === 0) return message(unit.whole, Math.round(bytes / unit.bytes));
  return message(unit.part, Math.floor(tenths / 10), tenths % 10);
}

export const byteSizeText = (bytes: number): string => t(byteSizeMessage(bytes));
