declare const arbitraryKeys: unique symbol;

/**
 * Record whose keys come from outside: call ids, paths, names. It has no prototype, so `__proto__` and `constructor` are keys like any
 * other. The order of its keys means nothing (keys that look like integers come first): an order is data, such as `startSeq`.
 *
 * @invariant dictionary-keys: a record that is written under a key from outside is a Dictionary or a Map, and is never listed in the order of its keys
 */
export type Dictionary<Value> = Record<string, Value> & { readonly [arbitraryKeys]?: never };

export const createDictionary = <Value>(): Dictionary<Value> => Object.create(null);

/** Copies a record, such as one that was JSON on its way here. */
export const toDictionary = <Value>(record: Readonly<Record<string, Value>>): Dictionary<Value> =>
  Object.assign(createDictionary<Value>(), record);

/** Keys and values, sorted by key. */
export const entriesOf = <Value>(dictionary: Readonly<Dictionary<Value>>): [key: string, value: Value][] =>
  keysOf(dictionary).map((key) => [key, dictionary[key]!]);

/** Sorted keys. */
export const keysOf = (dictionary: Readonly<Dictionary<unknown>>): string[] => Object.keys(dictionary).sort();
