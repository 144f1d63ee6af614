import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { fitText } from '../../protocol/text/shorten.ts';
/** Type in `state_schema` or `input_schema`: a Python name, or `{type, items, properties, …}`. `typeName` is the written form. */
export interface StateValueType {
  kind: 'any' | 'str' | 'int' | 'float' | 'bool' | 'list' | 'dict' | 'none' | 'union';
  typeName: string;
  items?: StateValueType;
  properties?: Record<string, StateValueType>;
  of?: StateValueType[];
  rules: Rules;
}

interface Rules {
  required?: boolean;
  default?: unknown;
  choices?: readonly unknown[];
  min?: number;
  max?: number;
  min_length?: number;
  max_length?: number;
  pattern?: string;
}

export function parseStateValueType(written: unknown): StateValueType | undefined {
  if (written === null || written === undefined) return { kind: 'any', typeName: 'any', rules: {} };
  if (typeof written === 'string') return parseType(written);
  if (Array.isArray(written)) return written.length > 1 ? undefined : listOf(parseStateValueType(written[0]));
  if (typeof written !== 'object') return undefined;
  const { type, items, properties, ...rules } = written as Record<string, unknown>;
  if (typeof type !== 'string') return propertiesOf(written as Record<string, unknown>);
  const parsed = parseType(type);
  const inner = items === undefined ? undefined : parseStateValueType(items);
  const own = typeof properties === 'object' && properties !== null ? propertiesOf(properties) : undefined;
  if (!parsed || (items !== undefined && !inner) || (properties !== undefined && !own)) return undefined;
  return { ...parsed, ...(inner && { items: inner }), ...(own && { properties: own.properties! }), rules };
}

/**
 * Returns the mismatch of a value as the end of a sentence (`has to be …, not …`) about `location`; undefined if the value fits. Null always
 * fits.
 */
export function stateTypeMismatch(
  type: StateValueType,
  value: unknown,
  location: string,
): LocalizedMessage | undefined {
  if (value === null || value === undefined) return undefined;
  if (!isOf(type, value)) return message('`{0}` must be `{1}`, not {2}', location, type.typeName, shown(value));
  const broken = brokenRule(type.rules, value, location);
  if (broken) return broken;
  if (type.items)
    for (const [index, item] of (value as unknown[]).entries()) {
      const inner = stateTypeMismatch(type.items, item, `${location}[${index}]`);
      if (inner) return inner;
    }
  for (const [key, property] of Object.entries(type.properties ?? {})) {
    const item = (value as Record<string, unknown>)[key];
    if (item === undefined && property.rules.required === true)
      return message('`{0}` is missing', `${location}.${key}`);
    const inner = stateTypeMismatch(property, item, `${location}.${key}`);
    if (inner) return inner;
  }
  return undefined;
}

