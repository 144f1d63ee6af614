import {
  additionalPropertySchema,
  isJsonSchema,
  isNonEmptyArray,
  jsonSchemaTypes,
  maxSchemaDepth,
  mergeAllOf,
  requiredSchemaKeys,
  resolveSchemaPointer,
} from '../../../protocol/content/schemaParts.ts';
import type { JsonSchema } from '../../../protocol/content/tools.ts';
import { createDictionary } from '../../../protocol/values/dictionary.ts';

/**
 * Converts a tool's schema to the subset of node-llama-cpp's call grammar; undefined for a tool without parameters. The tool's own schema
 * still validates the arguments.
 */
export function toGrammarSchema(schema: JsonSchema): JsonSchema | undefined {
  const shaped = jsonSchemaTypes(schema).length > 0 || schema.$ref || schema.allOf || schema.anyOf || schema.oneOf;
  const result = toGrammarSubset(schema);
  const named = result.properties || isJsonSchema(result.additionalProperties);
  const empty = result.type === 'object' && !named && schema.additionalProperties === undefined;
  return shaped && !empty && (result.type === 'object' || result.$ref || result.oneOf) ? result : undefined;
}

/**
 * Converts any schema to the subset. The grammar requires every property in order, so optional properties become nullable (`stripPlaceholderNulls`
 * reverses this). Ignored keywords (patterns, bounds) move to the description; inexpressible parts allow any value.
 */
export function toGrammarSubset(schema: JsonSchema): JsonSchema {
  const definitions = createDictionary<JsonSchema>();
  const names = new Map<string, string>();

  const convert = (node: unknown, depth: number): JsonSchema => {
    if (!isJsonSchema(node)) return anything();
    if (node.nullable === true) return orNull(convert({ ...node, nullable: false }, depth));
    const description = describe(node);
    if (depth > maxSchemaDepth) return anything(description);
    if (typeof node.$ref === 'string') return reference(node.$ref, description, depth);
    if (node.const !== undefined)
      return isLiteral(node.const) ? withDescription({ const: node.const }, description) : anything();
    if (Array.isArray(node.enum)) {
      const values = node.enum.filter(isLiteral);
      return values.length > 0 ? withDescription({ enum: values }, description) : anything(description);
    }
    if (isNonEmptyArray(node.allOf)) return convert(mergeAllOf(node, schema), depth + 1);
    const alternatives = isNonEmptyArray(node.oneOf) ? node.oneOf : node.anyOf;
    if (isNonEmptyArray(alternatives)) {
      const converted = alternatives.map((one) => convert(one, depth + 1));
      return withDescription(converted.length === 1 ? converted[0]! : { oneOf: converted }, description);
    }
    const types = jsonSchemaTypes(node);
    if (types.length === 0) return anything(description);
    if (types.length === 1) return withDescription(convertType(node, types[0]!, depth), description);
    if (types.every((type) => scalars.has(type))) return withDescription({ type: types }, description);
    return withDescription({ oneOf: types.map((type) => convertType(node, type, depth)) }, description);
  };

  const reference = (pointer: string, description: string | undefined, depth: number): JsonSchema => {
    const target = resolveSchemaPointer(pointer, schema);
    if (target === undefined) return anything(description);
    const known = names.get(pointer);
    const name = known ?? `d${names.size}`;
    if (known === undefined) {
      names.set(pointer, name);
      definitions[name] = convert(target, depth + 1);
    }
    return withDescription({ $ref: `#/$defs/${name}` }, description);
  };

  const convertType = (node: JsonSchema, type: string, depth: number): JsonSchema => {
    switch (type) {
      case 'object':
        return convertObject(node, depth);
      case 'array': {
        const prefix = Array.isArray(node.items) ? node.items : node.prefixItems;
        return {
          type,
          ...(isJsonSchema(node.items) && { items: convert(node.items, depth + 1) }),
          ...(Array.isArray(prefix) && { prefixItems: prefix.map((item) => convert(item, depth + 1)) }),
          ...(isCount(node.minItems) && { minItems: node.minItems }),
          ...(isCount(node.maxItems) && { maxItems: node.maxItems }),
        };
      }
      case 'string':
        if (formats.has(node.format)) return { type, format: node.format };
        return {
          type,
          ...(isCount(node.minLength) && node.minLength > 0 && { minLength: node.minLength }),
          ...(isCount(node.maxLength) && node.maxLength <= longestLimit && { maxLength: node.maxLength }),
        };
      default:
        return scalars.has(type) ? { type } : anything();
    }
  };

  const convertObject = (node: JsonSchema, depth: number): JsonSchema => {
    const all = Object.entries(node.properties ?? {});
    const entries = all.filter(([key]) => isLiteral(key));
    const others = additionalPropertySchema(node).map((schema) => convert(schema, depth + 1));
    if (entries.length < all.length) others.push(anything()); // escaped, as a separate definition name
    const more = others.length > 1 ? { oneOf: others } : others[0];
    if (entries.length === 0)
      return { type: 'object', additionalProperties: more ?? node.additionalProperties !== false };
    const required = requiredSchemaKeys(node);
    const properties = entries.map(([key, property]) => {
      const converted = convert(property, depth + 1);
      return [key, required.has(key) ? converted : orNull(converted)];
    });
    return { type: 'object', properties: Object.fromEntries(properties), ...(more && { additionalProperties: more }) };
  };

  const result = convert(schema, 0);
  return names.size > 0 ? { ...result, $defs: { ...definitions } } : result;
}

const longestLimit = 2000;
const unspeakable = /(?![\t\r\n])\p{Cc}|\p{Surrogate}/u;
const scalars = new Set(['string', 'number', 'integer', 'boolean', 'null']);
const formats = new Set<unknown>(['date-time', 'time', 'date']);

function anything(description?: string): JsonSchema {
  const choices = [
    { type: ['string', 'number', 'boolean', 'null'] },
    { type: 'array' },
    { type: 'object', additionalProperties: true },
  ];
  return withDescription({ oneOf: choices }, description);
}

function orNull({ description: saying, ...rest }: JsonSchema): JsonSchema {
  const types = [rest.type ?? []].flat();
  const bare = Object.keys(rest).length === 1;
  if (bare && types.length > 0 && types.every((type) => scalars.has(type)))
    return withDescription({ type: [...new Set([...types, 'null'])] }, saying);
  if (rest.enum) return withDescription({ enum: [...new Set([...rest.enum, null])] }, saying);
  const choices = Array.isArray(rest.oneOf) ? rest.oneOf : [rest];
  return withDescription({ oneOf: [...choices, { type: 'null' }] }, saying);
}

function describe(schema: JsonSchema): string | undefined {
  const notes = [
    schema.description,
    schema.default !== undefined && `Default: ${JSON.stringify(schema.default)}`,
    schema.pattern && `Pattern: ${schema.pattern}`,
    schema.format && !formats.has(schema.format) && `Format: ${schema.format}`,
    schema.minimum !== undefined && `Minimum: ${schema.minimum}`,
    schema.maximum !== undefined && `Maximum: ${schema.maximum}`,
  ];
  return notes.filter(Boolean).join('. ') || undefined;
}

function withDescription(schema: JsonSchema, description: string | undefined): JsonSchema {
  return description ? { ...schema, description } : schema;
}

/**
 * Returns true if the grammar can contain the value verbatim. The grammar inserts text unescaped, so control characters would break the
 * grammar or the JSON.
 */
function isLiteral(value: unknown): boolean {
  if (typeof value === 'string') return !unspeakable.test(value);
  return value === null || typeof value !== 'object';
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}
