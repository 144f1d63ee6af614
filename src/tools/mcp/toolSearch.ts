import MiniSearch from 'minisearch';
import stringify from 'safe-stable-stringify';
import * as z from 'zod';
import type { ToolCall } from '../../protocol/content/messages.ts';
import type { ToolDefinition } from '../../protocol/content/tools.ts';
import { checkArguments } from '../core/checkArguments.ts';
import { didYouMean } from '../core/didYouMean.ts';
import { createReadOnlyTool, type Tool, type ToolContext, ToolError } from '../core/tool.ts';

export const maxPromptTools = 20;
const bestMatches = 8;

export interface SearchableTool {
  tool: Tool;
  whole: ToolDefinition;
}

export function toolDefinitionLookupTools(found: readonly SearchableTool[]): Tool[] {
  const isCut = found.some(({ tool, whole }) => stringify(tool.definition) !== stringify(whole));
  if (!isCut) return [];
  const description = 'Read all that a tool of an MCP server says about itself, by its name.';
  return [searchTool(description, found, finder(found))];
}

/**
 * Returns the tools that replace a long list: `mcp.search_tools` and `mcp.call_tool`. A call passes the same checks, rules, approval and
 * grant as a direct call.
 */
export function createToolSearchTools(found: readonly SearchableTool[], servers: readonly string[]): Tool[] {
  const byName = new Map(found.map(({ tool }) => [tool.definition.name, tool]));
  const find = (name: string): Tool => {
    const tool = byName.get(name);
    if (tool) return tool;
    const hint = didYouMean(name, [...byName.keys()]) || ' Find one with mcp.search_tools.';
    throw new ToolError('TOOL_NOT_AVAILABLE', `There is no tool ${JSON.stringify(name.slice(0, 100))}.${hint}`);
  };

  const description =
    'Find tools of MCP servers by what they do, then call them with mcp.call_tool. A name finds all that its tool says. ' +
    `Servers: ${servers.join(', ')}.`;
  const parameters = z.strictObject({ tool: z.string(), arguments: z.record(z.string(), z.unknown()).default({}) });
  const target = (args: unknown) => {
    const { tool: name, arguments: given } = args as z.output<typeof parameters>;
    const tool = find(name);
    const call: ToolCall = { id: '', name, arguments: given };
    return { tool, args: checkArguments(call, tool) };
  };
  /** Converts the arguments for the target tool; undefined if unchanged. */
  const understands = (given: unknown) => {
    const outer = parameters.safeParse(given).data;
    const tool = outer && byName.get(outer.tool);
    if (!tool) return undefined;
    try {
      const { args } = target(outer);
      return JSON.stringify(args) === JSON.stringify(outer.arguments) ? undefined : { ...outer, arguments: args };
    } catch {
      return undefined; // the call reports the error
    }
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
    understands,
    risk: 'execute',
    target,
    // Runs free calls: reads of a trusted server.
    run: async (args, context: ToolContext) => {
      const found = target(args);
      if (found.tool.risk !== 'read')
        throw new ToolError('TOOL_NOT_AVAILABLE', 'This tool has changed; call it again.');
      return found.tool.run!(found.args, context);
    },
  };
  return [searchTool(description, found, finder(found)), call];
}

function searchTool(description: string, found: readonly SearchableTool[], find: (query: string) => Tool[]): Tool {
  return createReadOnlyTool(
    {
      name: 'mcp.search_tools',
      description,
      arguments: { query: z.string().min(1).max(500) },
      gives: {
        tools: z.array(z.custom<ToolDefinition>()).describe('The best matches.'),
        all: z.array(z.string()).optional().describe('When there is none: the names of all.'),
      },
    },
    async ({ query }) => {
      const exact = found.find(({ whole }) => onWire(whole.name) === onWire(query.trim()));
      if (exact) return { tools: [exact.whole] };
      const tools = find(query).map(({ definition }) => definition);
      return { tools, ...(tools.length === 0 && { all: found.map(({ whole }) => whole.name).slice(0, 200) }) };
    },
  );
}

const onWire = (name: string) => name.replaceAll('.', '_');

function finder(found: readonly SearchableTool[]): (query: string) => Tool[] {
  const byName = new Map(found.map(({ tool }) => [tool.definition.name, tool]));
  let index: MiniSearch | undefined;
  return (query) => {
    index ??= indexOf(found);
    return index
      .search(query)
      .flatMap(({ id }) => byName.get(id as string) ?? [])
      .slice(0, bestMatches);
  };
}

function indexOf(found: readonly SearchableTool[]): MiniSearch {
  const index = new MiniSearch({
    idField: 'name',
    fields: ['words', 'description', 'parameters'],
    tokenize: (text) => text.split(/[^\p{L}\p{N}]+/u),
    searchOptions: { boost: { words: 3 }, prefix: true, fuzzy: 0.2 },
  });
  index.addAll(
    found.map(({ whole: { name, description, parameters } }) => ({
      name,
      words: name.replaceAll('_', ' ').replace(/([a-z])([A-Z])/g, '$1 $2'),
      description,
      parameters: Object.keys(parameters.properties ?? {}).join(' '),
    })),
  );
  return index;
}
