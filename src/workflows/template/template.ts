// @invariant templates-come-from-files: Templates come from files, never from text of a model or a tool, and are interpreted, never
// evaluated as code.

import { parse } from '@huggingface/jinja';
import { type LocalizedMessage, message, toEnglishText } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts, type LocalizableText, messageOf } from '../../protocol/text/localized.ts';
import { fitText } from '../../protocol/text/shorten.ts';
import { tokenizeTemplate } from './bounds.ts';
import { TemplateInterpreter } from './interpreter.ts';
import { checkTemplate, TemplateError, type TemplateNode } from './language.ts';
import { appendHint } from './near.ts';
import { templateValueData } from './values.ts';

type Program = ReturnType<typeof parse>;
type Statement = Program['body'][number];

export type TemplateScope = Readonly<Record<string, unknown>>;

/** Receives a warning about a missing value that evaluates to nothing. */
export type MissingTemplateValueListener = (warning: LocalizableText) => void;

/**
 * Returns `text` with evaluated templates. A text with only one expression returns the value itself (a list stays a list); a missing value
 * is null. Throws `TemplateError`.
 */
export function renderTemplate(
  written: string,
  scope: TemplateScope,
  onMissing?: MissingTemplateValueListener,
): unknown {
  const text = withVariables(written, scope);
  if (!hasTemplate(text)) return text;
  try {
    return valueIn(text, scope, onMissing);
  } catch (error) {
    if (error instanceof TemplateError) throw error;
    throw new TemplateError(message('`{0}` cannot be filled in: {1}', inShort(text), reasonOf(error)));
  }
}

function valueIn(text: string, scope: TemplateScope, onMissing?: MissingTemplateValueListener): unknown {
  const program = programOf(text);
  const only = expressionOf(text);
  const interpreter = new TemplateInterpreter(scope, onMissing);
  return only ? templateValueData(interpreter.evaluate(only, interpreter.global)) : interpreter.run(program).value;
}

function reasonOf(error: unknown): LocalizableText {
  const text = messageOf(error);
  return toEnglishText(text).endsWith('.') ? text : joinLocalizableTexts([text, '.'], '');
}

const inShort = (text: string): string => fitText(text.slice(0, 1000).replace(/\s+/g, ' ').trim(), 80);

export function renderTemplatesDeep(
  value: unknown,
  scope: TemplateScope,
  onMissing?: MissingTemplateValueListener,
): unknown {
  if (typeof value === 'string') return renderTemplate(value, scope, onMissing);
  if (Array.isArray(value)) return value.map((item) => renderTemplatesDeep(item, scope, onMissing));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, renderTemplatesDeep(item, scope, onMissing)]),
  );
}

/** Evaluates an expression with or without braces; `!name` is `not name`. */
export function evaluateTemplateExpression(
  expression: string,
  scope: TemplateScope,
  onMissing?: MissingTemplateValueListener,
): unknown {
  return renderTemplate(bracedExpression(expression), scope, onMissing);
}

/** Evaluates a condition. As in the dialect, the texts `false`, `no`, `none`, `0` and `` are false. Throws `TemplateError`. */
export function evaluateCondition(condition: string | boolean, scope: TemplateScope): boolean {
  if (typeof condition === 'boolean') return condition;
  let value: unknown;
  try {
    value = valueIn(withVariables(bracedExpression(condition), scope), scope);
  } catch (error) {
    if (error instanceof TemplateError) throw error;
    throw new TemplateError(message('`{0}` cannot be evaluated: {1}', inShort(condition), reasonOf(error)));
  }
  if (typeof value === 'string') return !['', 'false', '0', 'no', 'none'].includes(value.trim().toLowerCase());
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}

export const parseTemplate = (text: string, expression: boolean): TemplateNode =>
  programOf(expression ? bracedExpression(text) : text) as unknown as TemplateNode;

/** Returns the problem of a template with a suggested fix; undefined if valid. */
export const templateProblem = (text: string): LocalizableText | undefined => problemOf(() => programOf(text));
export const expressionProblem = (expression: string): LocalizableText | undefined =>
  problemOf(() => {
    if (!expressionOf(bracedExpression(expression)))
      throw new TemplateError(message('This is not a single expression.'));
  });