/** Converts a text to the type; a text that cannot be converted is returned unchanged and does not fit. */
export function coerceToStateType(type: StateValueType, given: unknown): unknown {
  if (typeof given !== 'string') return given;
  const text = given.trim();
  switch (type.kind) {
    case 'int':
    case 'float':
      return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) && Number.isFinite(Number(text)) ? Number(text) : given;
    case 'bool':
      if (/^(true|yes|1|on)$/i.test(text)) return true;
      return /^(false|no|0|off)$/i.test(text) ? false : given;
    case 'list':
    case 'dict':
      return fromJson(text) ?? (type.kind === 'list' && !/^[[{]/.test(text) ? parts(text) : given);
    case 'union':
      return (
        type
          .of!.map((one) => coerceToStateType(one, given))
          .find((value) => stateTypeMismatch(type, value, '') === undefined) ?? given
      );
    default:
      return given;
  }
}

const names: Record<string, StateValueType['kind']> = {
  ...{ str: 'str', string: 'str', int: 'int', integer: 'int', float: 'float', number: 'float', double: 'float' },
  ...{ bool: 'bool', boolean: 'bool', list: 'list', array: 'list', tuple: 'list', set: 'list' },
  ...{ dict: 'dict', object: 'dict', map: 'dict', any: 'any', none: 'none', null: 'none' },
} as Record<string, StateValueType['kind']>;

/** Parses `int`, `list[str]`, `Optional[int]`, `dict[str, int]`, `str | None`. */
function parseType(written: string): StateValueType | undefined {
  const typeName = written.trim();
  const either = splitAt(typeName, '|');
  if (either.length > 1) return unionOf(typeName, either.map(parseType));
  const [, name = '', inside] = /^([A-Za-z]+)\s*(?:\[(.*)\])?$/s.exec(typeName) ?? [];
  const inner = inside === undefined ? [] : splitAt(inside, ',').map(parseType);
  if (inner.some((one) => one === undefined)) return undefined;
  if (/^optional$/i.test(name) && inner.length === 1) return unionOf(typeName, inner);
  if (/^union$/i.test(name) && inner.length > 0) return unionOf(typeName, inner);
  const kind = Object.hasOwn(names, name.toLowerCase()) ? names[name.toLowerCase()] : undefined;
  if (!kind) return undefined;
  return { kind, typeName, rules: {}, ...(kind === 'list' && inner.length === 1 && { items: inner[0]! }) };
}

function unionOf(typeName: string, of: (StateValueType | undefined)[]): StateValueType | undefined {
  return of.every((one) => one !== undefined) ? { kind: 'union', typeName, of, rules: {} } : undefined;
}

function listOf(items: StateValueType | undefined): StateValueType | undefined {
  return items && { kind: 'list', typeName: `list[${items.typeName}]`, items, rules: {} };
}

function propertiesOf(written: object): StateValueType | undefined {
  const entries = Object.entries(written).map(([key, one]) => [key, parseStateValueType(one)] as const);
  if (entries.some(([, one]) => one === undefined)) return undefined;
  return {
    kind: 'dict',
    typeName: 'dict',
    properties: Object.fromEntries(entries) as Record<string, StateValueType>,
    rules: {},
  };
}

function splitAt(text: string, sign: string): string[] {
  const pieces = [''];
  let depth = 0;
  for (const one of text) {
    if (one === '[') depth++;
    if (one === ']') depth--;
    if (one === sign && depth === 0) pieces.push('');
    else pieces[pieces.length - 1] += one;
  }
  return pieces;
}

function isOf(type: StateValueType, value: unknown): boolean {
  switch (type.kind) {
    case 'any':
      return true;
    case 'str':
      return typeof value === 'string';
    case 'int':
      return Number.isInteger(value);
    case 'float':
      return typeof value === 'number';
    case 'bool':
      return typeof value === 'boolean';
    case 'list':
      return Array.isArray(value);
    case 'dict':
      return typeof value === 'object' && !Array.isArray(value);
    case 'none':
      return false;
    case 'union':
      return type.of!.some((one) => stateTypeMismatch(one, value, '') === undefined);
  }
}

function brokenRule(
  { choices, min, max, min_length, max_length, pattern }: Rules,
  value: unknown,
  location: string,
): LocalizedMessage | undefined {
  const is = shown(value);
  const length = typeof value === 'string' || Array.isArray(value) ? value.length : undefined;
  if (Array.isArray(choices) && !choices.includes(value))
    return message('`{0}` must be one of {1}, but is {2}', location, choices.map(shown).join(', '), is);
  if (typeof value === 'number' && min !== undefined && value < min)
    return message('`{0}` must be at least {1}, but is {2}', location, min, is);
  if (typeof value === 'number' && max !== undefined && value > max)
    return message('`{0}` must be at most {1}, but is {2}', location, max, is);
  if (length !== undefined && min_length !== undefined && length < min_length)
    return message('`{0}` must have a length of at least {1}, but has {2}', location, min_length, is);
  if (length !== undefined && max_length !== undefined && length > max_length)
    return message('`{0}` must have a length of at most {1}, but has {2}', location, max_length, is);
  if (typeof value === 'string' && pattern !== undefined && !matches(pattern, value))
    return message('`{0}` must match {1}, but is {2}', location, pattern, is);
  return undefined;
}

/** Matches from the start like Python's `re.match`; an invalid pattern accepts every value. */
function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})`, 'u').test(value.slice(0, 10_000));
  } catch {
    return true;
  }
}

function shown(value: unknown): string {
  return fitText(JSON.stringify(value) ?? String(value), 60);
}

function fromJson(text: string): unknown {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' ? value : undefined;
  } catch {
    return undefined;
  }
}

const parts = (text: string): string[] => (text === '' ? [] : text.split(',').map((part) => part.trim()));
