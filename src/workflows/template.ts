import { Environment, Interpreter, parse } from '@huggingface/jinja';
import { tokensOf } from './templateBounds.ts';
import { checkTemplate, functions, ownFilters, TemplateError } from './templateLanguage.ts';

type Program = ReturnType<typeof parse>;
type Statement = Program['body'][number];
type RuntimeValue = ReturnType<Interpreter['run']>;

/** Names that a template can use, with their values as plain data. */
export type Scope = Readonly<Record<string, unknown>>;

/**
 * The value of `text` with its templates filled in. A text that is one expression gives the expression's own value (a list
 * stays a list); what is not there is null. Throws `TemplateError`.
 */
export function render(written: string, scope: Scope): unknown {
  const text = withVariables(written, scope);
  if (!hasTemplate(text)) return text;
  const program = programOf(text);
  const only = expressionOf(text);
  const interpreter = new LimitedInterpreter(environmentOf(scope));
  try {
    return only ? toData(interpreter.evaluate(only, interpreter.global)) : interpreter.run(program).value;
  } catch (error) {
    if (error instanceof TemplateError) throw error;
    throw new TemplateError(
      `\`${inShort(text)}\` cannot be filled in: ${(error as Error).message.replace(/\.$/, '')}.`,
    );
  }
}

function inShort(text: string): string {
  const line = text.slice(0, 1000).replace(/\s+/g, ' ').trim();
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

/** What a template may take: it is worked out in one go, and nothing can be stopped or answered meanwhile. */
const mostSteps = 300_000;
/** Also of a machine that has much else to do: an honest one takes a few of these. */
const mostMs = 1000;
const longestText = 5_000_000;

class LimitedInterpreter extends Interpreter {
  private steps = 0;
  private readonly startedAt = performance.now();

  override evaluate(...args: Parameters<Interpreter['evaluate']>): RuntimeValue {
    const result = super.evaluate(...args);
    this.steps += 1 + (result.type === 'ArrayValue' ? (result.value as unknown[]).length : 0); // it may be gone through
    if (this.steps > mostSteps) throw new TemplateError(`This template takes more than ${mostSteps} steps.`);
    if (performance.now() - this.startedAt > mostMs)
      throw new TemplateError(`This template takes more than ${mostMs / 1000} s.`);
    if (typeof result.value === 'string' && result.value.length > longestText)
      throw new TemplateError(`This template makes a text of more than ${longestText} characters.`);
    return result;
  }
}

/** `render` for every text inside of a value. */
export function renderAll(value: unknown, scope: Scope): unknown {
  if (typeof value === 'string') return render(value, scope);
  if (Array.isArray(value)) return value.map((item) => renderAll(item, scope));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, renderAll(item, scope)]));
}

/** The value of an expression, with or without braces around it; `!name` is `not name`. */
export function evaluate(expression: string, scope: Scope): unknown {
  return render(bracedExpression(expression), scope);
}

/**
 * Whether a condition holds. As in the dialect, one that compares what is not there does not, and the texts `false`, `no`,
 * `none`, `0` and `` are as good as false.
 */
export function holds(condition: string | boolean, scope: Scope): boolean {
  if (typeof condition === 'boolean') return condition;
  let value: unknown;
  try {
    value = evaluate(condition, scope);
  } catch {
    return false;
  }
  if (typeof value === 'string') return !['', 'false', '0', 'no', 'none'].includes(value.trim().toLowerCase());
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}

/** What is wrong with a template, as a sentence that says what to use instead; undefined when it is in order. */
export const templateProblem = (text: string): string | undefined => problemOf(() => programOf(text));
export const expressionProblem = (expression: string): string | undefined =>
  problemOf(() => {
    if (!expressionOf(bracedExpression(expression))) throw new TemplateError('This is not one expression.');
  });

