import {
  additionalPropertySchema,
  isJsonSchema,
  isNonEmptyArray,
  maxSchemaDepth,
  mergeAllOf,
  requiredSchemaKeys,
  resolveSchemaPointer,
} from '../../protocol/content/schemaParts.ts';
import type { JsonSchema } from '../../protocol/content/tools.ts';
import { isUnambiguousJson } from '../../protocol/values/jsonText.ts';
import { maxJsonAnswerLength, parseLimitedJson } from './parseLimits.ts';

type Arguments = Record<string, unknown>;

const wrappers = ['arguments', 'args', 'input', 'parameters', 'params'];

// Budget of visited values and schema parts for a call: nested alternatives could grow without end.
const maxSteps = 500_000;
const charactersPerStep = 64;

/**
 * Returns the possible meanings of arguments that a tool's JSON schema refuses. Only lossless changes are tried:
 *
 * - `null` for an absent optional value
 * - JSON text, encoded once or twice, for an object or a list
 * - one object for a list of one
 * - a number or a boolean as text, if the schema allows no text
 * - a wrapper object that the schema does not know
 *
 * Text that the schema accepts stays text. The caller still has to check each reading; more than one valid reading counts as none.
 */
export function interpretArguments(given: Arguments, schema: unknown): Arguments[] {
  try {
    const reader = new Reader(schema);
    const inner = reader.unwrapped(given);
    return [given, ...(inner ? [inner] : [])].map((one) => reader.read(one, schema) as Arguments);
  } catch (error) {
    if (error instanceof TooManySteps) return [];
    throw error;
  }
}

class TooManySteps extends Error {}

type Kind = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

/**
 * Facts about a schema, computed once because many values can share the schema. `isWhole`: numbers must be integers. `others` is the schema
 * of properties without an entry in `properties`. `fixed` holds the values of `enum` and `const`.
 */
interface SchemaFacts {
  alternatives?: readonly JsonSchema[];
  kinds?: ReadonlySet<Kind>;
  fixed?: ReadonlySet<unknown>;
  isWhole: boolean;
  properties: Record<string, unknown>;
  required: ReadonlySet<string>;
  others: unknown;
  prefix: readonly unknown[];
  items: unknown;
}

class Reader {
  private steps = maxSteps;
  private readonly parts = new Map<object, SchemaFacts | undefined>();

  constructor(private readonly root: unknown) {}

  unwrapped(given: Arguments): Arguments | undefined {
    const [key, ...others] = Object.keys(given);
    if (key === undefined || others.length > 0 || !wrappers.includes(key) || this.declares(key)) return undefined;
    const value = given[key];
    const inner = typeof value === 'string' ? this.valueIn(value) : value;
    return isObject(inner) ? inner : undefined;
  }

  read(value: unknown, node: unknown, depth = 0): unknown {
    this.spend(1);
    const schema = this.partsOf(node);
    if (!schema || depth > maxSchemaDepth) return value;
    const { alternatives, kinds } = schema;
    if (alternatives) return this.readAlternatives(value, alternatives, depth);
    if (typeof value === 'string')
      return !kinds || kinds.has('string') ? value : this.readText(value, node, kinds, depth);
    if (Array.isArray(value)) return !kinds || kinds.has('array') ? this.readList(value, schema, depth) : value;
    if (!isObject(value)) return value;
    if (!kinds || kinds.has('object')) return this.readObject(value, schema, depth);
    return kinds.has('array') ? this.readList([value], schema, depth) : value;
  }

  private readAlternatives(value: unknown, alternatives: readonly JsonSchema[], depth: number): unknown {
    if (alternatives.some((one) => this.fits(value, one, depth))) return value;
    const readings: unknown[] = [];
    for (const one of alternatives) {
      const reading = this.read(value, one, depth + 1);
      if (this.fits(reading, one, depth) && !readings.some((known) => this.isSame(known, reading)))
        readings.push(reading);
    }
    return readings.length === 1 ? readings[0] : value;
  }

