import type { Workflow } from '../../engine/core/workflow.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import type { WorkflowPackage } from './load.ts';
import { createMountedWorkspace } from './mounts.ts';
import { agentPersonaText, allowsTool, type PackageAgent } from './packageAgents.ts';

export function createPackageAgentChat(
  id: string,
  source: WorkflowPackage,
  agent: PackageAgent,
  project: Workspace,
): Workflow {
  const menu = agent.menu.map(({ trigger, title }, index) => `${index + 1}. ${trigger}: ${title}`);
  const instructions = [
    agentPersonaText(agent),
    `You work in VS Code with your tools, as an agent of the package ${JSON.stringify(source.title)}. Paths are of the workspace; @pkg/… is the package (read only).`,
    ...(menu.length > 0
      ? [`Your menu, which the person opens with "Talk to a Package's Agent…":\n${menu.join('\n')}`]
      : []),
  ].join('\n\n');
  const speaker = { id: agent.id, name: agent.name, instructions };
  const workspace = createMountedWorkspace(project, source.folder, undefined, async () => {}, {
    maxWriteBytes: () => agent.maxWriteBytes,
  });
  return {
    id,
    agent: speaker,
    advance: ({ turns }) => turns({ agent: speaker, workspace, allows: (tool) => allowsTool(agent, tool.name) }),
  };
}
