import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts, UserFacingError } from '../../protocol/text/localized.ts';
import { extraTemplateFilters, extraTemplateTests } from './filters.ts';
import { appendHint, didYouMeanHint } from './near.ts';

export class TemplateError extends UserFacingError {}

export interface TemplateNode {
  type: string;
  value?: string;
  operator?: { value: string };
  computed?: boolean;
  left?: TemplateNode;
  right?: TemplateNode;
  operand?: TemplateNode;
  object?: TemplateNode;
  property?: TemplateNode;
  callee?: TemplateNode;
  args?: TemplateNode[];
  filter?: TemplateNode;
  test?: TemplateNode;
  iterable?: TemplateNode;
  name?: TemplateNode;
  /** True if the value is output or passed on unchanged. */
  printed?: true;
}

export const templateFunctions: Record<string, (...args: never[]) => unknown> = {
  len: (value: { length?: number; size?: number }) => value.length ?? value.size,
  range: (from: number, to?: number, step = 1) => {
    const [start, end] = to === undefined ? [0, from] : [from, to];
    const length = Math.max(0, Math.ceil((end - start) / step));
    if (!(length <= maxRangeLength))
      throw new UserFacingError(message('range() creates at most {0} numbers.', maxRangeLength));
    return Array.from({ length }, (_, index) => start + index * step);
  },
};
export const maxRangeLength = 10_000;

const sameFilter: Record<string, string> = { json: 'tojson', d: 'default', count: 'length' };
/** Filters of the interpreter with correct behavior. */
const itsFilters =
  'abs bool capitalize default dictsort float indent int items keys length lower replace reverse safe sort string title tojson trim unique upper values';
const filterNames = [...itsFilters.split(' '), ...Object.keys(extraTemplateFilters), ...Object.keys(sameFilter)].sort();
const itsTests =
  'boolean callable defined even false integer iterable lower mapping none number odd sequence string true undefined upper';
const testNames = [...itsTests.split(' '), ...Object.keys(extraTemplateTests)].sort();
const knownMethods = new Set(
  'get items keys values upper lower strip title capitalize rstrip lstrip startswith endswith split replace'.split(' '),
);
const absentNames: Record<string, LocalizedMessage> = {
  secrets: message('Keys stay in the editor’s secret storage and are never passed to a workflow.'),
  env: message('The environment is not passed to a workflow. Use `variables`.'),
  checkpoint: message('Runs are stored automatically. There are no checkpoint files.'),
};
const pythonInstead: Record<string, string> = {
  str: '`| string`',
  int: '`| int`',
  float: '`| float`',
  join: '`| join(", ")`',
  dumps: '`| tojson`',
  loads: '`| fromjson`',
  sum: '`| sum`',
  min: '`| min`',
  max: '`| max`',
  round: '`| round`',
  sorted: '`| sort`',
  abs: '`| abs`',
  list: '`| list`',
};

/** Returns the written form of `state.result["exit code"]`; undefined if the node is no chain of names. */
export function identifierName(node: TemplateNode | undefined): string | undefined {
  if (node?.type === 'Identifier') return node.value;
  if (node?.type === 'CallExpression' && node.callee?.type === 'Identifier') return node.callee.value;
  if (node?.type !== 'MemberExpression') return undefined;
  const object = identifierName(node.object);
  const { property } = node;
  if (object === undefined || !property) return undefined;
  if (!node.computed) return `${object}.${property.value}`;
  if (property.type === 'StringLiteral') return `${object}.${property.value}`;
  return `${object}[${property.type === 'IntegerLiteral' ? property.value : '…'}]`;
}

export function* templateNodeChildren(node: TemplateNode): Generator<TemplateNode> {
  for (const [key, child] of Object.entries(node)) if (key !== 'operator') yield* nodesIn(child); // the operator is a token, no node
}

function* nodesIn(value: unknown): Generator<TemplateNode> {
  if (Array.isArray(value)) for (const one of value) yield* nodesIn(one);
  else if (value instanceof Map) yield* nodesIn([...value.keys(), ...value.values()]);
  else if (typeof value === 'object' && value !== null && 'type' in value) yield value as TemplateNode;
}

/** Rejects Python syntax outside of Jinja and converts our filters to calls. Throws `TemplateError`. */
export function checkTemplate(program: TemplateNode): void {
  const macros = new Set(['caller']);
  for (const open = [program]; open.length > 0; ) {
    const node = open.pop()!;
    if (node.type === 'Macro' && node.name?.value) macros.add(node.name.value);
    open.push(...templateNodeChildren(node));
  }
  check(program, macros);
}