  private readText(text: string, node: unknown, kinds: ReadonlySet<Kind>, depth: number): unknown {
    if (kinds.has('object') || kinds.has('array')) {
      const value = this.valueIn(text);
      const isWanted = Array.isArray(value) ? kinds.has('array') : isObject(value);
      if (isWanted) return this.read(value, node, depth + 1);
    }
    const plain = text.trim();
    if (kinds.has('boolean') && (plain === 'true' || plain === 'false')) return plain === 'true';
    return kinds.has('number') ? (numberIn(plain) ?? text) : text;
  }

  private readList(list: readonly unknown[], { prefix, items }: SchemaFacts, depth: number): unknown[] {
    return list.map((item, index) => this.read(item, index < prefix.length ? prefix[index] : items, depth + 1));
  }

  private readObject(value: Arguments, { properties, required, others }: SchemaFacts, depth: number): Arguments {
    const isAbsent = ([name, item]: [string, unknown]) =>
      item === null &&
      Object.hasOwn(properties, name) &&
      (!required.has(name) || hasDefault(this.follow(properties[name]))) &&
      !this.fits(null, properties[name], depth);
    const present = Object.entries(value).filter((entry) => !isAbsent(entry));
    return Object.fromEntries(
      present.map(([name, item]) => {
        const property = Object.hasOwn(properties, name) ? properties[name] : others;
        return [name, this.read(item, property, depth + 1)];
      }),
    );
  }

  private fits(value: unknown, node: unknown, depth: number): boolean {
    this.spend(1);
    if (node === false) return false;
    const schema = this.partsOf(node);
    if (!schema || depth > maxSchemaDepth) return true;
    const { alternatives, kinds, fixed, isWhole, properties, required, others, prefix, items } = schema;
    if (alternatives) return alternatives.some((one) => this.fits(value, one, depth + 1));
    if (kinds && !kinds.has(kindOf(value))) return false;
    if (isWhole && typeof value === 'number' && !Number.isInteger(value)) return false;
    if (Array.isArray(value)) return prefix.length > 0 || value.every((item) => this.fits(item, items, depth + 1));
    if (!isObject(value)) return !fixed || fixed.has(value);
    this.spend(required.size);
    return (
      [...required].every((name) => Object.hasOwn(value, name)) &&
      Object.entries(value).every(([name, item]) =>
        this.fits(item, Object.hasOwn(properties, name) ? properties[name] : others, depth + 1),
      )
    );
  }

  private isSame(one: unknown, other: unknown): boolean {
    this.spend(1);
    if (Array.isArray(one) && Array.isArray(other))
      return one.length === other.length && one.every((item, index) => this.isSame(item, other[index]));
    if (!isObject(one) || !isObject(other)) return one === other;
    const names = Object.keys(one);
    return (
      names.length === Object.keys(other).length &&
      names.every((name) => Object.hasOwn(other, name) && this.isSame(one[name], other[name]))
    );
  }

  private partsOf(node: unknown): SchemaFacts | undefined {
    if (!isJsonSchema(node)) return undefined;
    if (!this.parts.has(node)) {
      const schema = this.follow(node);
      this.parts.set(node, schema && this.split(schema));
    }
    return this.parts.get(node);
  }

  private split(schema: JsonSchema): SchemaFacts {
    const { anyOf, oneOf, prefixItems, additionalItems, additionalProperties, patternProperties } = schema;
    const list = isNonEmptyArray(anyOf) ? anyOf : isNonEmptyArray(oneOf) ? oneOf : undefined;
    const { anyOf: _, oneOf: __, ...rest } = schema;
    const alternatives = list?.map((one): JsonSchema => ({ allOf: [rest, one] }));
    const properties = isJsonSchema(schema.properties) ? schema.properties : {};
    const required = requiredSchemaKeys(schema);
    const fixed = fixedValues(schema);
    this.spend(Object.keys(properties).length + required.size + (fixed?.length ?? 0));
    const [pattern] = additionalPropertySchema({ patternProperties });
    const isTuple = Array.isArray(schema.items);
    return {
      ...(alternatives && { alternatives }),
      ...(kindsOf(schema, fixed) && { kinds: kindsOf(schema, fixed) }),
      ...(fixed && { fixed: new Set(fixed) }),
      isWhole: isWholeOnly(schema),
      properties,
      required,
      others: pattern ?? additionalProperties,
      prefix: [prefixItems, schema.items].find(Array.isArray) ?? [],
      items: isTuple ? additionalItems : schema.items,
    };
  }

