import type * as z from 'zod';
import { type Problem, readYaml, type YamlFile, type YamlPath } from './yaml.ts';

export type Loaded<Value> = { value: Value; problems: [] } | { value?: undefined; problems: Problem[] };

/** Reads a file of this schema. Every problem is a sentence at its line and column. */
export function loadYaml<Schema extends z.ZodType>(
  text: string,
  schema: Schema,
  more: (value: z.output<Schema>, file: YamlFile) => Problem[] = () => [],
): Loaded<z.output<Schema>> {
  const file = readYaml(text);
  if (file.problems.length > 0) return { problems: file.problems };
  if (typeof file.value !== 'object' || file.value === null || Array.isArray(file.value))
    return { problems: [file.problem([], 'This file has to be a list of keys with values: `name: …`.')] };
  const parsed = schema.safeParse(file.value);
  const problems = parsed.success
    ? more(parsed.data, file)
    : parsed.error.issues.flatMap((issue) => problemsOf(issue, file, []));
  if (problems.length === 0 && parsed.success) return { value: parsed.data, problems: [] };
  return { problems: problems.sort((one, other) => one.line - other.line || one.column - other.column) };
}

/** Keys of other hosts of the dialect, and what to use here. */
const instead = new Map<string, string>(
  Object.entries({
    script: 'Towpath runs no code of a workflow file. Use an action (`uses:`), or `shell.run` for a program.',
    language: 'Towpath runs no code of a workflow file. Use an action (`uses:`), or `shell.run` for a program.',
    imports: 'Towpath loads no Python modules. Use the tools of the workspace, or an MCP server.',
    subgraph: 'Workflows are not nested. Write the nodes here.',
    items:
      'Nodes over a list (`dynamic_parallel`) are not supported. Use `edges` with `parallel: true`, or `while_loop`.',
    secrets: 'Keys stay in the editor’s secret storage and are never given to a workflow.',
    endpoint: 'Towpath serves no addresses. Run the workflow from the command palette.',
    temperature: 'Settings of a model call go into `with:`.',
  }),
);
const noCode =
  'Towpath runs no Python. Use an action (`uses:`), `run: {type: expression, value: …}` with a Jinja expression, or `shell.run` for a program.';

function problemsOf(issue: z.core.$ZodIssue, file: YamlFile, before: YamlPath): Problem[] {
  const path = [...before, ...issue.path.map((part) => (typeof part === 'number' ? part : String(part)))];
  const last = path.at(-1);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) =>
      file.problem([...path, key], instead.get(key) ?? `There is no key \`${key}\` here.`, 'key'),
    );
  if (last === 'run' && issue.code === 'invalid_type') return [file.problem(path, noCode, 'key')];
  if (last === 'type' && issue.code === 'invalid_value' && path.includes('nodes'))
    return [file.problem(path, `\`type\` can only be ${listOf(issue.values)} here.`)];
  if (issue.code === 'invalid_union') {
    // The alternative of the value's own kind says most: a list that is wrong is still meant as a list.
    const own = issue.errors.filter(
      (errors) => !errors.some((one) => one.code === 'invalid_type' && one.path.length === 0),
    );
    if (own[0]) return own[0].flatMap((one) => problemsOf(one, file, path));
    const expected = issue.errors
      .flat()
      .map((one) => (one.code === 'invalid_type' ? (words[one.expected] ?? one.expected) : ''));
    return [file.problem(path, `${shown(last)} has to be ${[...new Set(expected.filter(Boolean))].join(' or ')}.`)];
  }
  if (issue.code === 'invalid_key')
    return [file.problem(path, `\`${last}\`: ${issue.issues[0]?.message ?? 'not a name.'}`, 'key')];
  if (issue.code === 'invalid_type') {
    const missing = issue.input === undefined && /received undefined/.test(issue.message);
    if (missing) return [file.problem(path, `\`${last}\` is missing.`)];
    return [file.problem(path, `${shown(last)} has to be ${words[issue.expected] ?? issue.expected}.`)];
  }
  if (issue.code === 'invalid_value')
    return [file.problem(path, `${shown(last)} can only be ${listOf(issue.values)}.`)];
  if (issue.code === 'too_small') return [file.problem(path, `${shown(last)} is too small or empty.`)];
  if (issue.code === 'too_big') return [file.problem(path, `${shown(last)} can be at most ${issue.maximum}.`)];
  return [file.problem(path, `${shown(last)}: ${issue.message}`)];
}

const shown = (key: string | number | undefined) => (typeof key === 'number' ? 'This' : `\`${key}\``);
const listOf = (all: readonly unknown[]) => all.map((one) => `\`${one}\``).join(', ');
const words: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: '`true` or `false`',
  array: 'a list',
  object: 'keys with values',
  record: 'keys with values',
};
