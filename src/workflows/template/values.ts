import { Environment, type Interpreter } from '@huggingface/jinja';
import { message } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts, type LocalizableText, UserFacingError } from '../../protocol/text/localized.ts';
import { fitText } from '../../protocol/text/shorten.ts';

/** Value of the interpreter, which distinguishes `1.0` from `1`, and null from undefined. */
export type TemplateValue = ReturnType<Interpreter['run']>;

export const toTemplateValue = (data: unknown): TemplateValue => new Environment().set('value', data);

/** Returns a float, formatted with a decimal point even if integral. */
export function createTemplateFloat(number: number): TemplateValue {
  const value = toTemplateValue(0.5);
  value.value = number;
  return value;
}

export function createTemplateList(items: readonly TemplateValue[]): TemplateValue {
  const list = toTemplateValue([]);
  list.value = [...items];
  return list;
}

export const isTemplateList = ({ type }: TemplateValue): boolean => type === 'ArrayValue' || type === 'TupleValue';
export const isTemplateMap = ({ type }: TemplateValue): boolean => type === 'ObjectValue' || type === 'NamespaceValue';
export const isUndefinedTemplateValue = ({ type }: TemplateValue): boolean => type === 'UndefinedValue';
export const isEmptyTemplateValue = ({ type }: TemplateValue): boolean =>
  type === 'UndefinedValue' || type === 'NullValue';
export const itemsOfTemplateList = (list: TemplateValue): TemplateValue[] => list.value as TemplateValue[];
export const templateMapEntries = (map: TemplateValue): [string, TemplateValue][] => [
  ...(map.value as Map<string, TemplateValue>),
];

/** Converts to plain data; undefined becomes null. Throws for values that are no data. */
export function templateValueData(value: TemplateValue): unknown {
  if (isTemplateList(value)) return itemsOfTemplateList(value).map(templateValueData);
  if (isTemplateMap(value))
    return Object.fromEntries(templateMapEntries(value).map(([key, item]) => [key, templateValueData(item)]));
  if (isEmptyTemplateValue(value)) return null;
  if (value.type === 'FunctionValue') throw new UserFacingError(message('This gives a function, not a value.'));
  // neither Python nor JSON represents these numbers
  if (typeof value.value === 'number' && !Number.isFinite(value.value))
    throw new UserFacingError(message('The result is not a number: a division by zero, or too large'));
  return value.value;
}

const typeNames = {
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

export function templateValueKind(value: TemplateValue): LocalizableText {
  const kind = message(typeNames[value.type as keyof typeof typeNames] ?? 'something else');
  const isShown = ['StringValue', 'IntegerValue', 'FloatValue'].includes(value.type);
  return isShown ? joinLocalizableTexts([kind, ` (${quote(value)})`], '') : kind;
}

const quote = (value: TemplateValue): string =>
  fitText(value.type === 'StringValue' ? JSON.stringify(value.value) : value.toString(), 40);
