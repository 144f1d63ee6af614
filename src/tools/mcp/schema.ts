import { runInNewContext } from 'node:vm';
import * as z from 'zod';
import type { JsonSchema } from '../../protocol/tools.ts';
import { visibleProse } from '../../protocol/visible.ts';
import type { Sdk } from './load.ts';

/** Characters of a description in the prompt, of a tool and of one argument; the schema's JSON; its depth. */
const descriptionLimit = 1000;
const argumentLimit = 300;
const schemaLimit = 6000;
const depthLimit = 10;
const itemLimit = 200;
/** Characters of a schema that is still compiled; a longer one is left to the server. */
const checkedLimit = 200_000;

/** What a server says about a tool is a stranger's text in the prompt: nothing hidden, nothing endless. */
export const cleanDescription = (text: string | undefined): string => cut(visibleProse(text ?? ''), descriptionLimit);

/** The schema for the prompt: an object's, cleaned and within limits; what is too large is told by its argument names. */
export function cleanSchema(schema: unknown): JsonSchema {
  const cleaned = (clean(schema, 0) ?? {}) as JsonSchema;
  delete cleaned.$schema;
  const whole = asObject(cleaned);
  if (JSON.stringify(whole).length <= schemaLimit) return whole;
  const names = Object.entries(whole.properties ?? {}).slice(0, 50);
  const shallow = names.map(([name, { type, description }]) => [
    name,
    { ...(type && { type }), ...(description && { description: cut(description, 80) }) },
  ]);
  const kept = new Set(names.map(([name]) => name));
  const required = (whole.required ?? []).filter((name) => kept.has(name));
  const flat = asObject({ properties: Object.fromEntries(shallow), required });
  return JSON.stringify(flat).length <= schemaLimit ? flat : { type: 'object' };
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

function clean(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cut(visibleProse(value), argumentLimit);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > depthLimit) return Array.isArray(value) ? [] : {};
  if (Array.isArray(value)) return value.slice(0, itemLimit).map((item) => clean(item, depth + 1));
  const entries = Object.entries(value).filter(([key]) => !/^(__proto__|constructor|prototype)$/.test(key));
  return Object.fromEntries(
    entries.slice(0, itemLimit).map(([key, item]) => [visibleProse(key), clean(item, depth + 1)]),
  );
}

const cut = (text: string, limit: number): string => (text.length > limit ? `${text.slice(0, limit - 1)}…` : text);

/** Deeper than any definition: whoever walks through it would not come back. */
export function isTooDeep(value: unknown, left = 100): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return left === 0 || Object.values(value).some((item) => isTooDeep(item, left - 1));
}

/** A stranger's schema can keep the editor busy for ever: it gets so many milliseconds, and is then left to the server. */
const patience = 500;

function inTime<Value>(work: () => Value): Value | undefined {
  try {
    return runInNewContext('work()', { work }, { timeout: patience });
  } catch {
    return undefined;
  }
}

type Compiled = (value: unknown) => { path: string; message: string }[];

/**
 * Arguments checked against a server's own schema. Left to the server: patterns and formats (a pattern from a stranger can
 * keep the editor busy for ever), and a schema that cannot be understood. Nothing is coerced, nothing is added.
 */
export function checkedBy(schema: unknown, sdk: Sdk): z.ZodType<Record<string, unknown>> {
  let compiled: Compiled | undefined;
  return z.record(z.string(), z.unknown()).superRefine((value, context) => {
    compiled ??= inTime(() => compile(schema, sdk)) ?? (() => []);
    const check = compiled;
    for (const { path, message } of inTime(() => check(value)) ?? [])
      context.addIssue({ code: 'custom', path: path === '' ? [] : [path], message });
  });
}

function compile(schema: unknown, { Ajv, Ajv2020 }: Sdk): Compiled {
  const json = JSON.stringify(schema);
  if (json === undefined || json.length > checkedLimit) return () => [];
  const plain = withoutPatterns(JSON.parse(json)) as Record<string, unknown>;
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
      return (value) => {
        if (validate(value)) return [];
        return (validate.errors ?? []).map(({ instancePath, message, params }) => ({
          path: instancePath.slice(1).replaceAll('/', '.'),
          message: `${message ?? 'does not fit'}${'additionalProperty' in params ? ` (${params.additionalProperty})` : ''}`,
        }));
      };
    } catch {} // a keyword of another draft, or a reference that leads nowhere
  }
  return () => [];
}

function withoutPatterns(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPatterns);
  if (typeof value !== 'object' || value === null) return value;
  const { pattern, patternProperties, ...rest } = value as Record<string, unknown>;
  // An argument may be called `pattern`: then its value is a schema.
  if (pattern !== undefined && typeof pattern !== 'string') rest.pattern = pattern;
  if (patternProperties !== undefined) delete rest.additionalProperties;
  return Object.fromEntries(Object.entries(rest).map(([key, item]) => [key, withoutPatterns(item)]));
}
