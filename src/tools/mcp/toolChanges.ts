import type { Rule } from '../../protocol/content/rule.ts';
import { type Approved, type ApprovedServer, definitionsBefore, judgeTool } from './approved.ts';
import type { Definition } from './config/config.ts';
import { resources } from './resources.ts';
import type { ListedTool, McpServer } from './server.ts';
import { type ServerToolText, serverToolDefinition } from './serverText.ts';
import { serverIdentity } from './serverTool.ts';

/**
 * Approval request for tools that differ from the accepted tools. With an approval, changed tools retain the permissions. `was` is the last
 * accepted text, if known.
 */
export interface ToolsApproval {
  definition: Definition;
  added: readonly ListedTool[];
  changed: readonly { was?: ServerToolText; now: ListedTool }[];
  removed: readonly ServerToolText[];
  trusted: boolean;
}

export interface WaitingTool {
  tool: ListedTool;
  as: 'new' | 'changed';
}

/** Returns the tools of a running server that are not accepted; empty before the first list. */
export function waitingTools({ tools, state }: McpServer, entry: ApprovedServer | undefined): WaitingTool[] {
  if (state.phase !== 'running' || !entry?.tools) return [];
  return tools.flatMap((tool) => {
    const as = judgeTool(entry, tool);
    return as === 'same' ? [] : [{ tool, as }];
  });
}

export function toolsApproval(
  { definition, tools }: McpServer,
  waiting: readonly WaitingTool[],
  approved: Approved,
): ToolsApproval {
  const before = new Map(approved.wordsBefore(definition).map((tool) => [tool.name, tool]));
  const only = (as: WaitingTool['as']) => waiting.filter((one) => one.as === as).map(({ tool }) => tool);
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
export type Whereabouts = 'here' | 'gone' | 'away';

export function whereaboutsOf(
  { identity, definition }: NonNullable<Rule['server']>,
  all: readonly McpServer[],
  approved: Approved,
): Whereabouts {
  const servers = all.filter((one) => one.state.phase === 'running' && serverIdentity(one.definition) === identity);
  const isHere = servers.some((server) => {
    if (definition === resources) return server.hasResources;
    const entry = approved.entry(server.definition);
    return server.tools.some((tool) =>
      [serverToolDefinition(tool), ...definitionsBefore(entry, tool)].includes(definition),
    );
  });
  return isHere ? 'here' : servers.length > 0 ? 'gone' : 'away';
}
