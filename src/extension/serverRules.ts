import type { Rule } from '../protocol/policy.ts';
import { ofServer } from '../tools/gate/origin.ts';
import type { McpServers } from '../tools/mcp/servers.ts';

/** How a list shows a rule that allows tools of MCP servers; undefined for any other. `isIdle`: there is nothing that it holds for. */
export function serverRuleWords(
  rule: Rule,
  whereabouts: McpServers['whereabouts'],
): { words: string; detail?: string; isIdle?: true } | undefined {
  const { effect, tool, server } = rule;
  if (effect !== 'allow') return undefined;
  if (!server)
    return /^mcp\./.test(tool)
      ? {
          words: `Allow ${tool} of servers of your own settings`,
          detail: 'For a server of a folder, Always Allow… in a question makes a rule that is bound to it.',
        }
      : undefined;
  const place = whereabouts(server);
  if (place === 'here') return { words: `Allow ${ofServer(rule)} as it is now` };
  if (place === 'away')
    return { words: `Allow ${ofServer(rule)} as it was`, detail: 'This server does not run here now.' };
  return {
    words: `Allow ${ofServer(rule)} as it was`,
    detail: 'Holds for nothing: the server runs, and has no tool any more that says the same about itself.',
    isIdle: true,
  };
}
