import { didYouMean } from '../core/didYouMean.ts';
import { type Tool, ToolError } from '../core/tool.ts';
import { virtualFoldersReadOnlyReason } from '../sandbox/virtual.ts';

/**
 * Returns the error of a call of an unknown tool.
 * @param tools the tools that exist
 */
export function missingToolError(name: string, tools: readonly Tool[], isVirtual: boolean): ToolError {
  const names = tools.map(({ definition }) => definition.name);
  const hint = absentServer(name, names) || didYouMean(name, names) || ` There are: ${names.join(', ')}.`;
  return new ToolError(
    'TOOL_NOT_AVAILABLE',
    `There is no tool ${JSON.stringify(name.slice(0, 100))}.${hint}${isVirtual ? ` ${virtualFoldersReadOnlyReason}` : ''}`,
  );
}

// Returns a hint for a tool `mcp.<server>.<tool>` of a server without any tool; otherwise an empty text.
function absentServer(name: string, names: readonly string[]): string {
  const server = /^mcp\.([^.]+)\./.exec(name)?.[1];
  if (server === undefined || names.some((one) => one.startsWith(`mcp.${server}.`))) return '';
  return ` No MCP server ${JSON.stringify(server.slice(0, 100))} is at work here: it is not set up, or did not start.`;
}
