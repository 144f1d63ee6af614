import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { parallelResultsKey } from '../../protocol/run/graph.ts';
import { message } from '../../protocol/text/l10n.ts';
import { toErrorInfo, UserFacingError } from '../../protocol/text/localized.ts';
import { requiredWorkflowInputs } from '../plan/inputs.ts';
import type { WorkflowFile, WorkflowStep } from '../plan/schema.ts';
import { appendHint, didYouMeanHint } from '../template/near.ts';
import { type WorkflowAction, WorkflowActionError } from './action.ts';

export const nestedWorkflowActionName = 'workflow.run';

const shape = z.strictObject({
  workflow: z.string().min(1).describe('A workflow of `.towpath/workflows`, by the name of its file.'),
  inputs: z
    .record(z.string(), z.unknown())
    .default({})
    .describe('Values that it begins with; it sees no others. It gives what its state holds at its end.'),
});

/** Runs a workflow as a step; implemented by the run, which knows the position of the other workflow. */
export const nestedWorkflowAction: WorkflowAction = {
  parameters: shape,
  async run() {
    const text = message('{0} is a step of a workflow, not a tool of a model.', nestedWorkflowActionName);
    throw new WorkflowActionError({ code: 'TOOL_NOT_AVAILABLE', ...toErrorInfo(text) });
  },
};

export const maxWorkflowNesting = 8;

export const nestedWorkflowNames = ({ nodes }: WorkflowFile): string[] => {
  const steps = nodes.flatMap((node): WorkflowStep[] => [node, ...(node.steps ?? []), ...(node.body ?? [])]);
  return [
    ...new Set(
      steps.flatMap(({ uses, with: given }) => (uses === nestedWorkflowActionName ? [String(given?.workflow)] : [])),
    ),
  ];
};

/**
 * Loads all workflows run directly or indirectly by `file`, by name. Throws `UserFacingError` for a cycle or excessive nesting.
 *
 * @param load throws for an unknown or invalid workflow
 */
export async function loadNestedWorkflows(
  name: string,
  file: WorkflowFile,
  load: (name: string) => Promise<WorkflowFile>,
): Promise<Map<string, WorkflowFile>> {
  const files = new Map<string, WorkflowFile>();
  const depths = new Map<string, number>();
  const depthOf = async (one: WorkflowFile, above: readonly string[]): Promise<number> => {
    let depth = 0;
    for (const inner of nestedWorkflowNames(one)) {
      const way = [...above, inner];
      if (above.includes(inner))
        throw new UserFacingError(message('The workflow {0} runs itself: {1}.', inner, way.join(' → ')));
      const known = files.get(inner) ?? (await load(inner));
      files.set(inner, known);
      const below = depths.get(inner) ?? (way.length > maxWorkflowNesting + 1 ? 0 : await depthOf(known, way));
      depths.set(inner, below);
      depth = Math.max(depth, below + 1);
      if (above.length + depth > maxWorkflowNesting + 1)
        throw new UserFacingError(
          message('Workflows can be nested {0} levels deep; {1} is deeper.', maxWorkflowNesting, way.join(' → ')),
        );
    }
    return depth;
  };
  await depthOf(file, [name]);
  return files;
}

export function resolveNestedWorkflowInputs(
  params: Record<string, unknown>,
  files: ReadonlyMap<string, WorkflowFile>,
): { name: string; file: WorkflowFile; inputs: Record<string, unknown> } {
  const { workflow: name, inputs = {} } = params as { workflow: string; inputs?: Record<string, unknown> };
  const file = files.get(name);
  if (!file) throw new UserFacingError(message('There is no workflow {0} in .towpath/workflows.', name));
  if (typeof inputs !== 'object' || Array.isArray(inputs))
    throw new UserFacingError(message('`inputs` must be keys with values.'));
  const declared = Object.keys({ ...file.state_schema, ...file.input_schema, ...file.initial_state, input: '' });
  for (const key of Object.keys(inputs))
    if (!declared.includes(key))
      throw new UserFacingError(
        appendHint(message('The workflow {0} has no input `{1}`.', name, key), didYouMeanHint(key, declared)),
      );
  const missing = requiredWorkflowInputs(file).filter((key) => !Object.hasOwn(inputs, key));
  if (missing.length > 0)
    throw new UserFacingError(
      message('The workflow {0} requires `{1}`. Set it in `inputs`.', name, missing.join('`, `')),
    );
  return { name, file, inputs };
}

/** Returns the values of a nested workflow, except unchanged inputs. */
export function nestedWorkflowResult(
  state: Record<string, unknown>,
  inputs: Record<string, unknown>,
): Record<string, unknown> {
  const isGiven = (key: string) =>
    key === 'input' ||
    key === parallelResultsKey ||
    (Object.hasOwn(inputs, key) && isDeepStrictEqual(inputs[key], state[key]));
  return Object.fromEntries(Object.entries(state).filter(([key]) => !isGiven(key)));
}
