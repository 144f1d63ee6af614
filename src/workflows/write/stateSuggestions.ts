import type { Document } from 'yaml';
import {
  cursorMarker,
  type DescribedJsonSchema,
  findWritingPosition,
  parseYamlTolerantly,
  type WorkflowFileCompletion,
  type WorkflowLanguage,
  type YamlNodePath,
} from './writing.ts';

type Plain = Record<string, unknown>;

/**
 * Returns completions after `state.`, `variables.`, `result.` or a nested value, derived from the steps of the file; undefined if none
 * applies at `offset`. Never throws.
 */
export function workflowStateCompletionsAt(
  text: string,
  offset: number,
  language: WorkflowLanguage,
): { from: number; all: WorkflowFileCompletion[] } | undefined {
  const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset).slice(-longestLine);
  const [, head, chain] = /(?:^|[^\w.\])])(state|variables|result)((?:\.\w*)+)$/.exec(before) ?? [];
  if (!head || !chain || before.trimStart().startsWith('#')) return undefined;
  const keys = chain.slice(1).split('.');
  const from = offset - keys.pop()!.length;
  const rest = text.slice(offset).replace(/^\w*/, '');
  const document = parseYamlTolerantly(`${text.slice(0, from)}${cursorMarker}${rest}`);
  const found =
    document &&
    findWritingPosition(document, ({ range }) => range !== undefined && range![0] <= from && from < range![1]);
  if (!found) return { from, all: [] };
  let schema: DescribedJsonSchema | undefined = { properties: namedBy(head, document, found.path, language) };
  for (const key of keys) {
    const properties: Record<string, DescribedJsonSchema> = schema?.properties ?? {};
    schema = Object.hasOwn(properties, key) ? properties[key] : undefined;
  }
  const all = Object.entries(schema?.properties ?? {}).map(([label, { description }]): WorkflowFileCompletion => {
    return { label, kind: 'value', ...(description && { description }) };
  });
  return { from, all };
}

const longestLine = 500;

function namedBy(
  head: string,
  document: Document,
  path: YamlNodePath,
  language: WorkflowLanguage,
): Record<string, DescribedJsonSchema> {
  if (head === 'state') return stateOf(document, language);
  if (head === 'variables') return keysOf(plain(document.toJS()).variables);
  const end = path.lastIndexOf('output');
  if (end < 0) return {};
  const step = path.slice(0, end).reduce<unknown>((at, key) => Object(at)[key], document.toJS());
  return resultOf(plain(step), language)?.properties ?? {};
}

function stateOf(document: Document, language: WorkflowLanguage): Record<string, DescribedJsonSchema> {
  const file = plain(document.toJS());
  const all: Record<string, DescribedJsonSchema> = {
    input: { description: 'The workflow’s name and what was asked for, as one text.' },
    ...keysOf(file.initial_state),
    ...keysOf(file.state_schema),
    ...keysOf(file.input_schema),
  };
  for (const node of listOf(file.nodes))
    for (const step of [node, ...listOf(node.steps), ...listOf(node.body)]) Object.assign(all, setBy(step, language));
  return all;
}

function setBy(step: Plain, language: WorkflowLanguage): Record<string, DescribedJsonSchema> {
  const { run, output = step.output_key } = step;
  // lists and loops set results of all rounds
  const whole = step.foreach !== undefined ? {} : step.type === 'while_loop' ? loopKeys : undefined;
  if (whole) return typeof output === 'string' ? { [output]: { properties: whole } } : whole;
  const expression = plain(run);
  if (expression.type === 'expression') return { [String(expression.output_key ?? 'result')]: {} };
  const result = resultOf(step, language);
  if (typeof output === 'string') return { [output]: result ?? {} };
  if (output !== undefined) return keysOf(output);
  return step.agent === undefined ? (result?.properties ?? {}) : {};
}

function resultOf(step: Plain, language: WorkflowLanguage): DescribedJsonSchema | undefined {
  const action = step.uses ?? step.action;
  if (step.agent !== undefined) return { properties: { content: { description: 'What the agent said in the end.' } } };
  if (action === 'state.set') return { properties: keysOf(step.with ?? step.params) };
  return typeof action === 'string' ? language.action(action)?.gives : undefined;
}

const loopKeys: Record<string, DescribedJsonSchema> = {
  iterations: { description: 'How many rounds the loop had.' },
  limit_reached: { description: 'Its condition still held after the last round.' },
};

const keysOf = (value: unknown): Record<string, DescribedJsonSchema> =>
  Object.fromEntries(Object.keys(plain(value)).map((key) => [key, {}]));

const listOf = (value: unknown): Plain[] => (Array.isArray(value) ? value.map(plain) : []);

const plain = (value: unknown): Plain =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Plain) : {};
