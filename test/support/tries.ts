/**
 * Returns the number of random cases: `few` with the usual tests, `ci` from `npm test -- ci` on, and `many` in the part `tries`
 * of `npm test -- all`, which runs these files again. A failure that was found once gets a case of its own.
 */
export function tries(few: number, many: number, ci = few): number {
  if (process.env.TOWPATH_TRIES === 'many') return many;
  return process.env.TOWPATH_STEP === 'ci' ? ci : few;
}
