import { parallelResultsKey } from '../../protocol/run/graph.ts';
import { message, t } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts, type LocalizableText, UserFacingError } from '../../protocol/text/localized.ts';
import { toDictionary } from '../../protocol/values/dictionary.ts';
import type { WorkflowFile, WorkflowStep } from './schema.ts';
import { coerceToStateType, parseStateValueType, type StateValueType, stateTypeMismatch } from './stateTypes.ts';

/** Returns the state keys that the user must provide: declared, without a value, and set by no node. */
export function requiredWorkflowInputs(file: WorkflowFile): string[] {
  const set = new Set([...Object.keys(file.initial_state), parallelResultsKey]);
  for (const node of file.nodes) {
    if (node.foreach !== undefined) for (const key of [node.item ?? 'item', node.index ?? 'index']) set.add(key);
    if (node.body && node.output === undefined) for (const key of workflowLoopStateKeys) set.add(key);
    for (const step of [node, ...(node.steps ?? []), ...(node.body ?? [])])
      for (const key of [...stateKeysSetByStep(step), ...(step.on_error ? ['error'] : [])]) set.add(key);
  }
  const declared = typesOf(file);
  const given = Object.keys(file.input_schema);
  const wanted = Object.keys(declared).filter((key) => given.includes(key) || !set.has(key));
  return wanted.filter((key) => !(given.includes(key) && declared[key]!.rules.default !== undefined));
}

/** Keys set by a loop, unless the file uses them otherwise. */
export const workflowLoopStateKeys = ['iterations', 'limit_reached'] as const;

export const usedStateKeys = (file: WorkflowFile): ReadonlySet<string> =>
  new Set([
    ...Object.keys({ ...file.input_schema, ...file.initial_state }),
    ...file.nodes.flatMap((node) => [node, ...(node.steps ?? []), ...(node.body ?? [])].flatMap(stateKeysSetByStep)),
  ]);

export const stateKeysSetByStep = ({ output, run, uses, with: given }: WorkflowStep): string[] => [
  ...(typeof output === 'string' ? [output] : Object.keys(output ?? {})),
  ...(run ? [run.output_key] : []),
  ...(uses === 'state.set' ? Object.keys(given ?? {}) : []),
];

/** Returns the problem of a text entered for a key, localized; undefined if valid. */
export function inputProblem(file: WorkflowFile, key: string, text: string): string | undefined {
  const type = typesOf(file)[key];
  if (!type) return undefined;
  if (text === '') return type.rules.required === true ? t('`{0}` is required.', key) : undefined;
  const problem = stateTypeMismatch(type, coerceToStateType(type, text), key);
  return problem && `${t(problem)}.`;
}

/** Returns the initial values of a run. Throws `UserFacingError` for a value of the wrong type. */
export function initialWorkflowValues(
  file: WorkflowFile,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const types = typesOf(file);
  const values = toDictionary<unknown>(file.initial_state);
  for (const [key, { rules }] of Object.entries(types))
    if (rules.default !== undefined && values[key] === undefined) values[key] = rules.default;
  for (const [key, value] of Object.entries(given)) {
    const type = types[key];
    const used = type && value !== '' ? coerceToStateType(type, value) : value;
    const problem = type && value !== '' ? stateTypeMismatch(type, used, key) : undefined;
    if (problem) throw new UserFacingError(message('The run cannot start: {0}.', problem));
    values[key] = value === '' && type && type.kind !== 'str' && type.kind !== 'any' ? null : used;
  }
  for (const key of Object.keys(file.input_schema))
    if (types[key]?.rules.required === true && (values[key] ?? '') === '')
      throw new UserFacingError(message('The run cannot start: `{0}` is required.', key));
  return { ...values };
}

/** Returns warnings about values that differ from their declared type. The dialect permits such values. */
export function stateTypeWarnings(file: WorkflowFile, state: Readonly<Record<string, unknown>>): LocalizableText[] {
  const types = typesOf(file);
  return Object.entries(state).flatMap(([key, value]) => {
    const problem = types[key] && stateTypeMismatch(types[key], value, key);
    return problem ? [joinLocalizableTexts([problem, ' (`state_schema`).'], '')] : [];
  });
}

function typesOf({ state_schema, input_schema }: WorkflowFile): Record<string, StateValueType> {
  const entries = Object.entries({ ...state_schema, ...input_schema }).flatMap(([key, written]) => {
    const type = parseStateValueType(written);
    return type ? [[key, type] as const] : [];
  });
  return Object.fromEntries(entries);
}
