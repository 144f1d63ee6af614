import { isObject, type JsonObject } from '../core/json.ts';

interface GoogleSchema {
  type?: 'STRING' | 'NUMBER' | 'INTEGER' | 'BOOLEAN' | 'ARRAY' | 'OBJECT';
  format?: string;
  description?: string;
  nullable?: true;
  enum?: string[];
  items?: GoogleSchema;
  properties?: Record<string, GoogleSchema>;
  required?: string[];
  anyOf?: GoogleSchema[];
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
}

/**
 * Converts a JSON schema to Google's subset. An unknown keyword (`$schema`, `additionalProperties`, `const`, `$ref`, …) fails the whole
 * request with 400, so only supported keywords pass. The tool checks the arguments against the full schema. `parametersJsonSchema` accepts
 * more, but only on `v1beta` and newer models.
 */
export function toGoogleSchema(schema: unknown): GoogleSchema {
  return convert(schema, { root: schema, inside: [], budget: { schemas: 2000 } });
}

interface SchemaPosition {
  root: unknown;
  /** References in resolution: a recursive schema ends as an object of any kind. */
  inside: readonly string[];
  /** Maximum number of schemas, because nested references can double with each level. The excess becomes an object of any kind. */
  budget: { schemas: number };
}

function convert(schema: unknown, position: SchemaPosition): GoogleSchema {
  if (position.budget.schemas-- <= 0) return { type: 'OBJECT' };
  if (!isObject(schema)) return { type: 'STRING' }; // `true` allows anything; a missing type is rejected in some positions
  if (typeof schema.$ref === 'string') return convertReference(schema, schema.$ref, position);
  if (Array.isArray(schema.allOf)) return convert(mergeAll(schema), position);
  const choices = choicesOf(schema);
  return choices ? convertChoices(schema, choices, position) : convertPlain(schema, position);
}

function convertReference(
  { $ref, ...siblings }: JsonObject,
  reference: string,
  position: SchemaPosition,
): GoogleSchema {
  const target = lookUp(position.root, reference);
  if (target === undefined || position.inside.includes(reference)) {
    return { type: 'OBJECT', ...describe(siblings.description) };
  }
  const inlined = isObject(target) ? { ...target, ...siblings } : target;
  return convert(inlined, { ...position, inside: [...position.inside, reference] });
}

