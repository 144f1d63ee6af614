/** Change of a value as additions to its lists, so that a growing list is not recorded again in each round. */
export type ValueGrowth =
  | { append: unknown[] }
  /** Changes of map entries, by key. */
  | { keys: { [key: string]: ValueGrowth } }
  | { set: unknown };

type Values = Readonly<Record<string, unknown>>;

export function applyValueGrowth(before: unknown, growth: ValueGrowth): unknown {
  if ('append' in growth) return [...(Array.isArray(before) ? before : []), ...growth.append];
  if ('set' in growth) return growth.set;
  const changed = Object.entries(growth.keys).map(([key, one]) => [
    key,
    applyValueGrowth((before as Values)?.[key], one),
  ]);
  return { ...(before as Values), ...Object.fromEntries(changed) };
}
