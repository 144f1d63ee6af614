/** The same without the sentences that its English words are made of: what a program, a model or a log has of it. */
export function unsaid<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(unsaid) as Value;
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const kept = Object.entries(value).filter(([name, one]) => name !== 'said' || typeof one !== 'object');
  return Object.fromEntries(kept.map(([name, one]) => [name, unsaid(one)])) as Value;
}
