import type { Tool, ToolContext } from '../core/tool.ts';
import {
  type ApprovedServer,
  compareWithAcceptedTool,
  earlierToolDefinitions,
  type McpApprovalStore,
} from './approved.ts';
import type { ElicitationHandler } from './elicitation/elicitationForm.ts';
import type { ListedTool } from './forms/toolSchema.ts';
import { createMcpToolNamer, uniqueServerNames } from './names.ts';
import { resourceTool } from './resources.ts';
import { mcpSchemaLimitsInSearch } from './schema.ts';
import type { McpServer } from './server.ts';
import { hashServerTool } from './serverText.ts';
import { createServerTool, createServerToolOrigin, toServerToolDefinition } from './serverTool.ts';
import { createToolSearchTools, maxPromptTools, type SearchableTool, toolDefinitionLookupTools } from './toolSearch.ts';

/**
 * Returns the tools of all servers: accepted tools in the prompt, or behind a search if there are many. Other tools stay callable and
 * return the reason of the refusal, because a run retains all tools from the start.
 */
export function mcpToolList(
  servers: readonly McpServer[],
  approved: McpApprovalStore,
  elicit?: (server: McpServer, context: ToolContext) => ElicitationHandler,
): readonly Tool[] {
  const nameFor = createMcpToolNamer();
  const entryOf = (server: McpServer) => approved.entry(server.definition);
  const isTrusted = (server: McpServer) => entryOf(server)?.trusted ?? false;
  const entries = new Map(servers.map((server) => [server, entryOf(server)])); // read once, because there may be many tools
  const names = uniqueServerNames(servers.map(({ name }) => name));
  const listed = servers.flatMap((server, index) =>
    server.tools.map((tool) => ({
      server,
      as: names[index]!,
      tool,
      name: nameFor(names[index]!, tool.name),
      isUsable: refusalOf(server, tool, entries.get(server)) === undefined,
    })),
  );
  const usable = listed.filter((one) => one.isUsable);
  const isLong = usable.length > maxPromptTools;
  const tools = listed.map(({ server, tool, name, isUsable }) =>
    createServerTool({
      server,
      listed: tool,
      name,
      sdk: server.sdk!,
      trusted: entries.get(server)?.trusted ?? false,
      hidden: isLong || !isUsable,
      refusal: () => refusalOf(server, tool, entryOf(server)),
      ...(elicit && { elicit: (context) => elicit(server, context) }),
      origin: () =>
        createServerToolOrigin(server.definition, {
          definition: hashServerTool(tool),
          earlier: earlierToolDefinitions(entryOf(server), tool),
        }),
    }),
  );
  const found = tools.flatMap((tool, index): SearchableTool[] => {
    const { isUsable, name, tool: texts } = listed[index]!;
    return isUsable ? [{ tool, whole: toServerToolDefinition(name, texts, mcpSchemaLimitsInSearch) }] : [];
  });
  const readable = servers.flatMap((server, index) => (server.hasResources ? [{ server, as: names[index]! }] : []));
  return [
    ...tools,
    ...(isLong
      ? createToolSearchTools(found, [...new Set(usable.map(({ as }) => as))])
      : toolDefinitionLookupTools(found)),
    ...(readable.length > 0 ? [resourceTool(readable, isTrusted)] : []),
  ];
}

function refusalOf(server: McpServer, tool: ListedTool, entry: ApprovedServer | undefined): string | undefined {
  const { state } = server;
  if (state.phase === 'failed') return state.problem;
  if (state.phase !== 'running') return `The MCP server ${JSON.stringify(server.name)} is not running.`;
  if (entry?.off?.includes(tool.name)) return `The user has deselected the tool ${JSON.stringify(tool.name)}.`;
  const current = server.tools.find(({ name }) => name === tool.name);
  if (current && [tool, current].every((one) => compareWithAcceptedTool(entry, one) === 'same'))
    return hashServerTool(tool) === hashServerTool(current)
      ? undefined
      : `${changed(tool)} in this moment. Call it again.`;
  return `${changed(tool)}. It is disabled until the person allows it.`;
}

const changed = ({ name }: ListedTool) => `The server has changed the tool ${JSON.stringify(name)}`;
