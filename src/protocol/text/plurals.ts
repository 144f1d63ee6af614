export const pluralOf = (number: number): string => Math.round(number).toLocaleString('en-US');

/** Formats a count with its noun: `1 call`, `2,000 calls`, `2 branches`. */
export const counted = (number: number, noun: string, nouns = `${noun}s`): string =>
  `${pluralOf(number)} ${number === 1 ? noun : nouns}`;
