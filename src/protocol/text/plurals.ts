export const formatEnglishInteger = (number: number): string => Math.round(number).toLocaleString('en-US');

export const englishCount = (number: number, noun: string, nouns = `${noun}s`): string =>
  `${formatEnglishInteger(number)} ${number === 1 ? noun : nouns}`;
