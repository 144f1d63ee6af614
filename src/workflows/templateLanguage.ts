import { createHash } from 'node:crypto';
import { mostOfAnswer, parseJson } from '../tools/bounds.ts';

/** A template with a mistake, found before anything runs. */
export class TemplateError extends Error {}

/** Functions that a template can call. */
export const functions: Record<string, (...args: never[]) => unknown> = {
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
export const ownFilters: Record<string, (...args: never[]) => unknown> = {
  fromjson: (text: string) => parseJson(text, mostOfAnswer),
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

/** Refuses what is Python and not Jinja, and turns the filters of our own into calls. Throws `TemplateError`. */
export function checkTemplate(node: unknown): void {
  if (Array.isArray(node)) {
    for (const item of node) checkTemplate(item);
    return;
  }
  if (node instanceof Map) {
    checkTemplate([...node.keys(), ...node.values()]);
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
    checkTemplate(statement.object);
    const property = statement.property as Named;
    if (statement.computed) checkTemplate(property);
    else if (/^__/.test(String(property.value)))
      throw new TemplateError(`\`${String(property.value)}\` is Python’s; templates see plain values only.`);
    return;
  }
  for (const [key, child] of Object.entries(statement))
    if (statement.type !== 'TestExpression' || key === 'operand') checkTemplate(child);
}

interface Named {
  type: string;
  value?: unknown;
  property?: Named;
  callee?: Named;
  args?: unknown[];
}

function checkName(name: string): void {
  if (Object.hasOwn(absentNames, name)) throw new TemplateError(`There is no \`${name}\` here. ${absentNames[name]}`);
  if (['for', 'import', 'lambda', 'exec', 'eval'].includes(name))
    throw new TemplateError(`\`${name}\` is Python, which Towpath does not run. Use Jinja: filters, \`{% for %}\`.`);
}

function checkCall(callee: Named): void {
  const method = callee.type === 'MemberExpression';
  const name = String((method ? callee.property : callee)?.value);
  if (method ? knownMethods.has(name) : Object.hasOwn(functions, name) || name === 'namespace') return;
  const known = Object.hasOwn(pythonInstead, name) ? pythonInstead[name] : undefined;
  const instead = known ?? (method ? 'a Jinja filter' : 'a Jinja filter, or a node of its own');
  throw new TemplateError(`\`${name}()\` is Python, which Towpath does not run. Use ${instead} instead.`);
}

function checkFilter(expression: Record<string, unknown>): void {
  const filter = expression.filter as Named;
  const named = filter.type === 'CallExpression' ? filter.callee! : filter;
  const name = String(named.value);
  if (!knownFilters.has(name)) throw new TemplateError(`There is no filter \`${name}\`.`);
  const { operand } = expression;
  checkTemplate([operand, ...(filter.args ?? [])]);
  if (name === 'json') named.value = 'tojson';
  if (!Object.hasOwn(ownFilters, name)) return;
  delete expression.filter;
  delete expression.operand;
  const callee = { type: 'Identifier', value: `filter:${name}` };
  Object.assign(expression, { type: 'CallExpression', callee, args: [operand, ...(filter.args ?? [])] });
}