function check(node: TemplateNode, macros: ReadonlySet<string>): void {
  for (const list of ['body', 'alternate', 'defaultBlock'] as const)
    for (const one of ((node as unknown as Record<string, unknown>)[list] ?? []) as TemplateNode[])
      if (one.type === 'MemberExpression') one.printed = true;
  if (node.type === 'FilterExpression') {
    checkFilter(node, macros);
    return;
  }
  if (node.type === 'FilterStatement') {
    const name = identifierName(node.filter);
    if (!itsFilters.split(' ').includes(name ?? ''))
      throw new TemplateError(message('`{% filter {0} %}` is not supported. Use `{{ … | {0} }}`.', String(name)));
  }
  if (node.type === 'TestExpression') {
    const name = String(node.test?.value);
    checkName(name, testNames, 'test');
    if (Object.hasOwn(extraTemplateTests, name))
      throw new TemplateError(message('The test `{0}` takes a value: `is {0}(…)`.', name));
    check(node.operand!, macros);
    return;
  }
  if (node.type === 'CallExpression') checkCall(node.callee!, macros);
  if (node.type === 'Identifier') checkIdentifier(String(node.value));
  if (node.type === 'BinaryExpression' && node.operator?.value === '%' && node.left?.type === 'StringLiteral')
    throw new TemplateError(
      message('`"…" % …` is Python, which Towpath does not run. Use `~`, or `{{ … }}` in the text.'),
    );
  if (node.type === 'MemberExpression') {
    check(node.object!, macros);
    if (node.computed) check(node.property!, macros);
    else if (/^__/.test(String(node.property?.value)))
      throw new TemplateError(
        message('`{0}` is Python syntax. Templates see plain values only.', String(node.property?.value)),
      );
    return;
  }
  for (const child of templateNodeChildren(node)) check(child, macros);
}

function checkIdentifier(name: string): void {
  if (Object.hasOwn(absentNames, name))
    throw new TemplateError(joinLocalizableTexts([message('There is no `{0}` here.', name), absentNames[name]!]));
  if (['for', 'import', 'lambda', 'exec', 'eval'].includes(name))
    throw new TemplateError(
      message('`{0}` is Python, which Towpath does not run. Use Jinja: filters, `{% for %}`.', name),
    );
}

function checkCall(callee: TemplateNode, macros: ReadonlySet<string>): void {
  const method = callee.type === 'MemberExpression';
  const name = String((method ? callee.property : callee)?.value);
  if (
    method ? knownMethods.has(name) : Object.hasOwn(templateFunctions, name) || name === 'namespace' || macros.has(name)
  )
    return;
  const known = Object.hasOwn(pythonInstead, name) ? pythonInstead[name] : undefined;
  const instead = known ?? message(method ? 'a Jinja filter' : 'a Jinja filter, or a node of its own');
  throw new TemplateError(message('`{0}()` is Python, which Towpath does not run. Use {1} instead.', name, instead));
}

function checkName(name: string, names: readonly string[], what: 'filter' | 'test'): void {
  if (names.includes(name)) return;
  const all = names.map((one) => `\`${one}\``).join(', ');
  const none = message(what === 'filter' ? 'There is no filter `{0}`.' : 'There is no test `{0}`.', name);
  throw new TemplateError(
    joinLocalizableTexts([appendHint(none, didYouMeanHint(name, names)), message('There are {0}.', all)]),
  );
}

function checkTest(name: string): void {
  checkName(name, testNames, 'test');
  if (!Object.hasOwn(extraTemplateTests, name))
    throw new TemplateError(message('The test `{0}` takes no value: `is {0}`.', name));
}

function checkFilter(node: TemplateNode, macros: ReadonlySet<string>): void {
  const filter = node.filter!;
  const named = filter.type === 'CallExpression' ? filter.callee! : filter;
  const written = String(named.value);
  const tests = written.startsWith('test:');
  if (tests) checkTest(written.slice(5).replace(/^not /, ''));
  else checkName(written, filterNames, 'filter');
  const args = filter.args ?? [];
  const name = Object.hasOwn(sameFilter, written) ? sameFilter[written]! : written;
  named.value = name;
  const [first, second] = args.map((one) => (one.type === 'StringLiteral' ? String(one.value) : undefined));
  if (name === 'map' && first !== undefined) checkName(first, filterNames, 'filter');
  if ((name === 'select' || name === 'reject') && first !== undefined) checkName(first, testNames, 'test');
  if ((name === 'selectattr' || name === 'rejectattr') && second !== undefined) checkName(second, testNames, 'test');
  if (name === 'tojson' && args[0] && args[0].type !== 'KeywordArgumentExpression')
    args[0] = {
      type: 'KeywordArgumentExpression',
      key: { type: 'Identifier', value: 'indent' },
      value: args[0],
    } as unknown as TemplateNode;
  const { operand } = node;
  check(operand!, macros);
  for (const one of args) check(one, macros);
  if (!tests && !Object.hasOwn(extraTemplateFilters, name)) return;
  delete node.filter;
  delete node.operand;
  const called = (value: string) => ({
    type: 'CallExpression',
    callee: { type: 'Identifier', value },
    args: [operand!, ...args],
  });
  if (!tests) Object.assign(node, called(`filter:${name}`));
  else if (!name.startsWith('test:not ')) Object.assign(node, called(name));
  else
    Object.assign(node, {
      type: 'UnaryExpression',
      operator: { value: 'not' },
      argument: called(`test:${name.slice(9)}`),
    });
}
