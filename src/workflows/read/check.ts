import type * as z from 'zod';
import { type LocalizedMessage, message, toEnglishText } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts, type LocalizableText, toErrorInfo } from '../../protocol/text/localized.ts';
import { parseYamlWithPositions, type YamlFile, type YamlPath, type YamlProblem } from './yaml.ts';

export type WorkflowLoadResult<Value> =
  | { value: Value; problems: []; warnings: YamlProblem[] }
  | { value?: undefined; problems: YamlProblem[]; warnings: YamlProblem[] };

export interface WorkflowFindings {
  problems: YamlProblem[];
  warnings: YamlProblem[];
}

/**
 * Loads a file with a schema. All problems are reported with line and column.
 *
 * @param more finds problems outside of the schema; `whole` is false if invalid parts were omitted from the value
 * @param spelled converts the file to the notation of the schema
 */
export function loadYaml<Schema extends z.ZodType>(
  text: string,
  schema: Schema,
  more: (value: z.output<Schema>, file: YamlFile, whole: boolean) => WorkflowFindings,
  spelled: (file: YamlFile) => WorkflowFindings & { file: YamlFile } = (file) => ({ file, problems: [], warnings: [] }),
): WorkflowLoadResult<z.output<Schema>> {
  const read = parseYamlWithPositions(text);
  if (read.problems.length > 0) return { problems: atMost(read.problems), warnings: [] };
  if (typeof read.value !== 'object' || read.value === null || Array.isArray(read.value))
    return { problems: [read.problem([], noKeys)], warnings: [] };
  const { file, ...found } = spelled(read);
  const { value, issues } = parseParts(schema, file.value);
  const seen = value === undefined ? { problems: [], warnings: [] } : more(value, file, issues.length === 0);
  const problems = [
    ...found.problems,
    ...issues.flatMap((issue) => schemaIssueToYamlProblems(issue, file, [])),
    ...seen.problems,
  ];
  const warnings = atMost([...read.warnings, ...found.warnings, ...seen.warnings].sort(inOrder));
  if (problems.length === 0 && value !== undefined) return { value, problems: [], warnings };
  return { problems: atMost(onlyOnce(problems.sort(inOrder))), warnings };
}

const noKeys = message('This file has to be a list of keys with values: `name: …`.');

/** Returns the value without its invalid parts, if anything remains, and their issues. */
function parseParts<Schema extends z.ZodType>(schema: Schema, given: unknown) {
  const issues: z.core.$ZodIssue[] = [];
  let rest = given;
  for (let round = 0; round < maxRounds; round++) {
    const parsed = schema.safeParse(rest);
    if (parsed.success) return { value: parsed.data, issues };
    const gone = new Set(issues.map(({ path }) => JSON.stringify(path)));
    issues.push(...parsed.error.issues.filter(({ path }) => !gone.has(JSON.stringify(path))));
    rest = structuredClone(rest);
    const removed = parsed.error.issues.map((issue) => remove(rest, issue));
    if (!removed.every(Boolean)) break;
  }
  return { issues };
}

const maxRounds = 4;

function remove(value: unknown, issue: z.core.$ZodIssue): boolean {
  const keys = issue.code === 'unrecognized_keys' ? issue.keys : [String(issue.path.at(-1))];
  const path = issue.code === 'unrecognized_keys' ? issue.path : issue.path.slice(0, -1);
  const holder = path.reduce<unknown>((at, key) => (Object(at) as Record<PropertyKey, unknown>)[key], value);
  if (typeof holder !== 'object' || holder === null || Array.isArray(holder)) return false;
  return keys.map((key) => Object.hasOwn(holder, key) && Reflect.deleteProperty(holder, key)).every(Boolean);
}

const inOrder = (one: YamlProblem, other: YamlProblem) => one.line - other.line || one.column - other.column;

function onlyOnce(problems: YamlProblem[]): YamlProblem[] {
  const seen = new Set<string>();
  return problems.filter(({ line, column, message }) => {
    const before = seen.size;
    return seen.add(`${line}:${column}:${message}`).size > before;
  });
}

export const maxYamlProblems = 64;

function atMost(problems: YamlProblem[]): YamlProblem[] {
  if (problems.length <= maxYamlProblems) return problems;
  const listed = problems.slice(0, maxYamlProblems - 1);
  const text = message('There are {0} more in this file. Fix the ones above first.', problems.length - listed.length);
  return [...listed, { ...problems[listed.length]!, ...toErrorInfo(text) }];
}

