/** Returns the entry of a model: the exact name, else the longest prefix that ends in `*`. */
export function lookUpByModel<Value>(table: Readonly<Record<string, Value>>, modelId: string): Value | undefined {
  if (Object.hasOwn(table, modelId)) return table[modelId];
  const beginnings = Object.keys(table).filter((name) => name.endsWith('*') && modelId.startsWith(name.slice(0, -1)));
  const longest = beginnings.sort((one, two) => two.length - one.length)[0];
  return longest === undefined ? undefined : table[longest];
}