function problemOf(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** `${name}` of the dialect: a constant of the file. What is none stays as it is: a shell writes it so, too. */
function withVariables(text: string, { variables }: Scope): string {
  if (!text.includes('${') || typeof variables !== 'object' || variables === null) return text;
  return text.replaceAll(/\$\{\s*([A-Za-z_]\w*)\s*\}/g, (all, key) =>
    Object.hasOwn(variables, key) ? `{{ variables.${key} }}` : all,
  );
}

const hasTemplate = (text: string) => /\{[{%#]/.test(text);

/** Templates that are a part of an expression (`state.n > {{ variables.most }}`) stand for their values. */
function bracedExpression(expression: string): string {
  const plain = expression.trim().replace(/^!(?!=)\s*/, 'not ');
  if (/\{[%#]/.test(plain)) return plain;
  const [first, end] = [plain.indexOf('{{'), plain.indexOf('}}')];
  const whole = first === 0 && end >= 2 && end + 2 === plain.length && plain.indexOf('{{', 2) < 0;
  return whole ? plain : `{{ ${withBrackets(plain)} }}`;
}

/** `{{ … }}` as `( … )`. */
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

/** Python's, and the usual one: told by its name. */
function hasLambda(text: string): boolean {
  let within = false;
  for (const [found] of text.matchAll(/\{[{%]|[}%]\}|\blambda\b/g)) {
    if (found === 'lambda' && within) return true;
    if (found !== 'lambda') within = found.startsWith('{');
  }
  return false;
}

const programs = new Map<string, Program>();

/** The checked program of a template. Kept, because nodes of a loop ask for the same ones again. */
function programOf(text: string): Program {
  const known = programs.get(text);
  if (known) return known;
  if (hasLambda(text))
    throw new TemplateError(
      '`lambda` is Python, which Towpath does not run. Use Jinja: filters, `if … else`, `{% for %}`.',
    );
  let program: Program;
  try {
    program = parse(tokensOf(text));
  } catch (error) {
    if (error instanceof TemplateError) throw error;
    // The parser runs past its end where something is still open.
    const message = error instanceof TypeError ? 'something is not closed' : (error as Error).message;
    throw new TemplateError(
      `This is not a Jinja template (${message.replace(/^Parser Error: /, '').replace(/\.$/, '')}). ${/&&|\|\|/.test(text) ? 'Write `and`, `or`.' : 'Python is not run here.'}`,
    );
  }
  checkTemplate(program);
  if (programs.size >= 500) programs.clear();
  programs.set(text, program);
  return program;
}

/** The expression when the text is nothing else. */
function expressionOf(text: string): Statement | undefined {
  const { body } = programOf(text.trim());
  const only = body.length === 1 ? body[0]! : undefined;
  return only && !statements.has(only.type) && text.trim().startsWith('{{') ? only : undefined;
}

const statements = new Set(['If', 'For', 'Set', 'Macro', 'CallStatement', 'FilterStatement', 'Comment', 'Break']);

function environmentOf(scope: Scope): Environment {
  const environment = new Environment();
  const values: Record<string, unknown> = { ...functions, ...scope, ...constants };
  for (const [name, run] of Object.entries(ownFilters)) values[`filter:${name}`] = run;
  for (const [name, value] of Object.entries(values)) if (name !== 'namespace') environment.set(name, value);
  return environment;
}

const constants = { true: true, false: false, none: null, True: true, False: false, None: null };

function toData(value: RuntimeValue): unknown {
  switch (value.type) {
    case 'ArrayValue':
    case 'TupleValue':
      return (value.value as RuntimeValue[]).map(toData);
    case 'ObjectValue':
    case 'NamespaceValue':
      return Object.fromEntries(
        [...(value.value as Map<string, RuntimeValue>)].map(([key, item]) => [key, toData(item)]),
      );
    case 'UndefinedValue':
    case 'NullValue':
      return null;
    case 'IntegerValue':
    case 'FloatValue':
      // Python has no such numbers here, and a record has no words for them.
      if (!Number.isFinite(value.value))
        throw new Error('It gives what is no number: it divides by zero, or is too large');
      return value.value;
    case 'FunctionValue':
      throw new Error('This gives a function, not a value.');
    default:
      return value.value;
  }
}
