import { message } from '../../protocol/text/l10n.ts';
import type { WorkflowFile } from '../plan/schema.ts';
import { parseStateValueType } from '../plan/stateTypes.ts';
import type { YamlFile, YamlPath, YamlProblem } from './yaml.ts';

/** Booleans of YAML 1.1, still used by other hosts of the dialect. */
const switches = /^(?:yes|no|on|off)$/i;

/** Warns about unquoted booleans of YAML 1.1 in values of any type. */
export function unquotedBooleanWarnings(file: WorkflowFile, yaml: YamlFile): YamlProblem[] {
  const warnings: YamlProblem[] = [];
  const look = (value: unknown, path: YamlPath): void => {
    if (typeof value === 'string' && switches.test(value) && yaml.isPlain(path)) {
      const truth = /^(?:yes|on)$/i.test(value);
      warnings.push(
        yaml.problem(
          path,
          message('`{0}` is a text here, not {1} (YAML 1.2). Write `{1}`, or `"{0}"`.', value, String(truth)),
        ),
      );
    } else if (typeof value === 'object' && value !== null)
      for (const [key, one] of Object.entries(value)) look(one, [...path, Array.isArray(value) ? Number(key) : key]);
  };
  const types = { ...file.state_schema, ...file.input_schema };
  for (const [key, value] of Object.entries(file.initial_state))
    if ((parseStateValueType(types[key])?.kind ?? 'any') === 'any') look(value, ['initial_state', key]);
  look(file.variables, ['variables']);
  for (const schema of ['state_schema', 'input_schema'] as const)
    for (const [key, rule] of Object.entries(file[schema]))
      for (const part of ['default', 'choices'] as const)
        if (typeof rule === 'object' && rule !== null && (rule as { type?: unknown }).type !== 'str')
          look((rule as Record<string, unknown>)[part], [schema, key, part]);
  for (const [index, tool] of file.tools.entries())
    for (const [key, parameter] of Object.entries(tool.parameters))
      if (parameter.type !== 'string') look(parameter.default, ['tools', index, 'parameters', key, 'default']);
  for (const [index, node] of file.nodes.entries()) {
    const path = ['nodes', index];
    const steps = (['steps', 'body'] as const).flatMap((list) =>
      (node[list] ?? []).map((step, at) => ({ step, path: [...path, list, at] })),
    );
    for (const { step, path: stepPath } of [{ step: node, path }, ...steps]) {
      if (step.uses === 'state.set') look(step.with, [...stepPath, 'with']);
      if (typeof step.output === 'object') look(step.output, [...stepPath, 'output']);
    }
  }
  return warnings;
}
