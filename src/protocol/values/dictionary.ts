declare const arbitraryKeys: unique symbol;

/**
 * Record with keys from outside: call ids, paths, names. The record has no prototype, so that `__proto__` and `constructor` are ordinary
 * keys. Key order has no meaning (integer-like keys come first); order is data, such as `startSeq`.
 *
 * @invariant dictionary-keys: A record with keys from outside is a Dictionary or a Map, and is never listed in key order.
 */
export type Dictionary<Value> = Record<string, Value> & { readonly [arbitraryKeys]?: never };

export const createDictionary = <Value>(): Dictionary<Value> => Object.create(null);

export const toDictionary = <Value>(record: Readonly<Record<string, Value>>): Dictionary<Value> =>
  Object.assign(createDictionary<Value>(), record);

export const sortedDictionaryEntries = <Value>(
  dictionary: Readonly<Dictionary<Value>>,
): [key: string, value: Value][] => sortedDictionaryKeys(dictionary).map((key) => [key, dictionary[key]!]);

export const sortedDictionaryKeys = (dictionary: Readonly<Dictionary<unknown>>): string[] =>
  Object.keys(dictionary).sort();
