import { isJsonObject } from '../forms/messageForms.ts';
import { isLoopbackHost } from '../oauth/signInFetch.ts';

// Field of a form. `choices` are the allowed values with their labels; `isMany`: several may be chosen.
interface ElicitationField {
  name: string;
  title: string;
  description?: string;
  type: 'string' | 'number' | 'integer' | 'boolean';
  isRequired: boolean;
  choices?: readonly { value: string; label: string }[];
  isMany?: true;
  default?: ElicitationValue;
  /** Limits of a number, of the length of a text, or of the number of choices. */
  min?: number;
  max?: number;
  format?: string;
}

export type ElicitationValue = string | number | boolean | readonly string[];

/** Question of a server to the user during a call. */
export type ElicitationRequest =
  | { mode: 'form'; message: string; fields: readonly ElicitationField[] }
  | { mode: 'url'; message: string; url: string };

export type ElicitationAnswer =
  | { action: 'accept'; content?: Record<string, ElicitationValue> }
  | { action: 'decline' | 'cancel' };

/** Asks the user. The answer to a form is checked and completed with defaults afterwards. */
export type ElicitationHandler = (request: ElicitationRequest, signal: AbortSignal) => Promise<ElicitationAnswer>;

type Json = Record<string, unknown>;

const maxFields = 20;
const secret =
  /pass(word|wort|phrase|code)|kennwort|secret|token|credential|api[ _-]?key|private[ _-]?key|access[ _-]?key|\bpin\b|\bcvv\b|card[ _-]?number|one[ _-]?time|\b2fa\b|\botp\b/i;

/** Returns the question; undefined if Towpath cannot show it. */
export function parseElicitation(params: Json): ElicitationRequest | undefined {
  const { mode = 'form', message, url, requestedSchema } = params;
  if (typeof message !== 'string') return undefined;
  if (mode === 'url') return typeof url === 'string' && isSafeAddress(url) ? { mode, message, url } : undefined;
  if (mode !== 'form' || !isJsonObject(requestedSchema) || !isJsonObject(requestedSchema.properties)) return undefined;
  const required = Array.isArray(requestedSchema.required) ? requestedSchema.required : [];
  const properties = Object.entries(requestedSchema.properties);
  const fields = properties.flatMap(([name, schema]) => {
    const field = isJsonObject(schema) ? fieldOf(name, schema, required.includes(name)) : undefined;
    return field ? [field] : [];
  });
  return fields.length < properties.length || fields.length > maxFields ? undefined : { mode, message, fields };
}

// An address to open in a browser: encrypted, or on this machine.
function isSafeAddress(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}

/** Returns the first field that asks for a secret, which must not pass through a form. */
export const secretField = (fields: readonly ElicitationField[]): ElicitationField | undefined =>
  fields.find(({ name, title, description = '', format = '' }) =>
    [name.replace(/([a-z])([A-Z])/g, '$1 $2'), title, description, format].some((text) => secret.test(text)),
  );

function fieldOf(name: string, schema: Json, isRequired: boolean): ElicitationField | undefined {
  const { title, description, type, format } = schema;
  const isMany = type === 'array';
  if (!isMany && !['string', 'number', 'integer', 'boolean'].includes(type as string)) return undefined;
  const choices = choicesOf(isMany ? (schema.items as Json) : schema);
  if (isMany && !choices) return undefined;
  const [min, max] = [
    schema.minimum ?? schema.minLength ?? schema.minItems,
    schema.maximum ?? schema.maxLength ?? schema.maxItems,
  ];
  const field: ElicitationField = {
    name,
    title: typeof title === 'string' && title !== '' ? title : name,
    ...(typeof description === 'string' && { description }),
    type: isMany ? 'string' : (type as ElicitationField['type']),
    isRequired,
    ...(choices && { choices }),
    ...(isMany && { isMany }),
    ...(typeof min === 'number' && { min }),
    ...(typeof max === 'number' && { max }),
    ...(typeof format === 'string' && { format }),
  };
  const given = schema.default as ElicitationValue | undefined;
  const isUsable = given !== undefined && given !== null && fieldProblem(field, given) === undefined;
  return isUsable ? { ...field, default: given } : field;
}

function choicesOf(schema: unknown): ElicitationField['choices'] | undefined {
  if (!isJsonObject(schema)) return undefined;
  const { enum: list, enumNames, oneOf, anyOf } = schema;
  if (Array.isArray(list)) {
    const names: unknown[] = Array.isArray(enumNames) ? enumNames : [];
    return list.map((value, index) => ({ value: String(value), label: String(names[index] ?? value) }));
  }
  const titled = oneOf ?? anyOf;
  if (!Array.isArray(titled)) return undefined;
  return titled.flatMap((one) =>
    isJsonObject(one) && typeof one.const === 'string'
      ? [{ value: one.const, label: String(one.title ?? one.const) }]
      : [],
  );
}

// What is wrong with a value; `limit` is the violated limit.
interface ElicitationProblem {
  kind: 'missing' | 'type' | 'choice' | 'min' | 'max' | 'format';
  limit?: number;
}

/** Tests a value against its field; undefined if it fits. */
export function fieldProblem(
  field: ElicitationField,
  value: ElicitationValue | undefined,
): ElicitationProblem | undefined {
  if (value === undefined) return field.isRequired ? { kind: 'missing' } : undefined;
  const allowed = field.choices?.map((choice) => choice.value);
  if (field.isMany) {
    if (!Array.isArray(value)) return { kind: 'type' };
    return value.every((one) => allowed!.includes(one)) ? limitProblem(field, value.length) : { kind: 'choice' };
  }
  const isInteger = field.type === 'integer';
  const type = isInteger ? 'number' : field.type;
  if (typeof value !== type || (isInteger && !Number.isInteger(value))) return { kind: 'type' };
  if (typeof value === 'number') return Number.isFinite(value) ? limitProblem(field, value) : { kind: 'type' };
  if (typeof value !== 'string') return undefined;
  if (allowed) return allowed.includes(value) ? undefined : { kind: 'choice' };
  const form = Object.hasOwn(formats, field.format ?? '') ? formats[field.format!] : undefined;
  if (form && !form(value)) return { kind: 'format' };
  return limitProblem(field, value.length);
}

const formats: Record<string, (text: string) => boolean> = {
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => URL.canParse(text),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  'date-time': (text) => /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text)),
};

function limitProblem({ min, max }: ElicitationField, size: number): ElicitationProblem | undefined {
  if (min !== undefined && size < min) return { kind: 'min', limit: min };
  if (max !== undefined && size > max) return { kind: 'max', limit: max };
  return undefined;
}

/** Returns the content to send, with defaults for absent values; undefined if a value does not fit its field. */
export function elicitationContent(
  fields: readonly ElicitationField[],
  given: Record<string, ElicitationValue> = {},
): Record<string, ElicitationValue> | undefined {
  const filled = fields.map((field) => {
    const value = Object.hasOwn(given, field.name) ? given[field.name] : field.default;
    return { field, value };
  });
  if (filled.some(({ field, value }) => fieldProblem(field, value) !== undefined)) return undefined;
  return Object.fromEntries(filled.flatMap(({ field, value }) => (value === undefined ? [] : [[field.name, value]])));
}
