// Minimum length of a redacted secret: shorter texts occur anywhere.
const shortest = 6;

export function redactor(secrets: readonly string[]): <Value>(value: Value) => Value {
  const hidden = [...new Set(secrets)].filter((one) => one.length >= shortest).sort((a, b) => b.length - a.length);
  if (hidden.length === 0) return (value) => value;
  const redact = (value: unknown): unknown => {
    if (typeof value === 'string') return hidden.reduce((text, secret) => text.replaceAll(secret, '•••'), value);
    if (Array.isArray(value)) return value.map(redact);
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [redact(key), redact(item)]));
    return value;
  };
  return redact as <Value>(value: Value) => Value;
}
