import type { WorkflowFile } from '../plan/schema.ts';
import { typeOf } from '../plan/stateTypes.ts';
import { childrenOf, identifierName, type Node } from '../template/language.ts';
import { treeOf } from '../template/template.ts';
import { readsOf, type TemplateRead } from './templateReads.ts';

/** Filters whose value is a number. */
const toNumber = /^(?:int|float|length|wordcount|abs|round)$/;
/** Operators whose value is a truth. */
const compares = /^(?:[=!]=|[<>]=?|in|not in)$/;

/**
 * Tells whether the value of an expression is one word of a command: a constant, a number, or quoted as a whole. `quote` binds closer than
 * `~`, `or` and `if`, and what is done to a quoted text afterwards may take its quotes away.
 */
function isWord(node: Node, isSafe: (read: TemplateRead) => boolean, mayBeQuoted = true): boolean {
  const { type, filter, operand, operator, left, right, args = [] } = node;
  const every = (nodes: readonly (Node | undefined)[], quoted: boolean) =>
    nodes.every((one) => one === undefined || isWord(one, isSafe, quoted));
  const own = /^(filter|test):(.*)/.exec(type === 'CallExpression' ? (identifierName(node) ?? '') : '');
  if (own?.[1] === 'test' || type === 'TestExpression' || type === 'UnaryExpression') return true;
  if (own || type === 'FilterExpression') {
    const name = own?.[2] ?? identifierName(filter) ?? '';
    if (toNumber.test(name)) return true;
    if (name === 'quote') return mayBeQuoted;
    return every([operand, ...args, ...(filter?.args ?? [])], mayBeQuoted && name === 'default');
  }
  if (type === 'BinaryExpression') return compares.test(operator?.value ?? '') || every([left, right], mayBeQuoted);
  if (type === 'Ternary' || type === 'SelectExpression') {
    const { trueExpr, falseExpr, lhs } = node as Node & Record<'trueExpr' | 'falseExpr' | 'lhs', Node | undefined>;
    return every([trueExpr, falseExpr, lhs], mayBeQuoted);
  }
  if (type === 'Identifier' || type === 'MemberExpression') return readsOf(node).every(isSafe);
  return every([...childrenOf(node)], type === 'Program' && mayBeQuoted);
}

/**
 * Finds an expression whose value becomes a part of a longer command line as it is, where what it says could end a word or begin another
 * command. Gives the expression, without its braces.
 * @param isSafe the value can only be a number, or stands in the file
 */
export function unquotedIn(command: unknown, isSafe: (read: TemplateRead) => boolean): string | undefined {
  if (typeof command !== 'string') return undefined;
  const expressions = [...command.matchAll(/\{\{-?((?:[^}]|\}(?!\}))*?)-?\}\}/g)];
  if (expressions.length === 1 && expressions[0]![0] === command.trim()) return undefined; // it is the whole command
  return expressions.map(([, inside]) => inside!.trim()).find((inside) => !isWordIn(inside, isSafe));
}

/** Writes what is to be quoted so that all of it is. */
export function toQuote(expression: string): string {
  const whole = expression.replace(/\s*\|\s*quote\s*$/, '');
  return /[~+*/%-]|\b(?:or|and|if)\b/.test(whole) ? `(${whole})` : whole;
}

function isWordIn(expression: string, isSafe: (read: TemplateRead) => boolean): boolean {
  try {
    return isWord(treeOf(expression, true), isSafe);
  } catch {
    return true; // a mistake is a problem of its own
  }
}

/** Returns the expressions of a template or an expression; nothing of one with a mistake, which is a problem of its own. */
export function readsIn(text: string, expression = true): TemplateRead[] {
  try {
    return readsOf(treeOf(text, expression));
  } catch {
    return [];
  }
}

/** Finds whether a value is a constant of the file, or declared as a number or a truth. */
export function isSafeIn(
  { variables, state_schema, input_schema }: WorkflowFile,
  [first, second]: TemplateRead,
): boolean {
  if (first === 'variables' || (first !== undefined && Object.hasOwn(variables, first))) return true;
  const key = first === 'state' ? second : first;
  const written = key === undefined ? undefined : (state_schema[key] ?? input_schema[key]);
  return ['int', 'float', 'bool'].includes(typeOf(written)?.kind ?? '');
}