function lookUp(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined;
  let found = root;
  for (const segment of reference.slice(1).split('/').slice(1)) {
    const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return found;
}

function mergeAll({ allOf, ...siblings }: JsonObject): JsonObject {
  const parts = [...(allOf as unknown[]), siblings].filter(isObject);
  const merged: JsonObject = Object.assign({}, ...parts);
  const properties = parts.map((part) => part.properties).filter(isObject);
  const required = parts.flatMap((part) => (Array.isArray(part.required) ? part.required : []));
  if (properties.length > 0) merged.properties = Object.assign({}, ...properties);
  if (required.length > 0) merged.required = [...new Set(required)];
  return merged;
}

function choicesOf(schema: JsonObject): unknown[] | undefined {
  if (isObject(schema.properties) && !Array.isArray(schema.type)) return undefined; // here `anyOf` means "one of these properties is required"
  for (const list of [schema.anyOf, schema.oneOf]) if (Array.isArray(list) && list.length > 0) return list;
  if (!Array.isArray(schema.type)) return undefined;
  const { description, ...rest } = schema;
  return schema.type.map((type) => (type === 'null' ? { type } : { ...rest, type }));
}

function convertChoices(schema: JsonObject, choices: unknown[], position: SchemaPosition): GoogleSchema {
  const values = choices.filter((choice) => !isNull(choice));
  const nullable = values.length < choices.length && ({ nullable: true } as const);
  const converted = values.map((choice) => convert(choice, position));
  const own = describe(schema.description);
  const [first] = converted;
  if (first === undefined) return { type: 'STRING', nullable: true, ...own };
  if (converted.length === 1) return { ...first, ...own, ...nullable };
  if (converted.every((one) => one.enum)) {
    const all = converted.flatMap((one) => one.enum ?? []);
    return { type: 'STRING', ...own, enum: [...new Set(all)], ...nullable };
  }
  return { anyOf: converted, ...own, ...nullable };
}

const isNull = (choice: unknown) =>
  isObject(choice) && (choice.type === 'null' || choice.const === null || isOnlyNull(choice.enum));
const isOnlyNull = (values: unknown) => Array.isArray(values) && values.length === 1 && values[0] === null;

function convertPlain(schema: JsonObject, position: SchemaPosition): GoogleSchema {
  const values = Array.isArray(schema.enum) ? schema.enum : schema.const !== undefined ? [schema.const] : undefined;
  const nullable = (schema.nullable === true || values?.includes(null)) && ({ nullable: true } as const);
  switch (typeOf(schema, values)) {
    case 'object':
      return { type: 'OBJECT', ...describe(schema.description), ...nullable, ...convertProperties(schema, position) };
    case 'array': {
      const items = Array.isArray(schema.prefixItems ?? schema.items) // a tuple: an array of any of its item schemas
        ? { anyOf: schema.prefixItems ?? schema.items }
        : schema.items;
      const converted = convert(items, position);
      const limits = numbers(schema, ['minItems', 'maxItems']);
      return { type: 'ARRAY', ...describe(schema.description), ...nullable, items: converted, ...limits };
    }
    case 'integer':
    case 'number': {
      const type = schema.type === 'integer' || values?.every(Number.isInteger) ? 'INTEGER' : 'NUMBER';
      const limits = numbers(schema, ['minimum', 'maximum']);
      return { type, ...describe(schema.description, values), ...nullable, ...limits };
    }
    case 'boolean':
      return { type: 'BOOLEAN', ...describe(schema.description, values), ...nullable };
    default: {
      const allowed = values?.filter((value) => value !== null && value !== '').map(String) ?? [];
      const format = allowed.length === 0 && schema.format === 'date-time' && { format: 'date-time' };
      const limits = numbers(schema, ['minLength', 'maxLength']);
      const list = allowed.length > 0 && { enum: [...new Set(allowed)] };
      return { type: 'STRING', ...describe(schema.description), ...nullable, ...format, ...list, ...limits };
    }
  }
}

function typeOf(schema: JsonObject, values: unknown[] | undefined): string {
  if (typeof schema.type === 'string') return schema.type.toLowerCase();
  if (isObject(schema.properties) || isObject(schema.additionalProperties)) return 'object';
  if (schema.items !== undefined || schema.prefixItems !== undefined) return 'array';
  const kinds = new Set(values?.filter((value) => value !== null).map((value) => typeof value));
  if (kinds.size === 1) return [...kinds][0]!;
  return typeof schema.minimum === 'number' || typeof schema.maximum === 'number' ? 'number' : 'string';
}

function convertProperties(
  schema: JsonObject,
  position: SchemaPosition,
): Pick<GoogleSchema, 'properties' | 'required'> {
  if (!isObject(schema.properties)) return {};
  const entries = Object.entries(schema.properties).map(([name, value]) => [name, convert(value, position)] as const);
  if (entries.length === 0) return {};
  const names = new Set(entries.map(([name]) => name));
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => names.has(name)) : [];
  return { properties: Object.fromEntries(entries), ...(required.length > 0 && { required }) };
}

function describe(description: unknown, values?: unknown[]): { description?: string } {
  const allowed = values?.filter((value) => value !== null) ?? [];
  const list = allowed.length > 0 ? `One of: ${allowed.map((value) => JSON.stringify(value)).join(', ')}.` : '';
  const text = [typeof description === 'string' ? description : '', list].filter((part) => part !== '').join(' ');
  return text === '' ? {} : { description: text };
}

function numbers<Name extends string>(schema: JsonObject, names: readonly Name[]): { [name in Name]?: number } {
  const given = names.filter((name) => typeof schema[name] === 'number' && Number.isFinite(schema[name]));
  return Object.fromEntries(given.map((name) => [name, schema[name]])) as { [name in Name]?: number };
}
