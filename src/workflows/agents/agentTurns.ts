import type { Agent, TurnOptions, WorkflowContext } from '../../engine/core/workflow.ts';
import { userQuestionToolName } from '../../protocol/content/askTool.ts';
import { allowsTool } from '../package/packageAgents.ts';
import type { RepositoryAgent } from './parseAgentMarkdown.ts';

/** Returns the turn of an agent of a Markdown file. It offers a part of the tools of the run and never more. */
export function repositoryAgentTurnOptions(
  id: string,
  file: RepositoryAgent,
  run: Pick<WorkflowContext, 'reads' | 'maxTurns'>,
  model?: string,
): TurnOptions {
  const { temperature, maxTurns, tools, isReadOnly } = file;
  const mayUse = (name: string) => !isReadOnly || name === userQuestionToolName || run.reads(name);
  return {
    agent: repositoryAgentOf(id, file, model),
    allows: ({ name }) => allowsTool(file, name) && mayUse(name),
    ...(tools.allow && { needed: tools.allow }),
    ...(temperature !== undefined && { request: { temperature } }),
    ...(maxTurns !== undefined && { maxTurns: Math.min(maxTurns, run.maxTurns) }),
  };
}

/** Returns the agent of a run. `model`: the configured model that the user agreed to; the other names of the file have no effect. */
export const repositoryAgentOf = (
  id: string,
  { name, instructions, asks }: RepositoryAgent,
  model?: string,
): Agent => ({
  id,
  name,
  instructions: `You are ${JSON.stringify(name)}, an agent of this repository. You work in VS Code with your tools.\n\n${instructions}`,
  ...(model !== undefined && { model }),
  ...(asks && { approval: 'ask' as const }),
});
