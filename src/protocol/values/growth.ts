/** Change of a value as additions to its lists, so that a growing list is not recorded again in each round. */
export type ValueDelta =
  | { append: unknown[] }
  /** Changes of map entries, by key. */
  | { keys: { [key: string]: ValueDelta } }
  | { set: unknown };

type Values = Readonly<Record<string, unknown>>;

export function applyValueDelta(before: unknown, growth: ValueDelta): unknown {
  if ('append' in growth) return [...(Array.isArray(before) ? before : []), ...growth.append];
  if ('set' in growth) return growth.set;
  const changed = Object.entries(growth.keys).map(([key, one]) => [
    key,
    applyValueDelta((before as Values)?.[key], one),
  ]);
  return { ...(before as Values), ...Object.fromEntries(changed) };
}
