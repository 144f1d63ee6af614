import { language } from './l10n.ts';

/** With so many digits behind the point, as people write it: `7.5`. */
export const decimal = (value: number, digits: number): string =>
  Number(value.toFixed(digits)).toLocaleString(language(), { minimumFractionDigits: digits, useGrouping: false });
