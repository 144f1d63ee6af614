import { createHash } from 'node:crypto';
import { message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';
import { maxJsonAnswerLength, parseLimitedJson } from '../../tools/core/parseLimits.ts';
import { quoteArguments } from '../../tools/shell/quote.ts';
import {
  createTemplateFloat,
  createTemplateList,
  isEmptyTemplateValue,
  isTemplateList,
  isTemplateMap,
  isUndefinedTemplateValue,
  itemsOfTemplateList,
  type TemplateValue,
  templateMapEntries,
  templateValueData,
  templateValueKind,
  toTemplateValue,
} from './values.ts';

export interface TemplateFilterInput {
  args: readonly TemplateValue[];
  named: ReadonlyMap<string, TemplateValue>;
  filter(name: string, value: TemplateValue, args: readonly TemplateValue[]): TemplateValue;
  /** Returns true if a value passes a test. Throws for an unknown test. */
  test(name: string, value: TemplateValue, args: readonly TemplateValue[]): boolean;
}
type Filter = (value: TemplateValue, given: TemplateFilterInput) => TemplateValue;

/** Filters of Jinja that the interpreter lacks or implements partially, and filters of the dialect. */
export const extraTemplateFilters: Record<string, Filter> = {
  fromjson: (value) => toTemplateValue(parseLimitedJson(textOf(value), maxJsonAnswerLength)),
  sha256: (value) => toTemplateValue(createHash('sha256').update(textOf(value)).digest('hex')),
  quote: (value) => toTemplateValue(quoteArguments(scalarsOf(value))),
  urlencode: (value) =>
    toTemplateValue(isTemplateMap(value) ? query(value) : encodeURIComponent(printed(value)).replaceAll('%2F', '/')),
  truncate: (value, given) => toTemplateValue(truncated(textOf(value), given)),
  wordcount: (value) => toTemplateValue(textOf(value).match(/[\p{L}\p{N}_]+/gu)?.length ?? 0),
  join(value, given) {
    const [separator, attribute] = [argument(given, 0, 'd'), argument(given, 1, 'attribute')];
    const items = sequence(value).map((item) => (attribute ? attributeOf(item, attribute) : item));
    return toTemplateValue(items.map(printed).join(separator ? printed(separator) : ''));
  },
  first: (value) => sequence(partOf(value, 0, 2))[0] ?? toTemplateValue(undefined),
  last: (value) => sequence(partOf(value, -2)).at(-1) ?? toTemplateValue(undefined),
  list: (value) => createTemplateList(sequence(value)),
  sum(value, given) {
    const attribute = argument(given, 0, 'attribute');
    const numbers = [argument(given, 1, 'start') ?? toTemplateValue(0), ...picked(value, attribute)];
    for (const one of numbers)
      if (!isNumber(one))
        throw new UserFacingError(message('`sum` adds numbers, but there is {0}', templateValueKind(one)));
    const total = numbers.reduce((sum, one) => sum + Number(one.value), 0);
    return numbers.some(({ type }) => type === 'FloatValue') ? createTemplateFloat(total) : toTemplateValue(total);
  },
  min: (value, given) => outermost('min', value, given, -1),
  max: (value, given) => outermost('max', value, given, 1),
  round(value, given) {
    if (!isNumber(value))
      throw new UserFacingError(message('`round` takes a number, not {0}', templateValueKind(value)));
    const precision = Number(argument(given, 0, 'precision')?.value ?? 0);
    const method = String(argument(given, 1, 'method')?.value ?? 'common');
    if (!Number.isInteger(precision) || Math.abs(precision) > 15)
      throw new UserFacingError(message('`round` takes at most 15 digits'));
    const number = Number(value.value);
    if (method === 'common') return createTemplateFloat(rounded(number, precision));
    if (method !== 'ceil' && method !== 'floor')
      throw new UserFacingError(message('`round` knows `common`, `ceil` and `floor`'));
    return createTemplateFloat(Math[method](number * 10 ** precision) / 10 ** precision);
  },
  groupby(value, given) {
    const attribute = needed(given, 'groupby');
    const groups = new Map<string, [TemplateValue, TemplateValue[]]>();
    for (const item of sequence(value)) {
      const key = attributeOf(item, attribute);
      const group = groups.get(JSON.stringify(templateValueData(key)));
      if (group) group[1].push(item);
      else groups.set(JSON.stringify(templateValueData(key)), [key, [item]]);
    }
    const pairs = [...groups.values()].map(([key, items]) => createTemplateList([key, createTemplateList(items)]));
    return given.filter('sort', createTemplateList(pairs), [
      toTemplateValue(false),
      toTemplateValue(false),
      toTemplateValue(0),
    ]);
  },
  map(value, given) {
    const attribute = given.named.get('attribute');
    if (attribute) {
      const missing = given.named.get('default');
      const found = sequence(value).map((item) => attributeOf(item, attribute));
      return createTemplateList(found.map((one) => (isUndefinedTemplateValue(one) && missing ? missing : one)));
    }
    const [name, ...args] = given.args;
    if (name?.type !== 'StringValue')
      throw new UserFacingError(message('`map` takes the name of a filter, or `attribute="…"`'));
    return createTemplateList(sequence(value).map((item) => given.filter(String(name.value), item, args)));
  },
  select: (value, given) => createTemplateList(sequence(value).filter((item) => passes(item, given.args, given))),
  reject: (value, given) => createTemplateList(sequence(value).filter((item) => !passes(item, given.args, given))),
  selectattr: (value, given) =>
    createTemplateList(sequence(value).filter((item) => attributePasses(item, 'selectattr', given))),
  rejectattr: (value, given) =>
    createTemplateList(sequence(value).filter((item) => !attributePasses(item, 'rejectattr', given))),
};

type Test = (value: TemplateValue, other: TemplateValue) => boolean;
const ordered =
  (holds: (order: number) => boolean): Test =>
  (one, other) =>
    holds(compare(one, other));

/** Tests of Jinja with one argument, missing in the interpreter: `is divisibleby(3)`, `selectattr("n", "ge", 3)`. */
export const extraTemplateTests: Record<string, Test> = {
  divisibleby: (value, other) => Number(value.value) % Number(other.value) === 0,
  sameas: (value, other) => value.type === other.type && areTemplateValuesEqual(value, other),
  eq: areTemplateValuesEqual,
  equalto: areTemplateValuesEqual,
  ne: (value, other) => !areTemplateValuesEqual(value, other),
  ...{ lt: ordered((order) => order < 0), lessthan: ordered((order) => order < 0), le: ordered((order) => order <= 0) },
  ...{
    gt: ordered((order) => order > 0),
    greaterthan: ordered((order) => order > 0),
    ge: ordered((order) => order >= 0),
  },
  in: (value, other) =>
    other.type === 'StringValue'
      ? textOf(other).includes(textOf(value))
      : sequence(other).some((one) => areTemplateValuesEqual(one, value)),
};

/** Compares like the interpreter's `==`, and lists and maps by content. */
export function areTemplateValuesEqual(one: TemplateValue, other: TemplateValue): boolean {
  if (isTemplateList(one) && isTemplateList(other)) {
    const [items, others] = [itemsOfTemplateList(one), itemsOfTemplateList(other)];
    return items.length === others.length && items.every((item, index) => areTemplateValuesEqual(item, others[index]!));
  }
  if (isTemplateMap(one) && isTemplateMap(other)) {
    const [entries, others] = [templateMapEntries(one), new Map(templateMapEntries(other))];
    return (
      entries.length === others.size &&
      entries.every(([key, item]) => others.has(key) && areTemplateValuesEqual(item, others.get(key)!))
    );
  }
  // biome-ignore lint/suspicious/noDoubleEquals: as the interpreter compares
  return one.value == other.value;
}

function compare(one: TemplateValue, other: TemplateValue): number {
  const [a, b] = [one, other].map((value) => (isNumber(value) ? Number(value.value) : value.value));
  if (typeof a !== typeof b || (typeof a !== 'number' && typeof a !== 'string'))
    throw new UserFacingError(
      message('{0} and {1} cannot be ordered', templateValueKind(one), templateValueKind(other)),
    );
  return a === b ? 0 : (a as number) < (b as number) ? -1 : 1;
}

const isNumber = ({ type }: TemplateValue) => ['IntegerValue', 'FloatValue', 'BooleanValue'].includes(type);

const argument = ({ args, named }: TemplateFilterInput, index: number, name: string): TemplateValue | undefined => {
  const given = args[index] ?? named.get(name);
  return given && isEmptyTemplateValue(given) ? undefined : given;
};

function needed(given: TemplateFilterInput, filter: string): TemplateValue {
  const attribute = argument(given, 0, 'attribute');
  if (!attribute) throw new UserFacingError(message('`{0}` takes the name of a key', filter));
  return attribute;
}

/** Returns a part of a text with its first or last character, which may have two UTF-16 units. */
const partOf = (value: TemplateValue, from: number, to?: number): TemplateValue =>
  value.type === 'StringValue' ? toTemplateValue(textOf(value).slice(from, to)) : value;

/** Maximum characters of an iterated text: each character is a value. */
const longestSequence = 10_000;

function sequence(value: TemplateValue): TemplateValue[] {
  if (isTemplateList(value)) return itemsOfTemplateList(value);
  if (value.type === 'StringValue' && textOf(value).length > longestSequence)
    throw new UserFacingError(
      message('a text of more than {0} characters cannot be iterated: `split` it', longestSequence),
    );
  if (value.type === 'StringValue') return Array.from(textOf(value), toTemplateValue);
  if (isTemplateMap(value)) return templateMapEntries(value).map(([key]) => toTemplateValue(key));
  throw new UserFacingError(message('this takes a list, not {0}', templateValueKind(value)));
}

function attributeOf(item: TemplateValue, attribute: TemplateValue): TemplateValue {
  let value = item;
  for (const part of printed(attribute).split('.')) {
    const next = isTemplateMap(value)
      ? (value.value as Map<string, TemplateValue>).get(part)
      : isTemplateList(value)
        ? itemsOfTemplateList(value)[Number(part)]
        : undefined;
    if (!next) return toTemplateValue(undefined);
    value = next;
  }
  return value;
}

const picked = (value: TemplateValue, attribute: TemplateValue | undefined): TemplateValue[] =>
  sequence(value).map((item) => (attribute ? attributeOf(item, attribute) : item));

function outermost(name: string, value: TemplateValue, given: TemplateFilterInput, sign: 1 | -1): TemplateValue {
  const attribute = given.named.get('attribute');
  const exact = argument(given, 0, 'case_sensitive')?.value === true;
  const key = (item: TemplateValue) => {
    const one = attribute ? attributeOf(item, attribute) : item;
    if (isEmptyTemplateValue(one))
      throw new UserFacingError(
        message('`{0}` compares numbers or texts, but there is {1}', name, templateValueKind(one)),
      );
    return one.type === 'StringValue' && !exact ? toTemplateValue(textOf(one).toLowerCase()) : one;
  };
  const items = sequence(value);
  return items.reduce<TemplateValue>(
    (best, item) => (isUndefinedTemplateValue(best) || compare(key(item), key(best)) * sign > 0 ? item : best),
    toTemplateValue(undefined),
  );
}

function passes(value: TemplateValue, [name, ...args]: readonly TemplateValue[], given: TemplateFilterInput): boolean {
  return name ? given.test(printed(name), value, args) : value.__bool__().value;
}

function attributePasses(item: TemplateValue, filter: string, given: TemplateFilterInput): boolean {
  const [, ...test] = given.args;
  return passes(attributeOf(item, needed(given, filter)), test, given);
}

function textOf(value: TemplateValue): string {
  if (value.type !== 'StringValue')
    throw new UserFacingError(message('this takes a text, not {0}', templateValueKind(value)));
  return value.value as string;
}

const printed = (value: TemplateValue): string => (isEmptyTemplateValue(value) ? '' : value.toString());

function scalarsOf(value: TemplateValue): string[] {
  const items = isTemplateList(value) ? itemsOfTemplateList(value) : [value];
  for (const item of items)
    if (isEmptyTemplateValue(item) || isTemplateList(item) || isTemplateMap(item))
      throw new UserFacingError(
        message('`quote` takes a text, a number or a list of them, not {0}', templateValueKind(item)),
      );
  return items.map(printed);
}

/** Truncates at a word boundary if the text is longer than the limit plus `leeway` characters. */
function truncated(text: string, given: TemplateFilterInput): string {
  const number = (index: number, name: string, otherwise: number) =>
    Number(argument(given, index, name)?.value ?? otherwise);
  const [length, leeway] = [number(0, 'length', 255), number(3, 'leeway', 5)];
  const end = String(argument(given, 2, 'end')?.value ?? '...');
  if (!(length >= end.length))
    throw new UserFacingError(message('`truncate` takes a length of at least {0}', end.length));
  if (text.length <= length + leeway) return text;
  const start = text.slice(0, length - end.length);
  if (argument(given, 1, 'killwords')?.value === true) return start + end;
  const blank = start.lastIndexOf(' ');
  return (blank < 0 ? start : start.slice(0, blank)) + end;
}

/** Rounds half to even, as Python does. */
function rounded(number: number, precision: number): number {
  if (!Number.isFinite(number)) return number;
  const factor = 10 ** precision;
  const scaled = number * factor;
  if (Math.abs(scaled % 1) === 0.5 && scaled / factor === number) return (2 * Math.round(scaled / 2)) / factor;
  return precision > 0 ? Number(number.toFixed(precision)) : Math.round(scaled) / factor;
}

const query = (map: TemplateValue): string =>
  templateMapEntries(map)
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(printed(value))}`)
    .join('&');
