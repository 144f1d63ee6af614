/** A change of a value by what was added to its lists, so that a list which grows in each round is recorded once, and not in each round. */
export type Growth =
  | { append: unknown[] }
  /** Of a map: what became of these keys. */
  | { keys: { [key: string]: Growth } }
  | { set: unknown };

type Values = Readonly<Record<string, unknown>>;

/** Returns the value after the change. Nothing that was there is changed in place. */
export function grow(before: unknown, growth: Growth): unknown {
  if ('append' in growth) return [...(Array.isArray(before) ? before : []), ...growth.append];
  if ('set' in growth) return growth.set;
  const changed = Object.entries(growth.keys).map(([key, one]) => [key, grow((before as Values)?.[key], one)]);
  return { ...(before as Values), ...Object.fromEntries(changed) };
}
