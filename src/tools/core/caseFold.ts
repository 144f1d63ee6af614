/** Folds a file name like a case-insensitive disk: `ſ` and `S` become `s`, and invisible characters disappear. */
export const foldCase = (segment: string): string =>
  segment
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toUpperCase()
    .toLowerCase()
    .replace(/[. ]+$/, '');
