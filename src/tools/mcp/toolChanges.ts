import type { Rule } from '../../protocol/content/rule.ts';
import { type Approved, type ApprovedServer, definitionsBefore, judgeTool } from './approved.ts';
import type { Definition } from './config/config.ts';
import { resources } from './resources.ts';
import type { ListedTool, McpServer } from './server.ts';
import { type ServerToolText, serverToolDefinition } from './serverText.ts';
import { serverIdentity } from './serverTool.ts';

/** Tools that are not what was accepted. With a yes, what was allowed for the changed ones goes on for them. */
export interface ToolsQuestion {
  definition: Definition;
  added: readonly ListedTool[];
  /** `was`: its words when it was last accepted, where they are known. */
  changed: readonly { was?: ServerToolText; now: ListedTool }[];
  /** Those of the last accepted list that are there no more. */
  removed: readonly ServerToolText[];
  /** What says that it only reads runs without a question. */
  trusted: boolean;
}

export interface WaitingTool {
  tool: ListedTool;
  as: 'new' | 'changed';
}

/** Tools of a running server that are not what was accepted: disabled. None before any list was. */
export function waitingTools({ tools, state }: McpServer, entry: ApprovedServer | undefined): WaitingTool[] {
  if (state.phase !== 'running' || !entry?.tools) return [];
  return tools.flatMap((tool) => {
    const as = judgeTool(entry, tool);
    return as === 'same' ? [] : [{ tool, as }];
  });
}

export function toolsQuestion(
  { definition, tools }: McpServer,
  waiting: readonly WaitingTool[],
  approved: Approved,
): ToolsQuestion {
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

/**
 * What has become of a rule's tool: `here`, as it was allowed or with the person's yes to what it says now; `gone`, though its
 * server runs; `away`, where no such server runs.
 */
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
