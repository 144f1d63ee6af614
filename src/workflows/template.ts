import { createHash } from 'node:crypto';
import { Environment, Interpreter, parse, tokenize } from '@huggingface/jinja';

type Program = ReturnType<typeof parse>;
type Statement = Program['body'][number];
type RuntimeValue = ReturnType<Interpreter['run']>;

/** Names that a template can use, with their values as plain data. */
export type Scope = Readonly<Record<string, unknown>>;

/** A template with a mistake, found before anything runs. */
export class TemplateError extends Error {}

/**
 * The value of `text` with its templates filled in. A text that is one expression gives the expression's own value (a list
 * stays a list); what is not there is null. Throws `TemplateError`, or the interpreter's error.
 */
export function render(text: string, scope: Scope): unknown {
  if (!hasTemplate(text)) return text;
  const program = programOf(text);
  const only = expressionOf(text);
  const interpreter = new Interpreter(environmentOf(scope));
  if (only) return toData(interpreter.evaluate(only, interpreter.global));
  return interpreter.run(program).value;
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

const hasTemplate = (text: string) => /\{[{%#]/.test(text);

function bracedExpression(expression: string): string {
  const plain = expression.trim().replace(/^!(?!=)\s*/, 'not ');
  return hasTemplate(plain) ? plain : `{{ ${plain} }}`;
}

const programs = new Map<string, Program>();

/** The checked program of a template. Kept, because nodes of a loop ask for the same ones again. */
function programOf(text: string): Program {
  const known = programs.get(text);
  if (known) return known;
  if (/\{[{%](?:(?!\}\}|%\}).)*\blambda\b/s.test(text))
    throw new TemplateError(
      '`lambda` is Python, which Towpath does not run. Use Jinja: filters, `if … else`, `{% for %}`.',
    );
  let program: Program;
  try {
    program = parse(tokenize(text));
  } catch (error) {
    const { message } = error as Error;
    throw new TemplateError(
      `This is not a Jinja template (${message.replace(/^Parser Error: /, '').replace(/\.$/, '')}). Python is not run here.`,
    );
  }
  check(program);
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

const functions: Record<string, (...args: never[]) => unknown> = {
  len: (value: { length?: number; size?: number }) => value.length ?? value.size,
  range: (from: number, to?: number, step = 1) => {
    const [start, end] = to === undefined ? [0, from] : [from, to];
    const length = Math.max(0, Math.ceil((end - start) / step));
    if (!(length <= longestRange)) throw new Error(`range() gives at most ${longestRange} numbers.`);
    return Array.from({ length }, (_, index) => start + index * step);
  },
};
const longestRange = 10_000;

/** Filters of the dialect that the interpreter does not have, under names that no template can write. */
const ownFilters: Record<string, (...args: never[]) => unknown> = {
  fromjson: (text: string) => JSON.parse(text),
  sha256: (text: string) => createHash('sha256').update(text).digest('hex'),
  truncate: (text: string, length = 255) =>
    text.length > length ? `${text.slice(0, Math.max(0, length - 3))}...` : text,
};

const knownFilters = new Set(
  `abs bool capitalize default dictsort first float fromjson indent int items join json keys last length list lower map
   rejectattr reject replace reverse safe select selectattr sha256 sort string title tojson trim truncate unique upper
   values`.split(/\s+/),
);
const knownMethods = new Set(
  'get items keys values upper lower strip title capitalize rstrip lstrip startswith endswith split replace'.split(' '),
);
/** What other hosts of the dialect offer to templates and Towpath does not. */
const absentNames: Record<string, string> = {
  secrets: 'Keys stay in the editor’s secret storage and are never given to a workflow.',
  env: 'The environment is not given to a workflow. Use `variables`.',
  checkpoint: 'Runs are kept by themselves; there are no checkpoint files.',
};
const pythonInstead: Record<string, string> = {
  str: '`| string`',
  int: '`| int`',
  float: '`| float`',
  join: '`| join(", ")`',
  dumps: '`| tojson`',
  loads: '`| fromjson`',
};

/** Refuses what is Python and not Jinja, and renames the filters of our own. */
function check(node: unknown): void {
  if (Array.isArray(node)) {
    for (const item of node) check(item);
    return;
  }
  if (node instanceof Map) {
    check([...node.keys(), ...node.values()]);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  const statement = node as { type?: string } & Record<string, unknown>;
  if (statement.type === 'FilterExpression') {
    checkFilter(statement);
    return;
  }
  if (statement.type === 'CallExpression') checkCall(statement.callee as Named);
  if (statement.type === 'Identifier') checkName(String(statement.value));
  if (statement.type === 'MemberExpression') {
    check(statement.object);
    const property = statement.property as Named;
    if (statement.computed) check(property);
    else if (/^__/.test(String(property.value)))
      throw new TemplateError(`\`${String(property.value)}\` is Python’s; templates see plain values only.`);
    return;
  }
  for (const [key, child] of Object.entries(statement))
    if (statement.type !== 'TestExpression' || key === 'operand') check(child);
}

interface Named {
  type: string;
  value?: unknown;
  property?: Named;
  callee?: Named;
  args?: unknown[];
}

function checkName(name: string): void {
  if (absentNames[name]) throw new TemplateError(`There is no \`${name}\` here. ${absentNames[name]}`);
  if (['for', 'import', 'lambda', 'exec', 'eval'].includes(name))
    throw new TemplateError(`\`${name}\` is Python, which Towpath does not run. Use Jinja: filters, \`{% for %}\`.`);
}

function checkCall(callee: Named): void {
  const method = callee.type === 'MemberExpression';
  const name = String((method ? callee.property : callee)?.value);
  if (method ? knownMethods.has(name) : name in functions || name === 'namespace') return;
  const instead = pythonInstead[name] ?? (method ? 'a Jinja filter' : 'a Jinja filter, or a node of its own');
  throw new TemplateError(`\`${name}()\` is Python, which Towpath does not run. Use ${instead} instead.`);
}

function checkFilter(expression: Record<string, unknown>): void {
  const filter = expression.filter as Named;
  const named = filter.type === 'CallExpression' ? filter.callee! : filter;
  const name = String(named.value);
  if (!knownFilters.has(name)) throw new TemplateError(`There is no filter \`${name}\`.`);
  const { operand } = expression;
  check([operand, ...(filter.args ?? [])]);
  if (name === 'json') named.value = 'tojson';
  if (!Object.hasOwn(ownFilters, name)) return;
  delete expression.filter;
  delete expression.operand;
  const callee = { type: 'Identifier', value: `filter:${name}` };
  Object.assign(expression, { type: 'CallExpression', callee, args: [operand, ...(filter.args ?? [])] });
}

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
      return null;
    case 'FunctionValue':
      throw new Error('This gives a function, not a value.');
    default:
      return value.value;
  }
}
