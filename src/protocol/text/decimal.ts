import { language } from './l10n.ts';

export const decimal = (value: number, digits: number): string =>
  Number(value.toFixed(digits)).toLocaleString(language(), { minimumFractionDigits: digits, useGrouping: false });
