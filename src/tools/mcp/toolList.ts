import type { Tool } from '../tool.ts';
import type { Approved } from './approved.ts';
import { createNames, serverNames } from './names.ts';
import { resourceTool } from './resources.ts';
import { promptTools, searchTools } from './search.ts';
import type { ListedTool, McpServer } from './server.ts';
import { serverTool } from './serverTool.ts';

/**
 * The tools of all servers as ours: those that were accepted, in the prompt or (when there are many) behind a search. The
 * others can be called, too, and say why they cannot be used: a run keeps the tools it began with.
 */
export function toolList(servers: readonly McpServer[], approved: Approved): readonly Tool[] {
  const nameFor = createNames();
  const isTrusted = (server: McpServer) => approved.entry(server.definition)?.trusted ?? false;
  const names = serverNames(servers.map(({ name }) => name));
  const listed = servers.flatMap((server, index) =>
    server.tools.map((tool) => ({
      server,
      as: names[index]!,
      tool,
      name: nameFor(names[index]!, tool.name),
      isUsable: refusalOf(server, tool, approved) === undefined,
    })),
  );
  const usable = listed.filter((one) => one.isUsable);
  const isLong = usable.length > promptTools;
  const tools = listed.map(({ server, tool, name, isUsable }) =>
    serverTool({
      server,
      listed: tool,
      name,
      sdk: server.sdk!,
      trusted: isTrusted(server),
      hidden: isLong || !isUsable,
      refusal: () => refusalOf(server, tool, approved),
    }),
  );
  const found = tools.filter((_, index) => listed[index]!.isUsable);
  const readable = servers.filter((server) => server.hasResources);
  return [
    ...tools,
    ...(isLong ? searchTools(found, [...new Set(usable.map(({ as }) => as))]) : []),
    ...(readable.length > 0 ? [resourceTool(readable, isTrusted)] : []),
  ];
}

/** Why a tool cannot be used now; undefined when it is what was accepted, and its server runs. */
function refusalOf(server: McpServer, tool: ListedTool, approved: Approved): string | undefined {
  const { definition, state } = server;
  if (state.phase === 'failed') return state.problem;
  if (state.phase !== 'running') return `The MCP server ${JSON.stringify(server.name)} is not running.`;
  const current = server.tools.find(({ name }) => name === tool.name);
  if (current && [tool, current].every((one) => approved.judge(definition, one) === 'same')) return undefined;
  return `The server has changed the tool ${JSON.stringify(tool.name)}. It is disabled until the person allows it.`;
}
