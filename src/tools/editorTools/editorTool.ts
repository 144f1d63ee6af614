import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { message } from '../../protocol/text/l10n.ts';
import { englishCount } from '../../protocol/text/plurals.ts';
import { raceWithAbort } from '../../protocol/values/abort.ts';
import { type Tool, type ToolCallPlan, type ToolContext, ToolError } from '../core/tool.ts';
import type { ToolOrigin } from '../core/toolOrigin.ts';
import { mcpCallResultData, mcpToolResultSchema } from '../mcp/callResult.ts';
import type { McpSdk } from '../mcp/loadSdk.ts';
import { cleanDescription, cleanSchema, createArgumentsValidator, mcpSchemaLimitsInPrompt } from '../mcp/schema.ts';
import { toMcpContentBlocks } from './resultParts.ts';

/**
 * Tool provided by the editor: built-in, of another extension, or of an MCP server run by the editor. `lender` is the id of the extension,
 * if known; `title` is its display name.
 */
export interface EditorProvidedToolInfo {
  name: string;
  description: string;
  inputSchema?: object;
  tags: readonly string[];
  lender?: string;
  title?: string;
}

interface EditorToolOptions {
  tool: EditorProvidedToolInfo;
  name: string;
  sdk: McpSdk;
  hidden: boolean;
  refusal(): string | undefined;
  origin: ToolOrigin;
  invoke(name: string, input: Record<string, unknown>, signal: AbortSignal): Promise<readonly unknown[]>;
  limitMs: number;
}

/** Wraps a tool of the editor behind the gate. The editor does not declare read-only tools, so every call needs an approval. */
export function createEditorProvidedTool({
  tool,
  name,
  sdk,
  hidden,
  refusal,
  origin,
  invoke,
  limitMs,
}: EditorToolOptions): Tool {
  const check = () => {
    const refused = refusal();
    if (refused !== undefined) throw new ToolError('TOOL_NOT_AVAILABLE', refused);
  };
  const run = async (args: unknown, { signal }: ToolContext) => {
    check();
    const parts = await untilAnswered((both) => invoke(tool.name, args as Record<string, unknown>, both), {
      signal,
      limitMs,
      what: escapeInvisibleInLine(tool.name),
    });
    return mcpCallResultData({ content: toMcpContentBlocks(parts) });
  };
  const title = escapeInvisibleInLine((tool.title ?? '').slice(0, longestTitle)).trim();
  const titled = title === '' ? {} : { title };
  return {
    definition: {
      name,
      description: cleanDescription(tool.description, mcpSchemaLimitsInPrompt, ''),
      parameters: cleanSchema(tool.inputSchema ?? {}),
    },
    ...titled,
    gives: mcpToolResultSchema,
    arguments: createArgumentsValidator(tool.inputSchema ?? {}, sdk),
    schema: tool.inputSchema ?? {},
    origin: () => origin,
    ...(hidden && { hidden }),
    risk: 'execute',
    async plan(args): Promise<ToolCallPlan> {
      check();
      return {
        what: message('Use {0} of the editor', tool.name),
        ...titled,
        where:
          tool.lender === undefined
            ? message('A tool of the editor')
            : message('A tool of the extension {0}', tool.lender),
        why: message('It can do anything that the editor and its extensions can do. The editor may ask you once more.'),
        details: JSON.stringify(args, null, 2),
        grant: name,
        run: (context) => run(args, context),
      };
    },
  };
}

const longestTitle = 80;

async function untilAnswered<Value>(
  ask: (signal: AbortSignal) => Promise<Value>,
  { signal, limitMs, what }: { signal: AbortSignal; limitMs: number; what: string },
): Promise<Value> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), limitMs);
  const both = AbortSignal.any([signal, late.signal]);
  try {
    return await raceWithAbort(ask(both), both);
  } catch (error) {
    if (signal.aborted) throw new ToolError('TOOL_INTERRUPTED', 'Stopped while it ran.');
    if (late.signal.aborted) {
      const message = `The editor's tool ${what} gave no answer within ${englishCount(Math.ceil(limitMs / 1000), 'second')}, and was told to stop.`;
      throw new ToolError('TOOL_TIMEOUT', message);
    }
    if ((error as Error | undefined)?.name === 'Canceled')
      throw new ToolError('TOOL_DENIED', `The person said no when the editor asked about its tool ${what}.`);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
