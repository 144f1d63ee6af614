import { isDeepStrictEqual } from 'node:util';
import type { ValueDelta } from '../../protocol/values/growth.ts';

type Values = Readonly<Record<string, unknown>>;

/** Splits the changes of a node into full values and appended list items (`grown`). */
export function splitStateChange(
  before: Values,
  set: Values,
): { state: Record<string, unknown>; grown?: Record<string, ValueDelta> } {
  const grown = Object.entries(set).flatMap(([key, value]): [string, ValueDelta][] => {
    const growth = Object.hasOwn(before, key) ? growthOf(before[key], value) : undefined;
    return growth && appends(growth) ? [[key, growth]] : [];
  });
  if (grown.length === 0) return { state: { ...set } };
  const keys = new Set(grown.map(([key]) => key));
  const rest = Object.entries(set).filter(([key]) => !keys.has(key));
  return { state: Object.fromEntries(rest), grown: Object.fromEntries(grown) };
}

function growthOf(before: unknown, after: unknown): ValueDelta | undefined {
  if (Array.isArray(before) && Array.isArray(after))
    return before.length > 0 && after.length > before.length && isDeepStrictEqual(after.slice(0, before.length), before)
      ? { append: after.slice(before.length) }
      : undefined;
  if (!isMap(before) || !isMap(after) || !Object.keys(before).every((key) => Object.hasOwn(after, key)))
    return undefined;
  const changed = Object.keys(after).filter((key) => !isDeepStrictEqual(before[key], after[key]));
  return {
    keys: Object.fromEntries(changed.map((key) => [key, growthOf(before[key], after[key]) ?? { set: after[key] }])),
  };
}

const isMap = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value);

const appends = (growth: ValueDelta): boolean =>
  'append' in growth || ('keys' in growth && Object.values(growth.keys).some(appends));
