import { Environment, type Interpreter } from '@huggingface/jinja';
import { sentence } from '../../protocol/text/l10n.ts';
import { joined, SaidError, type Words } from '../../protocol/text/localized.ts';

/** A value inside of the interpreter, which keeps apart what plain data does not: `1.0` and `1`, nothing and not there. */
export type Value = ReturnType<Interpreter['run']>;

/** Plain data as a value; undefined is what is not there. */
export const toValue = (data: unknown): Value => new Environment().set('value', data);

/** A number that is written with its point, also where it is whole. */
export function floatOf(number: number): Value {
  const value = toValue(0.5);
  value.value = number;
  return value;
}

export function listOf(items: readonly Value[]): Value {
  const list = toValue([]);
  list.value = [...items];
  return list;
}

export const isList = ({ type }: Value): boolean => type === 'ArrayValue' || type === 'TupleValue';
export const isMap = ({ type }: Value): boolean => type === 'ObjectValue' || type === 'NamespaceValue';
export const isMissing = ({ type }: Value): boolean => type === 'UndefinedValue';
export const isNothing = ({ type }: Value): boolean => type === 'UndefinedValue' || type === 'NullValue';
export const itemsOf = (list: Value): Value[] => list.value as Value[];
export const entriesOf = (map: Value): [string, Value][] => [...(map.value as Map<string, Value>)];

/** As plain data; what is not there is null. Throws where it is no data. */
export function toData(value: Value): unknown {
  if (isList(value)) return itemsOf(value).map(toData);
  if (isMap(value)) return Object.fromEntries(entriesOf(value).map(([key, item]) => [key, toData(item)]));
  if (isNothing(value)) return null;
  if (value.type === 'FunctionValue') throw new SaidError(sentence('This gives a function, not a value.'));
  // Python has no such numbers here, and a record has no words for them.
  if (typeof value.value === 'number' && !Number.isFinite(value.value))
    throw new SaidError(sentence('The result is not a number: a division by zero, or too large'));
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

/** What kind of value it is, for a sentence; a short text or number with it. */
export function kindOf(value: Value): Words {
  const kind = sentence(words[value.type as keyof typeof words] ?? 'something else');
  const isShown = ['StringValue', 'IntegerValue', 'FloatValue'].includes(value.type);
  return isShown ? joined([kind, ` (${quote(value)})`], '') : kind;
}

function quote(value: Value): string {
  const text = value.type === 'StringValue' ? JSON.stringify(value.value) : value.toString();
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