  private follow(node: unknown): JsonSchema | undefined {
    let at = node;
    for (let hop = 0; hop < maxSchemaDepth; hop++) {
      if (!isJsonSchema(at)) return undefined;
      const { $ref, ...rest }: JsonSchema = at;
      if (typeof $ref === 'string') {
        const target = resolveSchemaPointer($ref, this.root);
        if (!isJsonSchema(target)) return undefined;
        at = { ...target, ...rest };
      } else if (isNonEmptyArray(at.allOf)) {
        for (const part of at.allOf)
          this.spend(1 + (isJsonSchema(part) ? Object.keys(part.properties ?? {}).length : 0));
        at = mergeAllOf(at, this.root);
      } else return at;
    }
    return undefined;
  }

  private declares(name: string): boolean {
    const schema = this.partsOf(this.root);
    const alternatives = (schema?.alternatives ?? []).map((one) => this.partsOf(one));
    return [schema, ...alternatives].some((one) => one !== undefined && Object.hasOwn(one.properties, name));
  }

  private valueIn(text: string): unknown {
    let value: unknown = text;
    for (let times = 0; times < 2 && typeof value === 'string'; times++) {
      this.spend(Math.ceil(value.length / charactersPerStep));
      value = jsonIn(value);
    }
    return typeof value === 'object' && value !== null ? value : undefined;
  }

  private spend(steps: number): void {
    this.steps -= steps;
    if (this.steps < 0) throw new TooManySteps();
  }
}

function fixedValues({ enum: values, const: only }: JsonSchema): unknown[] | undefined {
  if (only !== undefined) return [only];
  return Array.isArray(values) ? values : undefined;
}

function kindsOf({ type, nullable }: JsonSchema, values: readonly unknown[] | undefined): Set<Kind> | undefined {
  const named = type === undefined ? undefined : [type].flat().map((one) => (one === 'integer' ? 'number' : one));
  const fixed = values?.map(kindOf);
  const kinds = named && fixed ? fixed.filter((kind) => named.includes(kind)) : (named ?? fixed);
  return kinds && new Set([...kinds, ...(nullable === true ? ['null'] : [])] as Kind[]);
}

const isWholeOnly = ({ type }: JsonSchema): boolean => {
  const types = [type].flat();
  return types.includes('integer') && !types.includes('number');
};

const hasDefault = (schema: JsonSchema | undefined): boolean =>
  schema !== undefined && Object.hasOwn(schema, 'default');

function kindOf(value: unknown): Kind {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : (typeof value as Kind);
}

function jsonIn(text: string): unknown {
  if (!/^\s*[{["]/.test(text)) return undefined;
  try {
    const value = parseLimitedJson(text, maxJsonAnswerLength);
    return isUnambiguousJson(text) ? value : undefined;
  } catch {
    return undefined;
  }
}

// Returns the number that a text represents, if the text is a JSON number and no digit is lost.
function numberIn(text: string): number | undefined {
  if (text.length > 400 || !/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d{1,4})?$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) && digitsOf(text) === digitsOf(String(value)) ? value : undefined;
}

function digitsOf(text: string): string {
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)!;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const short = digits.replace(/0+$/, '');
  return short === '' ? '0' : `${sign}${short}e${Number(exponent) - fraction.length + digits.length - short.length}`;
}

const isObject = (value: unknown): value is Arguments =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
