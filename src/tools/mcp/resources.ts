import * as z from 'zod';
import { message } from '../../protocol/text/l10n.ts';
import { createReadOnlyTool, type Tool, ToolError } from '../core/tool.ts';
import { mcpResourceData } from './callResult.ts';
import type { McpServer } from './server.ts';
import { createServerToolOrigin, serverCommandOrAddress } from './serverTool.ts';

/** Stands for the tool definition in a rule for resources, which have none. */
export const resourceRuleName = 'resources';

const listLimit = 200;

/**
 * `mcp.read_resource`: lists or reads resources of servers. Trusted servers need no approval.
 * @param servers `as` is the name in tool names: two folders may configure the same server name
 */
export function resourceTool(
  servers: readonly { server: McpServer; as: string }[],
  isTrusted: (server: McpServer) => boolean,
): Tool {
  const find = (name: string) => {
    const running = servers.filter(({ server }) => server.hasResources);
    const found = running.find(({ as }) => as === name) ?? running.find(({ server }) => server.name === name);
    if (found) return found.server;
    const names = running.map(({ as }) => as);
    throw new ToolError('TOOL_ARGS_INVALID', `server: no such server runs. There are: ${names.join(', ') || 'none'}.`);
  };
  const read = async (args: { server: string; uri?: string }, { signal }: { signal: AbortSignal }) => {
    const server = find(args.server);
    if (args.uri !== undefined) return mcpResourceData(await server.readResource(args.uri, { signal }));
    const all = await server.resources({ signal });
    const resources = all.slice(0, listLimit).map(({ uri, name, mimeType, description }) => ({
      uri,
      name,
      ...(mimeType && { mimeType }),
      ...(description && { description: description.slice(0, 300) }),
    }));
    return { resources, ...(all.length > listLimit && { cut: `${all.length - listLimit} more are not named.` }) };
  };
  const tool = createReadOnlyTool(
    {
      name: 'mcp.read_resource',
      description: 'Read a resource of an MCP server, or list its resources.',
      arguments: { server: z.string(), uri: z.string().optional().describe('Without it: the list') },
      gives: {
        text: z.string().optional().describe('What it holds.'),
        resources: z
          .array(
            z.strictObject({
              uri: z.string(),
              name: z.string(),
              mimeType: z.string().optional(),
              description: z.string().optional(),
            }),
          )
          .optional()
          .describe('Without `uri`: what the server offers to read.'),
      },
    },
    read,
    async (args) => {
      const server = find(args.server);
      if (isTrusted(server)) return undefined;
      return {
        what:
          args.uri === undefined
            ? message('List the resources of the MCP server {0}', server.name)
            : message('Read a resource of the MCP server {0}', server.name),
        where: serverCommandOrAddress(server.definition),
        why: message('You have not trusted the read-only tools of this server.'),
        details: args.uri ?? message('(list)'),
        grant: 'mcp.read_resource',
        run: (context) => read(args, context),
      };
    },
  );
  const origin: Tool['origin'] = (args) =>
    createServerToolOrigin(find((args as { server: string }).server).definition, {
      definition: resourceRuleName,
      earlier: [],
    });
  return { ...tool, origin };
}
