import { type WorkflowAction, type WorkflowActionContext, WorkflowActionError } from './action.ts';
import { toCommandLineParameters } from './commandLines.ts';
import { workflowDialectActions } from './dialectActions.ts';
import { llmCallAction, llmRetryAction, llmStreamAction } from './llm.ts';
import { llmToolsAction } from './llmTools.ts';
import { nestedWorkflowAction, nestedWorkflowActionName } from './nested.ts';

const llm: Record<string, WorkflowAction> = {
  'llm.call': llmCallAction,
  'llm.stream': llmStreamAction,
  'llm.retry': llmRetryAction,
  'llm.tools': llmToolsAction,
};

export const prefixedActionName = (name: string) => `actions.${name.replace('.', '_')}`;

const builtIn = new Map<string, WorkflowAction>([
  ...Object.entries(llm),
  ...Object.entries(llm).map(([name, action]): [string, WorkflowAction] => [prefixedActionName(name), action]),
  [nestedWorkflowActionName, nestedWorkflowAction],
  ['state.set', { parameters: undefined, run: async (params) => params }],
  ...Object.entries(workflowDialectActions),
  ...Object.entries(workflowDialectActions).map(([name, action]): [string, WorkflowAction] => [
    prefixedActionName(name),
    action,
  ]),
]);

export const builtInWorkflowActionNames: readonly string[] = [...builtIn.keys()];
/** Names for completion: our own, without the synonyms of the dialect. */
export const suggestedWorkflowActionNames: readonly string[] = [
  ...Object.keys(llm),
  'state.set',
  nestedWorkflowActionName,
];

export const workflowActionByName = (name: string): WorkflowAction => builtIn.get(name) ?? toolAction(name);

/** Creates the action of a workspace tool, subject to the gate. A failed call ends the node with the tool's error. */
const toolAction = (name: string): WorkflowAction => ({
  parameters: undefined,
  async run(params, { run, callId, approval }) {
    const args = name === 'shell.run' ? toCommandLineParameters(params) : params;
    const outcome = await run.execute({ id: callId, name, arguments: args }, approval);
    if (!outcome.ok) throw new WorkflowActionError(outcome.error);
    return outcome.data;
  },
});

/** Performs the action named by `uses`. Throws `WorkflowActionError`, or the signal's reason. */
export function performWorkflowAction(
  name: string,
  params: Record<string, unknown>,
  context: Omit<WorkflowActionContext, 'perform'>,
) {
  return workflowActionByName(name).run(params, { ...context, perform: performWorkflowAction });
}
