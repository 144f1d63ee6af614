import MiniSearch from 'minisearch';
import * as z from 'zod';
import type { ToolCall } from '../../protocol/messages.ts';
import { checkArguments } from '../arguments.ts';
import { didYouMean } from '../nearest.ts';
import { readTool, type Tool, type ToolContext, ToolError } from '../tool.ts';

/** More tools than this are not in the prompt: they are found. */
export const promptTools = 20;
const bestMatches = 8;

/**
 * What stands for a long list of tools: `mcp.search_tools` finds, `mcp.call_tool` calls. A call goes the very way of a
 * direct one: the tool's own check, rules, question and grant.
 */
export function searchTools(tools: readonly Tool[], servers: readonly string[]): Tool[] {
  const byName = new Map(tools.map((tool) => [tool.definition.name, tool]));
  const index = new MiniSearch({
    idField: 'name',
    fields: ['words', 'description', 'parameters'],
    tokenize: (text) => text.split(/[^\p{L}\p{N}]+/u),
    searchOptions: { boost: { words: 3 }, prefix: true, fuzzy: 0.2 },
  });
  index.addAll(
    tools.map(({ definition: { name, description, parameters } }) => ({
      name,
      words: name.replaceAll('_', ' ').replace(/([a-z])([A-Z])/g, '$1 $2'),
      description,
      parameters: Object.keys(parameters.properties ?? {}).join(' '),
    })),
  );
  const find = (name: string): Tool => {
    const tool = byName.get(name);
    if (tool) return tool;
    const hint = didYouMean(name, [...byName.keys()]) || ' Find one with mcp.search_tools.';
    throw new ToolError('TOOL_NOT_AVAILABLE', `There is no tool ${JSON.stringify(name.slice(0, 100))}.${hint}`);
  };

  const search = readTool(
    {
      name: 'mcp.search_tools',
      description: `Find tools of MCP servers by what they do, then call them with mcp.call_tool. Servers: ${servers.join(', ')}.`,
      arguments: { query: z.string().min(1).max(500) },
    },
    async ({ query }) => {
      const found = index.search(query).slice(0, bestMatches);
      const definitions = found.map(({ id }) => byName.get(id as string)!.definition);
      return { tools: definitions, ...(found.length === 0 && { all: [...byName.keys()].slice(0, 200) }) };
    },
  );
  const parameters = z.strictObject({ tool: z.string(), arguments: z.record(z.string(), z.unknown()).default({}) });
  const target = (args: unknown) => {
    const { tool: name, arguments: given } = args as z.output<typeof parameters>;
    const tool = find(name);
    const call: ToolCall = { id: '', name, arguments: given };
    return { tool, args: checkArguments(call, tool) };
  };
  const call: Tool = {
    definition: {
      name: 'mcp.call_tool',
      description: 'Call a tool that mcp.search_tools found.',
      parameters: {
        type: 'object',
        properties: { tool: { type: 'string' }, arguments: { type: 'object' } },
        required: ['tool', 'arguments'],
      },
    },
    arguments: parameters,
    risk: 'execute',
    target,
    // What is free: a trusted server's read.
    run: async (args, context: ToolContext) => {
      const found = target(args);
      if (found.tool.risk !== 'read')
        throw new ToolError('TOOL_NOT_AVAILABLE', 'This tool has changed; call it again.');
      return found.tool.run!(found.args, context);
    },
  };
  return [search, call];
}
