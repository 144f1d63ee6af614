import { isJsonSchema, isNonEmptyArray, resolveSchemaPointer } from '../../protocol/content/schemaParts.ts';
import type { ToolDefinition } from '../../protocol/content/tools.ts';

// Maximum length in characters of the shape of one argument, and of the shape of all arguments.
const [longestPart, longestShape] = [200, 450];
const deepestPart = 4;
const maxValues = 8;

/**
 * Returns the arguments of a tool in one line: `fs.read takes {path: string, offset?: integer}.`
 * @param wrong names of arguments to render with their inner structure: `edits: [{oldText: string, newText: string}]`
 */
export function argumentShapeOf({ name, parameters }: ToolDefinition, wrong: readonly string[] = []): string {
  const required = new Set(parameters.required ?? []);
  const entries = Object.entries(parameters.properties ?? {}).map(([argument, schema]) => {
    const shape = wrong.includes(argument) ? partOf(schema, parameters) : wordOf(schema, parameters);
    return { argument, text: `${argument}${required.has(argument) ? '' : '?'}: ${shape}` };
  });
  const all = entries.map(({ text }) => text).join(', ');
  if (all.length <= longestShape) return `${name} takes {${all}}.`;
  const named = entries.filter(({ argument }) => wrong.includes(argument)).map(({ text }) => text);
  return `${name} takes {${[...named, '…'].join(', ').slice(0, longestShape)}}.`;
}

function partOf(schema: unknown, root: unknown): string {
  const shape = shapeIn(schema, root, 0);
  return shape.length <= longestPart ? shape : wordOf(schema, root);
}

function shapeIn(node: unknown, root: unknown, depth: number): string {
  const schema = isJsonSchema(node) && typeof node.$ref === 'string' ? resolveSchemaPointer(node.$ref, root) : node;
  if (!isJsonSchema(schema) || depth > deepestPart) return 'any';
  const { anyOf, oneOf, enum: values, const: only, type, items, properties } = schema;
  if (only !== undefined) return JSON.stringify(only);
  if (isNonEmptyArray(values)) {
    const shown = values.slice(0, maxValues).map((value) => JSON.stringify(value));
    return [...shown, ...(values.length > maxValues ? ['…'] : [])].join(' | ');
  }
  const alternatives = [anyOf, oneOf].find(isNonEmptyArray);
  if (alternatives) return alternatives.map((one) => shapeIn(one, root, depth + 1)).join(' | ');
  if (type === 'array') return `[${shapeIn(items, root, depth + 1)}]`;
  if (type === 'object' && isJsonSchema(properties)) {
    const required = new Set(Array.isArray(schema.required) ? schema.required : []);
    const parts = Object.entries(properties).map(
      ([name, one]) => `${name}${required.has(name) ? '' : '?'}: ${shapeIn(one, root, depth + 1)}`,
    );
    return `{${parts.join(', ')}}`;
  }
  return wordOf(schema, root);
}

function wordOf(node: unknown, root: unknown): string {
  const schema = isJsonSchema(node) && typeof node.$ref === 'string' ? resolveSchemaPointer(node.$ref, root) : node;
  return isJsonSchema(schema) && schema.type !== undefined ? [schema.type].flat().join(' | ') : 'any';
}
