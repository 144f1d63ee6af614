/**
 * The words `count` times, and yet no text that repeats itself: whether they begin with a capital letter follows the Thue–Morse sequence, in
 * which nothing stands three times in a row. It has as many tokens as a repetition.
 */
export const longText = (words: string, count: number): string =>
  Array.from({ length: count }, (_, nth) => (isOdd(nth) ? words[0]!.toUpperCase() + words.slice(1) : words)).join('');

/** Tests for an odd number of ones among the bits. */
const isOdd = (nth: number): boolean => [...nth.toString(2)].filter((bit) => bit === '1').length % 2 === 1;
