import { parallelResultsKey } from '../../protocol/run/graph.ts';
import { type LocalizedMessage, message, toEnglishText } from '../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import { workflowActionResultFields } from '../action/parameters.ts';
import { stateKeysSetByStep, workflowLoopStateKeys } from '../plan/inputs.ts';
import type { NodeDefinition, WorkflowFile, WorkflowStep } from '../plan/schema.ts';
import { appendHint, didYouMeanHint } from '../template/near.ts';
import { parseTemplate } from '../template/template.ts';
import { maxYamlProblems } from './check.ts';
import { variablesReadByTree } from './templateReads.ts';
import type { YamlFile, YamlPath, YamlProblem } from './yaml.ts';

type Keys = ReadonlySet<string>;

/** Warns about names that no step sets, and about keys that a step sets implicitly. Requires a valid file. */
export function dataFlowWarnings(file: WorkflowFile, yaml: YamlFile): YamlProblem[] {
  const warnings: YamlProblem[] = [];
  const state = statesOf(file);
  const warn = (path: YamlPath, text: LocalizableText) => warnings.push(yaml.problem(path, text));
  for (const { path, text, expression, step } of allTemplateTexts(file)) {
    const reported = new Set<string>();
    for (const read of variablesReadByTree(parseTemplate(text, expression))) {
      const near = warnings.length < maxYamlProblems ? didYouMean : () => undefined; // above the limit, warnings are only counted
      const doubt = readDoubt(read, { ...state, near, variables: file.variables }, step);
      if (doubt && !reported.has(toEnglishText(doubt))) warn(path, doubt);
      if (doubt) reported.add(toEnglishText(doubt));
    }
  }
  const declared = [file.state_schema, file.input_schema, file.initial_state].flatMap((one) => Object.keys(one));
  for (const { path, step } of allWorkflowSteps(file)) {
    const taken = [...(impliedBy(step) ?? [])].filter((key) => declared.includes(key));
    if (taken.length > 0)
      warn(
        [...path, 'uses'],
        message(
          'Without `output`, the {0} of the result replaces the one of the state. Set in `output` what to keep.',
          listOf(taken),
        ),
      );
  }
  return warnings;
}

interface States {
  keys: Keys | undefined;
  inner: ReadonlyMap<string, Held | undefined>;
}

interface Held {
  keys: Keys;
  action: LocalizableText;
}

function readDoubt(
  [root = '', key, inner]: readonly string[],
  { keys, inner: inners, variables, near }: States & Pick<WorkflowFile, 'variables'> & { near: typeof didYouMean },
  step: WorkflowStep | undefined,
): LocalizableText | undefined {
  if (root === 'result' || root === 'action_result') {
    const known = step && heldBy(step);
    return key === undefined || !known || known.keys.has(key) ? undefined : lacking(known, key);
  }
  if (root === 'variables') {
    if (key === undefined || Object.hasOwn(variables, key)) return undefined;
    return appendHint(message('There is no variable `{0}`.', key), near(key, Object.keys(variables)));
  }
  if (!keys || (root === 'state' && key === undefined)) return undefined;
  const name = root === 'state' ? key! : root;
  const part = root === 'state' ? inner : key;
  if (root !== 'state' && Object.hasOwn(variables, root)) return undefined;
  if (!keys.has(name)) {
    const hint = near(name, root === 'state' ? keys : [...keys, ...Object.keys(variables)]);
    if (root !== 'state') return appendHint(message('Nothing is named `{0}` here.', name), hint);
    const declare = message('Declare it in `state_schema` to be asked for it.');
    return appendHint(message('Nothing sets `{0}`.', name), hint ?? declare);
  }
  const known = part === undefined ? undefined : inners.get(name);
  return known && !known.keys.has(part!) && !methods.has(part!) ? lacking(known, part!) : undefined;
}

/** Suggests a similar name. Names of one letter are too similar to each other, and the search is limited in long files. */
const didYouMean = (name: string, names: Iterable<string>) =>
  name.length > 2 ? didYouMeanHint(name, [...names].slice(0, 300)) : undefined;

const methods = new Set(['get', 'items', 'keys', 'values']);

function lacking({ keys, action }: Held, key: string): LocalizedMessage {
  const others = listOf([...keys].filter((one) => !always.includes(one)));
  return message('{0} gives no `{1}`, but {2}.', action, key, others);
}

const listOf = (keys: readonly string[]) => keys.map((key) => `\`${key}\``).join(', ');