const instead = {
  script: 'Towpath does not run code of a workflow file. Use an action (`uses:`), or `shell.run` for a program.',
  language: 'Towpath does not run code of a workflow file. Use an action (`uses:`), or `shell.run` for a program.',
  imports: 'Towpath does not load Python modules. Use the tools of the workspace, or an MCP server.',
  subgraph: 'Use `uses: workflow.run` with the name of a workflow.',
  temperature: 'Settings of a model call go into `with:` of an `llm.*` action.',
  inputs: 'Declare inputs in `state_schema`, or with their rules in `input_schema`.',
  agent: 'An `agent` works at a node of its own. Use `goto` to go there and back.',
  interrupt: 'Towpath does not interrupt at a node. Let an `agent` ask a question there, or use *Pause*.',
  interrupt_before: 'Towpath does not interrupt at a node. Let an `agent` ask a question there, or use *Pause*.',
  interrupt_after: 'Towpath does not interrupt at a node. Let an `agent` ask a question there, or use *Pause*.',
  checkpoint: 'Runs are stored automatically and continue where they were. There are no checkpoint files.',
  retry: 'Use `on_error: {retry: 3}`, or `llm.retry` for a model call.',
  fallback: 'Use `on_error: {goto: …}` with the next node.',
  items: 'Use `foreach` for a list.',
  parallel_each: 'Use `foreach` for a list.',
  strategy: 'Use `foreach` for a list.',
  timeout: 'Nodes have no time limit of their own. The limits of a model call are settings of Towpath.',
  streams: 'Nodes pass values to each other, not byte streams. Use `output` and `state`.',
  next: 'Use `goto` for the node that follows.',
  when: 'Use `when` in `edges`; in a `goto` use `if`.',
  if: 'Use `if` in a `goto`; in `edges` use `when`.',
} as const;
const noCode = message(
  'Towpath does not run Python. Use an action (`uses:`), `run: {type: expression, value: …}` with a Jinja expression, or `shell.run` for a program.',
);

const absent = (key: string): LocalizedMessage =>
  Object.hasOwn(instead, key)
    ? message(instead[key as keyof typeof instead])
    : message('There is no key `{0}` here.', key);

export function schemaIssueToYamlProblems(issue: z.core.$ZodIssue, file: YamlFile, before: YamlPath): YamlProblem[] {
  const path = [...before, ...issue.path.map((part) => (typeof part === 'number' ? part : String(part)))];
  const last = path.at(-1);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => file.problem([...path, key], absent(key), 'key'));
  if (last === 'run' && issue.code === 'invalid_type') return [file.problem(path, noCode, 'key')];
  if (last === 'type' && issue.code === 'invalid_value' && path.includes('nodes'))
    return [file.problem(path, message('`type` can only be {0} here.', listOf(issue.values)))];
  if (issue.code === 'invalid_union' && issue.discriminator)
    return [
      file.problem(
        path,
        only(
          last,
          [...issue.message.matchAll(/'([^']+)'/g)].map(([, one]) => one),
        ),
      ),
    ];
  if (issue.code === 'invalid_union') {
    const own = issue.errors.filter(
      (errors) => !errors.some((one) => one.code === 'invalid_type' && one.path.length === 0),
    );
    if (own[0]) return own[0].flatMap((one) => schemaIssueToYamlProblems(one, file, path));
    const expected = issue.errors.flat().flatMap((one) => (one.code === 'invalid_type' ? [one.expected] : []));
    return [file.problem(path, hasToBe(last, expected))];
  }
  if (issue.code === 'invalid_key')
    return [file.problem(path, withKey(last, issue.issues[0]?.message ?? message('not a name.').english), 'key')];
  if (issue.code === 'invalid_type') {
    const missing = issue.input === undefined && /received undefined/.test(issue.message);
    if (missing) return [file.problem(path, message('`{0}` is missing.', String(last)))];
    return [file.problem(path, hasToBe(last, [issue.expected]))];
  }
  if (issue.code === 'invalid_value') return [file.problem(path, only(last, issue.values))];
  if (issue.code === 'too_small') return [file.problem(path, message('{0} is too small or empty.', shown(last)))];
  if (issue.code === 'too_big')
    return [file.problem(path, message('{0} can be at most {1}.', shown(last), String(issue.maximum)))];
  return [file.problem(path, withKey(last, issue.message))];
}

type Key = string | number | undefined;
const shown = (key: Key): LocalizableText => (typeof key === 'number' ? message('This') : `\`${key}\``);
const only = (key: Key, all: readonly unknown[]): LocalizableText =>
  message('{0} can only be {1}.', shown(key), listOf(all));
const withKey = (key: Key, english: string): LocalizableText => joinLocalizableTexts([shown(key), { english }], ': ');

function hasToBe(key: Key, expected: readonly string[]): LocalizableText {
  const kinds = [...new Set(expected)].map((one) =>
    Object.hasOwn(issueTexts, one) ? message(issueTexts[one as keyof typeof issueTexts]) : one,
  );
  const distinct = kinds.filter(
    (one, at) => kinds.findIndex((two) => toEnglishText(two) === toEnglishText(one)) === at,
  );
  const either = distinct.length > 0 ? distinct.reduce((one, other) => message('{0} or {1}', one, other)) : '';
  return message('{0} must be {1}.', shown(key), either);
}

const listOf = (all: readonly unknown[]) => all.map((one) => `\`${one}\``).join(', ');
const issueTexts = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: '`true` or `false`',
  array: 'a list',
  object: 'keys with values',
  record: 'keys with values',
} as const;
