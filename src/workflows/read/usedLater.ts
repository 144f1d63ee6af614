import { nestedWorkflowActionName } from '../action/nested.ts';
import { workflowActionResultFields } from '../action/parameters.ts';
import { stateKeysSetByStep } from '../plan/inputs.ts';
import type { WorkflowFile, WorkflowStep } from '../plan/schema.ts';
import { parseTemplate } from '../template/template.ts';
import { allTemplateTexts, allWorkflowSteps } from './dataFlow.ts';
import { variablesReadByTree } from './templateReads.ts';
import type { YamlPath } from './yaml.ts';

/**
 * Returns the result fields of a step that are read later, in file order.
 *
 * @param node name in the run: `outer/inner` in a nested workflow, `node[0]` for a list item
 * @param index index of the step, counted through all rounds of a loop
 */
export function resultFieldsReadLater(
  file: WorkflowFile,
  workflows: ReadonlyMap<string, WorkflowFile>,
  node: string,
  index: number,
): string[] {
  const [name = '', ...inner] = node.split('/').map((part) => part.replace(/\[\d+\]$/, ''));
  const spec = file.nodes.find((one) => one.name === name);
  if (!spec) return [];
  const step: WorkflowStep = spec.steps?.[index] ?? spec.body?.[index % spec.body.length] ?? spec;
  if (inner.length > 0) {
    const nested = step.uses === nestedWorkflowActionName ? workflows.get(String(step.with?.workflow)) : undefined;
    return nested ? resultFieldsReadLater(nested, workflows, inner.join('/'), index) : [];
  }
  const own = [...allWorkflowSteps(file)].find((one) => one.step === step)?.path ?? [];
  const isInput = (path: YamlPath) =>
    own.every((part, at) => part === path[at]) && inputs.has(String(path[own.length]));
  const names = new Set<string>();
  for (const { text, expression, path, step: owner } of allTemplateTexts(file))
    for (const read of variablesReadByTree(parseTemplate(text, expression))) {
      const used = usedOf(read, file, step, { isOwn: owner === step, isInput: isInput(path) });
      if (used !== undefined) names.add(used);
    }
  return [...names];
}

/** Keys resolved before the step has a result. */
const inputs: ReadonlySet<string> = new Set(['with', 'run', 'foreach']);

function usedOf(
  [root = '', key, part]: readonly string[],
  file: WorkflowFile,
  step: WorkflowStep,
  { isOwn, isInput }: { isOwn: boolean; isInput: boolean },
): string | undefined {
  if (root === 'result' || root === 'action_result') return isOwn ? key : undefined;
  if (isInput || typeof step.output === 'object') return undefined;
  const [name, inner] = root === 'state' ? [key, part] : [root, key];
  if (name === undefined) return undefined;
  if (step.output !== undefined) return name === step.output ? (inner ?? name) : undefined;
  const gives = workflowActionResultFields(step.uses ?? '');
  if (gives) return Object.hasOwn(gives, name) ? name : undefined;
  return root === 'state' && !isSetElsewhere(file, name, step) ? name : undefined;
}

function isSetElsewhere(file: WorkflowFile, name: string, step: WorkflowStep): boolean {
  const declared = [file.state_schema, file.input_schema, file.initial_state, { input: '' }];
  if (declared.some((one) => Object.hasOwn(one, name))) return true;
  const steps = file.nodes.flatMap((node): WorkflowStep[] => [node, ...(node.steps ?? []), ...(node.body ?? [])]);
  return steps.some((other) => other !== step && [...stateKeysSetByStep(other)].includes(name));
}
