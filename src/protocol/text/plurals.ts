/** A number as people read it: `2,000`. */
export const pluralOf = (number: number): string => Math.round(number).toLocaleString('en-US');

/** How many there are of something, also of one: `1 call`, `2,000 calls`, `2 branches`. */
export const counted = (number: number, noun: string, nouns = `${noun}s`): string =>
  `${pluralOf(number)} ${number === 1 ? noun : nouns}`;
