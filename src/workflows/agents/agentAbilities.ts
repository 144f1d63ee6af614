import { userQuestionToolName } from '../../protocol/content/askTool.ts';
import { planToolName } from '../../protocol/run/plan.ts';
import { toolNames } from '../../tools/definitions/definitions.ts';
import { allowsTool } from '../package/packageAgents.ts';
import type { AgentFile } from '../plan/schema.ts';
import type { RepositoryAgent } from './parseAgentMarkdown.ts';

/** Kinds of access that a user decides about, in the order of their display. */
export type AgentAbility = 'read' | 'change' | 'run' | 'web' | 'mcp';

/** Tools that do more than read. */
const effects = new Map<string, AgentAbility>([
  ...['fs.edit', 'fs.write', 'fs.apply_patch', 'fs.move', 'fs.delete'].map((tool) => [tool, 'change'] as const),
  ['shell.run', 'run'],
  ['shell.stop', 'run'],
  ['web.fetch', 'web'],
]);
/** Tools of the conversation, which reach nothing else. */
const ofConversation: ReadonlySet<string> = new Set([userQuestionToolName, planToolName]);
const order: readonly AgentAbility[] = ['read', 'change', 'run', 'web', 'mcp'];

/** Returns what an agent of a Markdown file can do at most; the user's rules and approvals apply in addition. */
export function repositoryAgentAbilities(agent: Pick<RepositoryAgent, 'tools' | 'isReadOnly'>): AgentAbility[] {
  const { allow } = agent.tools;
  const allowed = toolNames().filter((tool) => allowsTool(agent, tool));
  const servers = allow === undefined ? ['mcp.*'] : allow.filter((pattern) => pattern.startsWith('mcp.'));
  const anyServer = servers.length > 0 && allowsTool({ tools: { deny: agent.tools.deny } }, 'mcp.server.tool');
  return abilitiesOf(allowed, anyServer, agent.isReadOnly);
}

/** Returns what an agent of `.towpath/agents` can do at most. The action of a custom tool counts as the tool that it calls. */
export function agentFileAbilities({ tools, approval }: AgentFile, known: readonly string[]): AgentAbility[] {
  const names = (tools ?? ['*']).map((tool) => (typeof tool === 'string' ? tool : tool.action));
  const matching = known.filter((tool) => allowsTool({ tools: { allow: names, deny: [] } }, tool));
  const anyServer = names.some((name) => name === '*' || name.startsWith('mcp.'));
  return abilitiesOf(matching, anyServer, approval === 'read_only');
}

function abilitiesOf(tools: readonly string[], anyServer: boolean, isReadOnly: boolean): AgentAbility[] {
  const known = new Set(toolNames());
  const named = tools.filter((tool) => known.has(tool) && !ofConversation.has(tool));
  const found = new Set(named.map((tool) => effects.get(tool) ?? 'read'));
  if (anyServer) found.add('mcp');
  return order.filter((ability) => found.has(ability) && (!isReadOnly || ability === 'read'));
}
