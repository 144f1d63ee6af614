/** The least that a tool's schema asks for: required properties with the simplest value of their type. */
export function minimalArguments(schema: unknown, root = schema, depth = 0): unknown {
  const one = Object(schema) as Record<string, unknown>;
  if (depth > 8) return null;
  const again = (inner: unknown) => minimalArguments(inner, root, depth + 1);
  if (typeof one.$ref === 'string') return again(definitionAt(one.$ref, root));
  if ('const' in one) return one.const;
  if ('default' in one) return one.default;
  if (Array.isArray(one.enum)) return one.enum[0];
  for (const key of ['anyOf', 'oneOf'] as const) if (Array.isArray(one[key])) return again((one[key] as unknown[])[0]);
  if (Array.isArray(one.allOf)) return Object.assign({}, ...one.allOf.map(again));
  const type = Array.isArray(one.type) ? one.type[0] : one.type;
  if (type === 'string') return textOf(one);
  if (type === 'number' || type === 'integer') return numberOf(one);
  if (type === 'boolean') return false;
  if (type === 'null') return null;
  if (type === 'array') return Array.from({ length: Number(one.minItems ?? 0) }, () => again(one.items));
  const properties = Object(one.properties) as Record<string, unknown>;
  const required = Array.isArray(one.required) ? one.required.map(String) : [];
  return Object.fromEntries(required.map((name) => [name, again(properties[name])]));
}

function textOf({ format, minLength, pattern }: Record<string, unknown>): string {
  if (format === 'uri') return 'https://a.example/';
  if (format === 'date') return '2026-01-01';
  if (format === 'date-time') return '2026-01-01T00:00:00Z';
  if (typeof pattern === 'string' && !new RegExp(pattern).test('a')) return '1';
  return 'a'.repeat(Math.max(1, Number(minLength ?? 1)));
}

function numberOf({ minimum, exclusiveMinimum }: Record<string, unknown>): number {
  if (typeof minimum === 'number') return minimum;
  return typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : 1;
}

const definitionAt = (reference: string, root: unknown): unknown =>
  reference
    .replace(/^#\/?/, '')
    .split('/')
    .filter((step) => step !== '')
    .reduce<unknown>((at, step) => Object(at)[step.replaceAll('~1', '/').replaceAll('~0', '~')], root);
