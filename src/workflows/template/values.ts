import { Environment, type Interpreter } from '@huggingface/jinja';
import { message } from '../../protocol/text/l10n.ts';
import { joined, type LocalizableText, UserFacingError } from '../../protocol/text/localized.ts';

/** Value of the interpreter, which distinguishes `1.0` from `1`, and null from undefined. */
export type TemplateValue = ReturnType<Interpreter['run']>;

export const toValue = (data: unknown): TemplateValue => new Environment().set('value', data);

/** Returns a float, formatted with a decimal point even if integral. */
export function floatOf(number: number): TemplateValue {
  const value = toValue(0.5);
  value.value = number;
  return value;
}

export function listOf(items: readonly TemplateValue[]): TemplateValue {
  const list = toValue([]);
  list.value = [...items];
  return list;
}

export const isList = ({ type }: TemplateValue): boolean => type === 'ArrayValue' || type === 'TupleValue';
export const isMap = ({ type }: TemplateValue): boolean => type === 'ObjectValue' || type === 'NamespaceValue';
export const isMissing = ({ type }: TemplateValue): boolean => type === 'UndefinedValue';
export const isNothing = ({ type }: TemplateValue): boolean => type === 'UndefinedValue' || type === 'NullValue';
export const itemsOf = (list: TemplateValue): TemplateValue[] => list.value as TemplateValue[];
export const mapEntries = (map: TemplateValue): [string, TemplateValue][] => [
  ...(map.value as Map<string, TemplateValue>),
];

/** Converts to plain data; undefined becomes null. Throws for values that are no data. */
export function templateValueData(value: TemplateValue): unknown {
  if (isList(value)) return itemsOf(value).map(templateValueData);
  if (isMap(value)) return Object.fromEntries(mapEntries(value).map(([key, item]) => [key, templateValueData(item)]));
  if (isNothing(value)) return null;
  if (value.type === 'FunctionValue') throw new UserFacingError(message('This gives a function, not a value.'));
  // neither Python nor JSON represents these numbers
  if (typeof value.value === 'number' && !Number.isFinite(value.value))
    throw new UserFacingError(message('The result is not a number: a division by zero, or too large'));
  return value.value;
}

const words = {
  StringValue: 'a text',
  IntegerValue: 'a whole number',
  FloatValue: 'a number',
  BooleanValue: 'true or false',
  ArrayValue: 'a list',
  TupleValue: 'a list',
  ObjectValue: 'keys with values',
  NamespaceValue: 'a namespace',
  NullValue: 'nothing',
  UndefinedValue: 'nothing',
  FunctionValue: 'a function',
} as const;

export function valueKindOf(value: TemplateValue): LocalizableText {
  const kind = message(words[value.type as keyof typeof words] ?? 'something else');
  const isShown = ['StringValue', 'IntegerValue', 'FloatValue'].includes(value.type);
  return isShown ? joined([kind, ` (${quote(value)})`], '') : kind;
}

function quote(value: TemplateValue): string {
  const text = value.type === 'StringValue' ? JSON.stringify(value.value) : value.toString();
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
