import type { JsonSchema } from './tools.ts';

// Parts of a tool's JSON schema for the grammar, the argument parser and the conversion from the grammar.

/** Maximum depth of nesting and of reference chains. Deeper schemas accept any value. */
export const deepest = 24;

/** Merges `allOf` into one schema: properties and required keys are united, the later keyword wins. */
export function merged(node: JsonSchema, root: unknown): JsonSchema {
  const { allOf, ...own } = node;
  const result: JsonSchema = { ...own };
  for (const part of allOf as unknown[]) {
    const schema = isSchema(part) && typeof part.$ref === 'string' ? dereference(part.$ref, root) : part;
    if (!isSchema(schema)) continue;
    const properties = { ...result.properties, ...schema.properties };
    const required = [...requiredOf(result), ...requiredOf(schema)];
    Object.assign(result, schema, { properties, required });
  }
  if (Object.keys(result.properties ?? {}).length === 0) delete result.properties;
  return result;
}

export function typesOf(schema: JsonSchema): string[] {
  if (schema.type !== undefined) return [schema.type].flat();
  if (schema.properties || schema.additionalProperties) return ['object'];
  return schema.items || schema.prefixItems ? ['array'] : [];
}

export function otherValues(schema: JsonSchema): JsonSchema[] {
  const patterns = isSchema(schema.patternProperties) ? Object.values(schema.patternProperties) : [];
  return [...patterns, schema.additionalProperties].filter(isSchema);
}

export function requiredOf(schema: JsonSchema): Set<string> {
  return new Set(Array.isArray(schema.required) ? schema.required : []);
}

export function dereference(pointer: string, root: unknown): unknown {
  if (pointer === '#') return root;
  if (!pointer.startsWith('#/')) return undefined;
  let node = root;
  for (const part of pointer.slice(2).split('/')) {
    const key = part.replace(/~1/g, '/').replace(/~0/g, '~');
    if (!isSchema(node) || !Object.hasOwn(node, key)) return undefined;
    node = node[key];
  }
  return node;
}

export function isSchema(node: unknown): node is JsonSchema {
  return typeof node === 'object' && node !== null && !Array.isArray(node);
}

export function isFilled(list: unknown): list is unknown[] {
  return Array.isArray(list) && list.length > 0;
}
