/** A name as disks compare them that make no difference of case: `ſ` and `S` are `s`, what is drawn as nothing is nothing. */
export const foldCase = (segment: string): string =>
  segment
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toUpperCase()
    .toLowerCase()
    .replace(/[. ]+$/, '');
