/**
 * How often something is tried that chance makes: `few` with the other tests, `many` before a release, when
 * `npm test -- all` runs the same files again (its part `tries`). What was found once has a case of its own.
 */
export function tries(few: number, many: number): number {
  return process.env.TOWPATH_TRIES === 'many' ? many : few;
}
