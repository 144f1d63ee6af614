import { currentLocale } from './l10n.ts';

export const formatDecimal = (value: number, digits: number): string =>
  Number(value.toFixed(digits)).toLocaleString(currentLocale(), { minimumFractionDigits: digits, useGrouping: false });
