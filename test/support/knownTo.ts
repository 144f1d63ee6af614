/** The part of `read` that `was` has, too, at any depth: a later version folds more. */
export function knownTo(was: unknown, read: unknown): unknown {
  if (Array.isArray(was) && Array.isArray(read)) return read.map((one, index) => knownTo(was[index], one));
  if (typeof was !== 'object' || was === null || typeof read !== 'object' || read === null) return read;
  return Object.fromEntries(Object.entries(was).map(([name, one]) => [name, knownTo(one, Object(read)[name])]));
}
