import type { WorkflowFile } from '../plan/schema.ts';
import { parseStateValueType } from '../plan/stateTypes.ts';
import { identifierName, type TemplateNode, templateNodeChildren } from '../template/language.ts';
import { parseTemplate } from '../template/template.ts';
import { type TemplateVariablePath, variablesReadByTree } from './templateReads.ts';

const toNumber = /^(?:int|float|length|wordcount|abs|round)$/;
const compares = /^(?:[=!]=|[<>]=?|in|not in)$/;

/**
 * Returns true if the value is a single shell word: a constant, a number, or quoted as a whole. `quote` binds tighter than `~`, `or` and
 * `if`, and later filters may remove the quotes.
 */
function isWord(node: TemplateNode, isSafe: (read: TemplateVariablePath) => boolean, mayBeQuoted = true): boolean {
  const { type, filter, operand, operator, left, right, args = [] } = node;
  const every = (nodes: readonly (TemplateNode | undefined)[], quoted: boolean) =>
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
    const { trueExpr, falseExpr, lhs } = node as TemplateNode &
      Record<'trueExpr' | 'falseExpr' | 'lhs', TemplateNode | undefined>;
    return every([trueExpr, falseExpr, lhs], mayBeQuoted);
  }
  if (type === 'Identifier' || type === 'MemberExpression') return variablesReadByTree(node).every(isSafe);
  return every([...templateNodeChildren(node)], type === 'Program' && mayBeQuoted);
}

/**
 * Finds an unquoted expression inside a longer command line, where its value could end a word or start another command. Returns the
 * expression without braces.
 *
 * @param isSafe true if the value is a number or a constant of the file
 */
export function findUnquotedExpression(
  command: unknown,
  isSafe: (read: TemplateVariablePath) => boolean,
): string | undefined {
  if (typeof command !== 'string') return undefined;
  const expressions = [...command.matchAll(/\{\{-?((?:[^}]|\}(?!\}))*?)-?\}\}/g)];
  if (expressions.length === 1 && expressions[0]![0] === command.trim()) return undefined; // the expression is the whole command
  return expressions.map(([, inside]) => inside!.trim()).find((inside) => !isWordIn(inside, isSafe));
}

export function addQuoteFilter(expression: string): string {
  const whole = expression.replace(/\s*\|\s*quote\s*$/, '');
  return /[~+*/%-]|\b(?:or|and|if)\b/.test(whole) ? `(${whole})` : whole;
}

function isWordIn(expression: string, isSafe: (read: TemplateVariablePath) => boolean): boolean {
  try {
    return isWord(parseTemplate(expression, true), isSafe);
  } catch {
    return true; // an invalid expression is reported elsewhere
  }
}

/** Returns the names read by a template or expression; empty if invalid, which is reported elsewhere. */
export function variablesReadByTemplate(text: string, expression = true): TemplateVariablePath[] {
  try {
    return variablesReadByTree(parseTemplate(text, expression));
  } catch {
    return [];
  }
}

export function isShellSafeVariable(
  { variables, state_schema, input_schema }: WorkflowFile,
  [first, second]: TemplateVariablePath,
): boolean {
  if (first === 'variables' || (first !== undefined && Object.hasOwn(variables, first))) return true;
  const key = first === 'state' ? second : first;
  const written = key === undefined ? undefined : (state_schema[key] ?? input_schema[key]);
  return ['int', 'float', 'bool'].includes(parseStateValueType(written)?.kind ?? '');
}
