import { type Action, type ActionContext, ActionError } from './action.ts';
import { withCommandLine } from './commandLines.ts';
import { dialectActions } from './dialectActions.ts';
import { llmCall, llmRetry, llmStream } from './llm.ts';
import { llmTools } from './llmTools.ts';
import { nestedAction, workflowRun } from './nested.ts';

const llm: Record<string, Action> = {
  'llm.call': llmCall,
  'llm.stream': llmStream,
  'llm.retry': llmRetry,
  'llm.tools': llmTools,
};

export const dual = (name: string) => `actions.${name.replace('.', '_')}`;

const builtIn = new Map<string, Action>([
  ...Object.entries(llm),
  ...Object.entries(llm).map(([name, action]): [string, Action] => [dual(name), action]),
  [nestedAction, workflowRun],
  ['state.set', { parameters: undefined, run: async (params) => params }],
  ...Object.entries(dialectActions),
  ...Object.entries(dialectActions).map(([name, action]): [string, Action] => [dual(name), action]),
]);

export const builtInNames: readonly string[] = [...builtIn.keys()];
/** Names for completion: our own, without the synonyms of the dialect. */
export const providedNames: readonly string[] = [...Object.keys(llm), 'state.set', nestedAction];

export const actionOf = (name: string): Action => builtIn.get(name) ?? toolAction(name);

/** Creates the action of a workspace tool, subject to the gate. A failed call ends the node with the tool's error. */
const toolAction = (name: string): Action => ({
  parameters: undefined,
  async run(params, { run, callId, approval }) {
    const args = name === 'shell.run' ? withCommandLine(params) : params;
    const outcome = await run.execute({ id: callId, name, arguments: args }, approval);
    if (!outcome.ok) throw new ActionError(outcome.error);
    return outcome.data;
  },
});

/** Performs the action named by `uses`. Throws `ActionError`, or the signal's reason. */
export function perform(name: string, params: Record<string, unknown>, context: Omit<ActionContext, 'perform'>) {
  return actionOf(name).run(params, { ...context, perform });
}