function problemOf(check: () => unknown): LocalizableText | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Replaces `${name}`, a constant in the dialect. Other names stay, because shells use the same notation. */
function withVariables(text: string, { variables }: TemplateScope): string {
  if (!text.includes('${') || typeof variables !== 'object' || variables === null) return text;
  return text.replaceAll(/\$\{\s*([A-Za-z_]\w*)\s*\}/g, (all, key) =>
    Object.hasOwn(variables, key) ? `{{ variables.${key} }}` : all,
  );
}

const hasTemplate = (text: string) => /\{[{%#]/.test(text);

/** Converts an expression with embedded templates (`state.n > {{ variables.most }}`). */
function bracedExpression(expression: string): string {
  const plain = expression.trim().replace(/^!(?!=)\s*/, 'not ');
  if (/\{[%#]/.test(plain)) return plain;
  const [first, end] = [plain.indexOf('{{'), plain.indexOf('}}')];
  const whole = first === 0 && end >= 2 && end + 2 === plain.length && plain.indexOf('{{', 2) < 0;
  return whole ? plain : `{{ ${withBrackets(plain)} }}`;
}

function withBrackets(text: string): string {
  const made: string[] = [];
  let at = 0;
  for (let open = text.indexOf('{{'); open >= 0; open = text.indexOf('{{', at)) {
    const close = text.indexOf('}}', open + 2);
    if (close < 0) break;
    made.push(text.slice(at, open), '(', text.slice(open + 2, close), ')');
    at = close + 2;
  }
  return [...made, text.slice(at)].join('');
}

/** Detects a Python lambda, a common mistake with its own message. */
function hasLambda(text: string): boolean {
  let within = false;
  for (const [found] of text.matchAll(/\{[{%]|[}%]\}|\blambda\b/g)) {
    if (found === 'lambda' && within) return true;
    if (found !== 'lambda') within = found.startsWith('{');
  }
  return false;
}

const programs = new Map<string, Program>();

/** Returns the cached validated program of a template; loops evaluate the same templates repeatedly. */
function programOf(text: string): Program {
  const known = programs.get(text);
  if (known) return known;
  if (hasLambda(text))
    throw new TemplateError(
      message('`lambda` is Python, which Towpath does not run. Use Jinja: filters, `if … else`, `{% for %}`.'),
    );
  let program: Program;
  try {
    program = parse(tokenizeTemplate(text));
  } catch (error) {
    if (error instanceof TemplateError) throw error;
    // the parser reads past the end if a bracket is open
    const isOpen = error instanceof TypeError;
    const messageText = isOpen ? '' : (error as Error).message;
    const why = isOpen
      ? message('something is not closed')
      : messageText.replace(/^Parser Error: /, '').replace(/\.$/, '');
    throw new TemplateError(
      appendHint(message('This is not a Jinja template ({0}).', why), hintFor(text, messageText)),
    );
  }
  checkTemplate(program as unknown as TemplateNode);
  if (programs.size >= 500) programs.clear();
  programs.set(text, program);
  return program;
}

function hintFor(text: string, messageText: string): LocalizedMessage | undefined {
  if (/&&|\|\|/.test(text)) return message('Write `and`, `or`.');
  const statement = /Unknown statement type: (\w+)/.exec(messageText)?.[1];
  if (statement === 'raw') return message('Write literal braces as text: `{{ "{{" }}`.');
  if (statement !== undefined) return message('There are `if`, `for`, `set`, `macro`, `call` and `filter`.');
  if (/\bis\s+(?:not\s+)?[a-z]+\s+[\w"'[{]/.test(text) && !/\bis\s+not\s+\w+\s+(?:and|or|else|if)\b/.test(text))
    return message('Put the value that a test compares with in parentheses: `is divisibleby(3)`.');
  const isPython = /\bfor\s+\w+\s+in\b|\b(?:def|import|return|f["'])\b/.test(text);
  return isPython ? message('Python is not supported here.') : undefined;
}

function expressionOf(text: string): Statement | undefined {
  const { body } = programOf(text.trim());
  const only = body.length === 1 ? body[0]! : undefined;
  return only && !statements.has(only.type) && text.trim().startsWith('{{') ? only : undefined;
}

const statements = new Set(['If', 'For', 'Set', 'Macro', 'CallStatement', 'FilterStatement', 'Comment', 'Break']);
