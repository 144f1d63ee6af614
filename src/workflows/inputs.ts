import type { WorkflowFile } from './schema.ts';

/** Keys of the state that a person has to give: declared, without a value, and set by no node. */
export function inputsOf({ state_schema: declared, initial_state: given, nodes }: WorkflowFile): string[] {
  const set = new Set(Object.keys(given));
  for (const node of nodes)
    for (const step of [node, ...(node.steps ?? []), ...(node.body ?? [])]) {
      if (typeof step.output === 'string') set.add(step.output);
      else for (const key of Object.keys(step.output ?? {})) set.add(key);
      if (step.run) set.add(step.run.output_key);
      if (step.uses === 'state.set') for (const key of Object.keys(step.with ?? {})) set.add(key);
    }
  set.add('parallel_results');
  return Object.keys(declared).filter((key) => !set.has(key));
}
