export const pluralOf = (number: number): string => Math.round(number).toLocaleString('en-US');

export const counted = (number: number, noun: string, nouns = `${noun}s`): string =>
  `${pluralOf(number)} ${number === 1 ? noun : nouns}`;
