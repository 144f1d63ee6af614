import type { JsonSchema } from './tools.ts';

// Parts of a tool's JSON schema for the grammar, the argument parser and the conversion from the grammar.

/** Maximum depth of nesting and of reference chains. Deeper schemas accept any value. */
export const maxSchemaDepth = 24;

export function mergeAllOf(node: JsonSchema, root: unknown): JsonSchema {
  const { allOf, ...own } = node;
  const result: JsonSchema = { ...own };
  for (const part of allOf as unknown[]) {
    const schema = isJsonSchema(part) && typeof part.$ref === 'string' ? resolveSchemaPointer(part.$ref, root) : part;
    if (!isJsonSchema(schema)) continue;
    const properties = { ...result.properties, ...schema.properties };
    const required = [...requiredSchemaKeys(result), ...requiredSchemaKeys(schema)];
    Object.assign(result, schema, { properties, required });
  }
  if (Object.keys(result.properties ?? {}).length === 0) delete result.properties;
  return result;
}

export function jsonSchemaTypes(schema: JsonSchema): string[] {
  if (schema.type !== undefined) return [schema.type].flat();
  if (schema.properties || schema.additionalProperties) return ['object'];
  return schema.items || schema.prefixItems ? ['array'] : [];
}

export function additionalPropertySchema(schema: JsonSchema): JsonSchema[] {
  const patterns = isJsonSchema(schema.patternProperties) ? Object.values(schema.patternProperties) : [];
  return [...patterns, schema.additionalProperties].filter(isJsonSchema);
}

export function requiredSchemaKeys(schema: JsonSchema): Set<string> {
  return new Set(Array.isArray(schema.required) ? schema.required : []);
}

export function resolveSchemaPointer(pointer: string, root: unknown): unknown {
  if (pointer === '#') return root;
  if (!pointer.startsWith('#/')) return undefined;
  let node = root;
  for (const part of pointer.slice(2).split('/')) {
    const key = part.replace(/~1/g, '/').replace(/~0/g, '~');
    if (!isJsonSchema(node) || !Object.hasOwn(node, key)) return undefined;
    node = node[key];
  }
  return node;
}

export function isJsonSchema(node: unknown): node is JsonSchema {
  return typeof node === 'object' && node !== null && !Array.isArray(node);
}

export function isNonEmptyArray(list: unknown): list is unknown[] {
  return Array.isArray(list) && list.length > 0;
}
