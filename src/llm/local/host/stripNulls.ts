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

/** Removes nulls that stand for omitted properties: the schema makes the property optional and excludes null. */
export function stripPlaceholderNulls(value: unknown, schema: unknown): unknown {
  return strip(value, schema, schema, 0);
}

function strip(value: unknown, node: unknown, root: unknown, depth: number): unknown {
  if (value === null || typeof value !== 'object' || depth > maxSchemaDepth) return value;
  const schema = resolve(node, root, value);
  if (!schema) return value;
  if (Array.isArray(value)) {
    const prefix = [schema.items, schema.prefixItems].find(Array.isArray) ?? [];
    return value.map((item, index) => strip(item, prefix[index] ?? schema.items, root, depth + 1));
  }
  const required = requiredSchemaKeys(schema);
  const properties = new Map(Object.entries(schema.properties ?? {}));
  const [others] = additionalPropertySchema(schema);
  const entries = Object.entries(value)
    .filter(([key, item]) => {
      const property = properties.get(key);
      return item !== null || !property || required.has(key) || acceptsNull(property);
    })
    .map(([key, item]) => [key, strip(item, properties.get(key) ?? others, root, depth + 1)]);
  return Object.fromEntries(entries);
}

function resolve(node: unknown, root: unknown, value: object): JsonSchema | undefined {
  for (let step = 0; step < maxSchemaDepth; step++) {
    if (!isJsonSchema(node)) return undefined;
    if (typeof node.$ref === 'string') node = resolveSchemaPointer(node.$ref, root);
    else if (isNonEmptyArray(node.allOf)) node = mergeAllOf(node, root);
    else if (isNonEmptyArray(node.oneOf) || isNonEmptyArray(node.anyOf)) node = fitting(node, root, value);
    else return node;
  }
  return undefined;
}

function fitting(node: JsonSchema, root: unknown, value: object): unknown {
  const alternatives = [
    ...(isNonEmptyArray(node.oneOf) ? node.oneOf : []),
    ...(isNonEmptyArray(node.anyOf) ? node.anyOf : []),
  ];
  const keys = Object.keys(value);
  return alternatives
    .map((one) => (isJsonSchema(one) && typeof one.$ref === 'string' ? resolveSchemaPointer(one.$ref, root) : one))
    .find((one) => {
      if (!isJsonSchema(one)) return false;
      if (Array.isArray(value)) return jsonSchemaTypes(one).includes('array');
      return (
        jsonSchemaTypes(one).includes('object') &&
        keys.every((key) => !one.properties || Object.hasOwn(one.properties, key))
      );
    });
}

function acceptsNull(schema: JsonSchema): boolean {
  if ([schema.type].flat().includes('null') || schema.const === null || schema.nullable === true) return true;
  if (Array.isArray(schema.enum)) return schema.enum.includes(null);
  return [schema.anyOf, schema.oneOf].some(
    (list) => Array.isArray(list) && list.some((one) => one && acceptsNull(one)),
  );
}
