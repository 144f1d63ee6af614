const ofSchemas = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);
const ofData = new Set(['const', 'enum', 'default', 'examples']);

/**
 * Removes arguments with a default from `required`, at any depth. Schemas generated from a parsed form (zod's output schema) list these
 * arguments as required, although the server accepts calls without the arguments.
 */
export function makeDefaultedOptional(schema: unknown, root = schema): unknown {
  if (Array.isArray(schema)) return schema.map((one) => makeDefaultedOptional(one, root));
  if (!isObject(schema)) return schema;
  const inner = (keyword: string, value: unknown): unknown => {
    if (ofData.has(keyword)) return value;
    if (!ofSchemas.has(keyword) || !isObject(value)) return makeDefaultedOptional(value, root);
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, makeDefaultedOptional(one, root)]));
  };
  const walked = Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, inner(keyword, value)]));
  const { required, properties } = schema;
  if (!Array.isArray(required) || !isObject(properties)) return walked;
  const isDefaulted = (name: unknown) =>
    typeof name === 'string' && Object.hasOwn(properties, name) && hasDefault(properties[name], root);
  return { ...walked, required: required.filter((name) => !isDefaulted(name)) };
}

/**
 * Tests for a default of a schema or of its referenced definition.
 * @param hops limit of references, which may be circular
 */
function hasDefault(schema: unknown, root: unknown, hops = 5): boolean {
  if (!isObject(schema)) return false;
  if (Object.hasOwn(schema, 'default')) return true;
  const { $ref } = schema;
  return hops > 0 && typeof $ref === 'string' && hasDefault(definitionAt($ref, root), root, hops - 1);
}

function definitionAt(reference: string, root: unknown): unknown {
  if (!reference.startsWith('#/')) return undefined;
  const steps = reference
    .slice(2)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return steps.reduce<unknown>((at, step) => (isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined), root);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
