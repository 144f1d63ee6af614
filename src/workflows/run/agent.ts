import type { Agent, TurnOptions, WorkflowContext } from '../../engine/core/workflow.ts';
import { userQuestionToolName } from '../../protocol/content/askTool.ts';
import type { WorkflowActionContext } from '../action/action.ts';
import { performWorkflowAction } from '../action/actions.ts';
import { resolveToolList } from '../action/toolSpecs.ts';
import type { AgentFile } from '../plan/schema.ts';
import { renderTemplatesDeep } from '../template/template.ts';

/** Returns the turn of an agent in a run of its own. */
export const ownTurnOptions = (id: string, file: AgentFile, run: WorkflowContext): TurnOptions =>
  agentTurnOptions(id, file, {
    run,
    node: id,
    callId: id,
    defaults: {},
    tools: [],
    scope: {},
    perform: performWorkflowAction,
  });

export function agentTurnOptions(id: string, file: AgentFile, context: WorkflowActionContext): TurnOptions {
  const {
    allows = () => true,
    extraTools = [],
    needed,
  } = resolveToolList(
    renderTemplatesDeep(file.tools, context.scope) as AgentFile['tools'],
    file.approval === 'ask' ? { ...context, approval: 'ask' } : context,
  );
  const readOnly = file.approval === 'read_only';
  const { temperature, max_turns = file.maxTurns } = file;
  return {
    agent: agentOf(id, file),
    allows: (tool) => allows(tool) && (!readOnly || tool.name === userQuestionToolName || context.run.reads(tool.name)),
    extraTools: readOnly ? extraTools.filter((tool) => tool.free) : extraTools,
    ...(needed && { needed }),
    ...(temperature !== undefined && { request: { temperature } }),
    ...(max_turns !== undefined && { maxTurns: Math.min(max_turns, context.run.maxTurns) }),
  };
}

export function agentOf(id: string, { name = id, instructions, model, approval }: AgentFile): Agent {
  return { id, name, instructions, ...(model && { model }), ...(approval === 'ask' && { approval }) };
}
