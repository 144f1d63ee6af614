/** Characters at the end of a text that must repeat, and the maximum characters of the repeated part. */
const [repeatedLength, maxPeriod] = [2000, 400];

/** Tests if a text ends in a part that is repeated again and again, as small models generate until they are stopped. */
export function endsInRepetition(text: string): boolean {
  if (text.length < repeatedLength) return false;
  const end = text.slice(-repeatedLength);
  for (let period = 1; period <= maxPeriod; period++) if (end.slice(period) === end.slice(0, -period)) return true;
  return false;
}
