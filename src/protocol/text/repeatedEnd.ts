/** Size of a repetition: least characters, and how often the same text follows itself in them. */
export interface RepetitionSize {
  characters: number;
  times: number;
}

/** Characters at the end whose earlier places suggest the length of the repeated text. */
const probeLength = 32;

/**
 * Returns the text that a text repeats at its end, the last time in part; undefined if it repeats none often enough.
 *
 * @param size at least 32 characters beyond the repeated text, so that its earlier place is found
 */
export function repeatedEnd(text: string, { characters, times }: RepetitionSize): string | undefined {
  const from = text.length - probeLength;
  const probe = text.slice(Math.max(0, from));
  for (let at = from; at > 0; ) {
    at = text.lastIndexOf(probe, at - 1);
    const period = from - at;
    const length = Math.max(characters, times * period);
    if (at < 0 || length > text.length) return undefined;
    const end = text.slice(-length);
    if (end.startsWith(end.slice(period))) return text.slice(-period);
  }
  return undefined;
}
