import { createHash } from 'node:crypto';
import { visibleLine } from '../../protocol/text/escapeInvisible.ts';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { type CallPlan, type Tool, type ToolContext, ToolError } from '../core/tool.ts';
import type { Origin } from '../core/toolOrigin.ts';
import { withoutSecrets } from '../shell/environment.ts';
import { callResultData, serverResult } from './callResult.ts';
import type { Definition } from './config/config.ts';
import type { Sdk } from './loadSdk.ts';
import { checkedBy, cleanDescription, cleanSchema, inPrompt, type WordLimits } from './schema.ts';
import type { ListedTool, McpServer } from './server.ts';

/**
 * Options of a server's tool. `name` is `mcp.<server>.<tool>`. `trusted`: the user trusts the read-only hints. `hidden`: callable but not in the prompt (too many
 * tools, or not accepted yet).
 */
interface ServerToolOptions {
  server: McpServer;
  listed: ListedTool;
  name: string;
  sdk: Sdk;
  trusted: boolean;
  hidden: boolean;
  refusal(): string | undefined;
  origin(): Origin;
}

/** Wraps a server's tool behind the gate. Hints are only claims: a read is free only if the user trusts the server. */
export function serverTool({ server, listed, name, sdk, trusted, hidden, refusal, origin }: ServerToolOptions): Tool {
  const reads = listed.annotations?.readOnlyHint === true;
  const run = async (args: unknown, { signal, output }: ToolContext) => {
    const refused = refusal();
    if (refused) throw new ToolError('TOOL_NOT_AVAILABLE', refused);
    return callResultData(await server.call(listed.name, args as Record<string, unknown>, { signal, output }));
  };
  const base = {
    definition: definitionFor(name, listed, inPrompt),
    ...titleOf(listed),
    gives: serverResult,
    arguments: checkedBy(listed.inputSchema, sdk),
    schema: listed.inputSchema,
    origin,
    ...(hidden && { hidden }),
  };
  if (reads && trusted && !refusal()) return { ...base, risk: 'read', run };
  const plan = async (args: unknown): Promise<CallPlan> => {
    const refused = refusal();
    if (refused) throw new ToolError('TOOL_NOT_AVAILABLE', refused);
    return {
      what: message('Use {0} of the MCP server {1}', listed.name, server.name),
      ...titleOf(listed),
      where: configLocationOf(server.definition),
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
  const said = visibleLine((title ?? annotations?.title ?? '').slice(0, longestTitle)).trim();
  return said === '' ? {} : { title: said };
}

export const definitionFor = (name: string, { description, title, inputSchema }: ListedTool, limits: WordLimits) => ({
  name,
  description: cleanDescription(description ?? title, limits),
  parameters: cleanSchema(inputSchema, limits),
});

/** Returns the command line or the address with unresolved `${env:…}` and `${input:…}`, because values may be secrets. */
export function configLocationOf(definition: Definition): string {
  if (definition.type !== 'stdio') return addressOf(definition.url);
  return [definition.command, ...definition.args]
    .map((part) => (/[\s"']/.test(part) ? JSON.stringify(part) : part))
    .join(' ');
}

function addressOf(url: string): string {
  if (!URL.canParse(url)) return visibleLine(url);
  const parsed = new URL(url);
  if (parsed.username === '' && parsed.password === '' && !/[\s\\]/.test(url)) return visibleLine(url);
  parsed.username = '';
  parsed.password = '';
  return parsed.href;
}

/**
 * Returns the origin of a tool.
 * @param definition hash of the tool's text; `earlier`: hashes that the user accepted before
 */
export function toolOriginOf(definition: Definition, tool: Pick<Origin, 'definition' | 'earlier'>): Origin {
  const starts = visibleLine(withoutSecrets(configLocationOf(definition)));
  const shown = starts.length > longestPlace ? `${starts.slice(0, longestPlace)}…` : starts;
  return { starts: shown, identity: serverIdentity(definition), own: definition.place === 'settings', ...tool };
}

/**
 * Returns the identity of the started command or address, independent of the configuration's location. User inputs bind the identity to one
 * location.
 */
export function serverIdentity({ hash, place, inputs }: Definition): string {
  return inputs.length === 0
    ? hash
    : createHash('sha256')
        .update(JSON.stringify([hash, place, inputs]))
        .digest('hex');
}

const longestPlace = 200;

function claim({ annotations }: ListedTool): LocalizedMessage {
  if (annotations?.readOnlyHint)
    return message('The server reports that this is read-only. Towpath cannot verify that.');
  if (annotations?.destructiveHint) return message('The server reports that this can destroy something.');
  return message('A server’s tool can do anything that the server can do.');
}
