import { createHash } from 'node:crypto';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { shortenText } from '../../protocol/text/shorten.ts';
import { type Tool, type ToolCallPlan, type ToolContext, ToolError } from '../core/tool.ts';
import type { ToolOrigin } from '../core/toolOrigin.ts';
import { redactAllSecrets } from '../shell/environment.ts';
import { mcpCallResultData, mcpToolResultSchema } from './callResult.ts';
import type { McpServerDefinition } from './config/config.ts';
import type { ElicitationHandler } from './elicitation/elicitationForm.ts';
import type { ListedTool } from './forms/toolSchema.ts';
import type { McpSdk } from './loadSdk.ts';
import {
  cleanDescription,
  cleanSchema,
  createArgumentsValidator,
  mcpSchemaLimitsInLargePrompt,
  mcpSchemaLimitsInPrompt,
  type SchemaTextLimits,
} from './schema.ts';
import type { McpServer } from './server.ts';

/**
 * Options of a server's tool. `name` is `mcp.<server>.<tool>`. `trusted`: the user trusts the read-only hints. `hidden`: callable but not in the prompt (too many
 * tools, or not accepted yet).
 */
interface ServerToolOptions {
  server: McpServer;
  listed: ListedTool;
  name: string;
  sdk: McpSdk;
  trusted: boolean;
  hidden: boolean;
  refusal(): string | undefined;
  origin(): ToolOrigin;
  /** Creates the handler for what the server asks during a call; absent: it is declined. */
  elicit?(context: ToolContext): ElicitationHandler;
}

/** Wraps a server's tool behind the gate. Hints are only claims: a read is free only if the user trusts the server. */
export function createServerTool({
  server,
  listed,
  name,
  sdk,
  trusted,
  hidden,
  refusal,
  origin,
  elicit,
}: ServerToolOptions): Tool {
  const reads = listed.annotations?.readOnlyHint === true;
  const run = async (args: unknown, context: ToolContext) => {
    const refused = refusal();
    if (refused) throw new ToolError('TOOL_NOT_AVAILABLE', refused);
    const { signal, output, runId } = context;
    const options = { signal, output, runId, elicit: elicit?.(context) };
    return mcpCallResultData(await server.call(listed.name, args as Record<string, unknown>, options));
  };
  const definition = toServerToolDefinition(name, listed, mcpSchemaLimitsInPrompt);
  const longDescription = cleanDescription(listed.description ?? listed.title, mcpSchemaLimitsInLargePrompt);
  const base = {
    definition,
    ...(longDescription !== definition.description && {
      longDefinition: { ...definition, description: longDescription },
    }),
    ...titleOf(listed),
    gives: mcpToolResultSchema,
    arguments: createArgumentsValidator(listed.inputSchema, sdk),
    schema: listed.inputSchema,
    origin,
    ...(hidden && { hidden }),
  };
  if (reads && trusted && !refusal()) return { ...base, risk: 'read', run };
  const plan = async (args: unknown): Promise<ToolCallPlan> => {
    const refused = refusal();
    if (refused) throw new ToolError('TOOL_NOT_AVAILABLE', refused);
    return {
      what: message('Use {0} of the MCP server {1}', listed.name, server.name),
      ...titleOf(listed),
      where: serverCommandOrAddress(server.definition),
      why: claim(listed),
      details: JSON.stringify(args, null, 2),
      grant: name,
      run: (context) => run(args, context),
    };
  };
  return { ...base, risk: 'execute', plan };
}

const longestTitle = 80;

function titleOf({ title, annotations }: ListedTool): { title?: string } {
  const shownTitle = escapeInvisibleInLine((title ?? annotations?.title ?? '').slice(0, longestTitle)).trim();
  return shownTitle === '' ? {} : { title: shownTitle };
}

export const toServerToolDefinition = (
  name: string,
  { description, title, inputSchema }: ListedTool,
  limits: SchemaTextLimits,
) => ({
  name,
  description: cleanDescription(description ?? title, limits),
  parameters: cleanSchema(inputSchema, limits),
});

/** Returns the command line or the address with unresolved `${env:…}` and `${input:…}`, because values may be secrets. */
export function serverCommandOrAddress(definition: McpServerDefinition): string {
  if (definition.type !== 'stdio') return addressOf(definition.url);
  return joinCommandLine([definition.command, ...definition.args]);
}

export const joinCommandLine = (words: readonly string[]): string =>
  words.map((part) => (/[\s"']/.test(part) ? JSON.stringify(part) : part)).join(' ');

function addressOf(url: string): string {
  if (!URL.canParse(url)) return escapeInvisibleInLine(url);
  const parsed = new URL(url);
  if (parsed.username === '' && parsed.password === '' && !/[\s\\]/.test(url)) return escapeInvisibleInLine(url);
  parsed.username = '';
  parsed.password = '';
  return parsed.href;
}

/**
 * Returns the origin of a tool.
 * @param definition hash of the tool's text; `earlier`: hashes that the user accepted before
 */
export function createServerToolOrigin(
  definition: McpServerDefinition,
  tool: Pick<ToolOrigin, 'definition' | 'earlier'>,
): ToolOrigin {
  const starts = escapeInvisibleInLine(redactAllSecrets(serverCommandOrAddress(definition)));
  return {
    starts: shortenText(starts, maxLocationLength),
    identity: serverIdentity(definition),
    own: definition.place === 'settings',
    ...tool,
  };
}

/**
 * Returns the identity of the started command or address, independent of the configuration's location. User inputs bind the identity to one
 * location.
 */
export function serverIdentity({ hash, place, inputs }: McpServerDefinition): string {
  return inputs.length === 0
    ? hash
    : createHash('sha256')
        .update(JSON.stringify([hash, place, inputs]))
        .digest('hex');
}

const maxLocationLength = 200;

function claim({ annotations }: ListedTool): LocalizedMessage {
  if (annotations?.readOnlyHint)
    return message('The server reports that this is read-only. Towpath cannot verify that.');
  if (annotations?.destructiveHint) return message('The server reports that this can destroy something.');
  return message('A server’s tool can do anything that the server can do.');
}
