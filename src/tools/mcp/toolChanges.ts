import type { PermissionRule } from '../../protocol/content/rule.ts';
import {
  type ApprovedServer,
  compareWithAcceptedTool,
  earlierToolDefinitions,
  type McpApprovalStore,
} from './approved.ts';
import type { McpServerDefinition } from './config/config.ts';
import type { ListedTool } from './forms/toolSchema.ts';
import { resourceRuleName } from './resources.ts';
import type { McpServer } from './server.ts';
import { hashServerTool, type ServerToolText } from './serverText.ts';
import { serverIdentity } from './serverTool.ts';

/**
 * Approval request for tools that differ from the accepted tools. With an approval, changed tools retain the permissions. `was` is the last
 * accepted text, if known.
 */
export interface McpToolChangesApprovalRequest {
  definition: McpServerDefinition;
  added: readonly ListedTool[];
  changed: readonly { was?: ServerToolText; now: ListedTool }[];
  removed: readonly ServerToolText[];
  trusted: boolean;
}

export interface UnacceptedTool {
  tool: ListedTool;
  as: 'new' | 'changed';
}

/** Returns the tools of a running server that are not accepted; empty before the first list. */
export function unacceptedTools({ tools, state }: McpServer, entry: ApprovedServer | undefined): UnacceptedTool[] {
  if (state.phase !== 'running' || !entry?.tools) return [];
  return tools.flatMap((tool) => {
    const as = compareWithAcceptedTool(entry, tool);
    return as === 'same' ? [] : [{ tool, as }];
  });
}

export function createMcpToolChangesApprovalRequest(
  { definition, tools }: McpServer,
  waiting: readonly UnacceptedTool[],
  approved: McpApprovalStore,
): McpToolChangesApprovalRequest {
  const before = new Map(approved.approvedTexts(definition).map((tool) => [tool.name, tool]));
  const only = (as: UnacceptedTool['as']) => waiting.filter((one) => one.as === as).map(({ tool }) => tool);
  const present = new Set(tools.map(({ name }) => name));
  return {
    definition,
    added: only('new'),
    changed: only('changed').map((now) => ({ was: before.get(now.name), now })),
    removed: [...before.values()].filter(({ name }) => !present.has(name)),
    trusted: approved.entry(definition)?.trusted ?? false,
  };
}

/** State of a rule's tool: `here`, as allowed or accepted since; `gone`, missing on its running server; `away`, the server does not run. */
export type RuleToolState = 'here' | 'gone' | 'away';

export function findRuleToolState(
  { identity, definition }: NonNullable<PermissionRule['server']>,
  all: readonly McpServer[],
  approved: McpApprovalStore,
): RuleToolState {
  const servers = all.filter((one) => one.state.phase === 'running' && serverIdentity(one.definition) === identity);
  const isHere = servers.some((server) => {
    if (definition === resourceRuleName) return server.hasResources;
    const entry = approved.entry(server.definition);
    return server.tools.some((tool) =>
      [hashServerTool(tool), ...earlierToolDefinitions(entry, tool)].includes(definition),
    );
  });
  return isHere ? 'here' : servers.length > 0 ? 'gone' : 'away';
}
