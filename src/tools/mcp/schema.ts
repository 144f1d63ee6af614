import * as z from 'zod';
import type { JsonSchema } from '../../protocol/content/tools.ts';
import { escapeInvisibleProse } from '../../protocol/text/escapeInvisible.ts';
import { fitText } from '../../protocol/text/shorten.ts';
import { runWithTimeout } from '../core/runWithTimeout.ts';
import { makeDefaultedOptional } from './config/defaults.ts';
import type { McpSdk } from './loadSdk.ts';

/** Limits in characters: a description, the end of a long description, other texts of the schema, and the schema's JSON. */
export interface SchemaTextLimits {
  description: number;
  end: number;
  text: number;
  schema: number;
}

/** Limits in the prompt, where each tool costs tokens; rules of use often are at the end of a description. */
export const mcpSchemaLimitsInPrompt: SchemaTextLimits = { description: 2000, end: 600, text: 300, schema: 6000 };
/** Limits in the prompt of a model with a large context window. */
export const mcpSchemaLimitsInLargePrompt: SchemaTextLimits = { ...mcpSchemaLimitsInPrompt, description: 3000 };
/** Limits in a search result: enough for all texts of well-known servers. */
export const mcpSchemaLimitsInSearch: SchemaTextLimits = {
  description: 20_000,
  end: 2000,
  text: 4000,
  schema: 30_000,
};

const depthLimit = 10;
const itemLimit = 200;
// Maximum characters of a schema to compile; the server checks longer schemas.
const checkedLimit = 200_000;

/**
 * Cleans third-party text for the prompt: no hidden characters, bounded length.
 * @param rest note about the omitted text
 */
export function cleanDescription(
  text: string | undefined,
  { description, end }: SchemaTextLimits = mcpSchemaLimitsInPrompt,
  rest = "; mcp.search_tools with this tool's name tells them",
): string {
  const whole = escapeInvisibleProse(text ?? '');
  if (whole.length <= description) return whole;
  const mark = (left: number) => ` … (left out: ${left} characters${rest}) … `;
  const begin = description - end - mark(whole.length).length;
  return whole.slice(0, begin) + mark(whole.length - begin - end) + whole.slice(-end);
}

/** Cleans the schema for the prompt within limits; a schema above the limit is reduced to argument names. */
export function cleanSchema(
  schema: unknown,
  { text, schema: most }: SchemaTextLimits = mcpSchemaLimitsInPrompt,
): JsonSchema {
  const cleaned = (clean(schema, 0, text) ?? {}) as JsonSchema;
  delete cleaned.$schema;
  const whole = asObject(makeDefaultedOptional(cleaned) as JsonSchema);
  if (JSON.stringify(whole).length <= most) return whole;
  const names = Object.entries(whole.properties ?? {}).slice(0, 50);
  const shallow = names.map(([name, { type, description }]) => [
    name,
    { ...(type && { type }), ...(description && { description: fitText(description, 80) }) },
  ]);
  const retained = new Set(names.map(([name]) => name));
  const required = (whole.required ?? []).filter((name) => retained.has(name));
  const flat = asObject({ properties: Object.fromEntries(shallow), required });
  return JSON.stringify(flat).length <= most ? flat : { type: 'object' };
}

function asObject(schema: JsonSchema): JsonSchema {
  const { properties, required, ...rest } = schema;
  const isMap = typeof properties === 'object' && properties !== null && !Array.isArray(properties);
  const schemas = Object.entries(isMap ? properties : {}).flatMap(([name, value]) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return [[name, value] as const];
    return (value as unknown) === true ? [[name, {}] as const] : [];
  });
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  return {
    ...rest,
    type: 'object',
    properties: Object.fromEntries(schemas),
    ...(names.length > 0 && { required: names }),
  };
}

function clean(value: unknown, depth: number, most: number): unknown {
  if (typeof value === 'string') return fitText(escapeInvisibleProse(value), most);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > depthLimit) return Array.isArray(value) ? [] : {};
  if (Array.isArray(value)) return value.slice(0, itemLimit).map((item) => clean(item, depth + 1, most));
  const entries = Object.entries(value).filter(([key]) => !/^(__proto__|constructor|prototype)$/.test(key));
  return Object.fromEntries(
    entries.slice(0, itemLimit).map(([key, item]) => [escapeInvisibleProse(key), clean(item, depth + 1, most)]),
  );
}

/** Tests for nesting beyond any real definition, which would overflow a recursion. */
export function isNestedTooDeep(value: unknown, left = 100): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return left === 0 || Object.values(value).some((item) => isNestedTooDeep(item, left - 1));
}

type Check = (value: unknown) => { path: string; message: string }[];

/** `canBeLong`: a check may take longer than its schema and its value are long. */
interface CompiledSchema {
  check: Check;
  canBeLong: boolean;
}

// Patterns are left out before. References can repeat a part of the schema any number of times, and distinct items are compared in pairs.
const longKeywords = /"(\$ref|\$dynamicRef|\$recursiveRef|uniqueItems)"/;
const unchecked: CompiledSchema = { check: () => [], canBeLong: false };

/**
 * Checks arguments against a server's schema. Left to the server: patterns and formats (a third-party pattern can block the editor),
 * invalid schemas, and missing arguments with a default. Nothing is coerced or added.
 */
export function createArgumentsValidator(schema: unknown, sdk: McpSdk): z.ZodType<Record<string, unknown>> {
  let compiled: CompiledSchema | undefined;
  return z.record(z.string(), z.unknown()).superRefine((value, context) => {
    compiled ??= runWithTimeout(() => compile(schema, sdk)) ?? unchecked;
    const { check, canBeLong } = compiled;
    for (const { path, message } of canBeLong ? (runWithTimeout(() => check(value)) ?? []) : check(value))
      context.addIssue({ code: 'custom', path: path === '' ? [] : [path], message });
  });
}

function compile(schema: unknown, { Ajv, Ajv2020 }: McpSdk): CompiledSchema {
  const json = JSON.stringify(schema);
  if (json === undefined || json.length > checkedLimit) return unchecked;
  const plain = makeDefaultedOptional(withoutPatterns(JSON.parse(json))) as Record<string, unknown>;
  const isOld = /draft-0[4-7]/.test(String(plain.$schema));
  delete plain.$schema;
  for (const Compiler of isOld ? [Ajv, Ajv2020] : [Ajv2020, Ajv]) {
    try {
      const options = {
        strict: false,
        meta: false,
        validateSchema: false,
        validateFormats: false,
        logger: false,
      } as const;
      const validate = new Compiler(options).compile(plain);
      const check: Check = (value) => {
        if (validate(value)) return [];
        return (validate.errors ?? []).map(({ instancePath, message, params }) => ({
          path: instancePath.slice(1).replaceAll('/', '.'),
          message: `${message ?? 'does not fit'}${'additionalProperty' in params ? ` (${params.additionalProperty})` : ''}`,
        }));
      };
      return { check, canBeLong: longKeywords.test(json) };
    } catch {} // a keyword of another draft, or a broken reference
  }
  return unchecked;
}

function withoutPatterns(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPatterns);
  if (typeof value !== 'object' || value === null) return value;
  const { pattern, patternProperties, ...rest } = value as Record<string, unknown>;
  // An argument may be named `pattern`; then its value is a schema.
  if (pattern !== undefined && typeof pattern !== 'string') rest.pattern = pattern;
  if (patternProperties !== undefined) delete rest.additionalProperties;
  return Object.fromEntries(Object.entries(rest).map(([key, item]) => [key, withoutPatterns(item)]));
}