function statesOf(file: WorkflowFile): States {
  const given = Object.entries(file.initial_state).flatMap(([key, value]) => (value === null ? [] : [key]));
  const inner = new Map<string, Held | undefined>(
    [...given, ...Object.keys(file.input_schema), parallelResultsKey].map((key) => [key, undefined]),
  );
  const keys = new Set(['input', parallelResultsKey, ...given]);
  for (const one of [file.state_schema, file.input_schema, file.initial_state])
    for (const key of Object.keys(one)) keys.add(key);
  let isKnown = true;
  for (const { step, node } of allWorkflowSteps(file)) {
    if (node?.foreach !== undefined) for (const key of [node.item ?? 'item', node.index ?? 'index']) keys.add(key);
    if (step.on_error) keys.add('error');
    if (node?.body && node.output === undefined) for (const key of workflowLoopStateKeys) keys.add(key);
    const whole = typeof step.output === 'string' && node?.foreach === undefined ? heldBy(step) : undefined;
    for (const key of stateKeysSetByStep(step)) {
      keys.add(key);
      const same = inner.has(key) ? inner.get(key) : whole;
      inner.set(key, whole && same && { ...whole, keys: new Set([...whole.keys, ...same.keys]) });
    }
    const implied = impliedBy(step);
    if (!implied) isKnown = false;
    for (const key of implied ?? []) {
      keys.add(key);
      inner.set(key, undefined);
    }
  }
  return { keys: isKnown ? keys : undefined, inner };
}

/** Fields of every result: truncation, and changes by the user. */
const always = ['cut', 'leftOut', 'value', 'changedByPerson'];

function heldBy(step: WorkflowStep & { agent?: unknown }): Held | undefined {
  if (step.agent !== undefined) return { keys: new Set(['content']), action: message('An agent') };
  const action = step.uses ?? '';
  const gives = action.startsWith('mcp') ? undefined : workflowActionResultFields(action);
  return gives && { keys: new Set([...Object.keys(gives), ...always]), action };
}

/** Returns the keys set implicitly by a step; undefined if unknown in advance. */
function impliedBy(step: WorkflowStep & { agent?: unknown; foreach?: unknown }): Keys | undefined {
  if (step.uses === undefined || step.uses === 'state.set' || step.output !== undefined || step.foreach !== undefined)
    return new Set();
  return heldBy(step)?.keys;
}

export function* allWorkflowSteps(
  file: WorkflowFile,
): Generator<{ path: YamlPath; step: WorkflowStep; node?: NodeDefinition }> {
  for (const [index, node] of file.nodes.entries()) {
    const path = ['nodes', index];
    yield { path, step: node, node };
    for (const list of ['steps', 'body'] as const)
      for (const [index, step] of (node[list] ?? []).entries()) yield { path: [...path, list, index], step };
  }
}

interface Text {
  path: YamlPath;
  text: string;
  expression: boolean;
  step?: WorkflowStep;
}

export function* allTemplateTexts(file: WorkflowFile): Generator<Text> {
  for (const { path, step, node } of allWorkflowSteps(file)) {
    yield* templatesIn(step.with, [...path, 'with']);
    if (step.run) yield { path: [...path, 'run', 'value'], text: step.run.value, expression: true };
    if (typeof step.output === 'object') yield* templatesIn(step.output, [...path, 'output'], step);
    if (!node) continue;
    yield* templatesIn(node.prompt, [...path, 'prompt']);
    yield* conditionIn(node.condition, [...path, 'condition']);
    if (typeof node.foreach === 'string') yield* conditionIn(node.foreach, [...path, 'foreach']);
    else yield* templatesIn(node.foreach, [...path, 'foreach']);
    if (Array.isArray(node.goto))
      for (const [index, rule] of node.goto.entries()) yield* conditionIn(rule.if, [...path, 'goto', index, 'if']);
  }
  for (const [index, { when, condition }] of file.edges.entries()) {
    const path = ['edges', index];
    yield* conditionIn(when, [...path, 'when']);
    if (typeof condition === 'string') yield* conditionIn(condition, [...path, 'condition']);
    else yield* conditionIn(condition?.value, [...path, 'condition', 'value']);
  }
  for (const [index, tool] of file.tools.entries()) yield* templatesIn(tool.with, ['tools', index, 'with']);
}

function* conditionIn(text: string | boolean | undefined, path: YamlPath): Generator<Text> {
  if (typeof text === 'string') yield { path, text, expression: true };
}

function* templatesIn(value: unknown, path: YamlPath, step?: WorkflowStep): Generator<Text> {
  if (typeof value === 'string') yield { path, text: value, expression: false, ...(step && { step }) };
  else if (Array.isArray(value))
    for (const [index, one] of value.entries()) yield* templatesIn(one, [...path, index], step);
  else if (typeof value === 'object' && value !== null)
    for (const [key, one] of Object.entries(value)) yield* templatesIn(one, [...path, key], step);
}
