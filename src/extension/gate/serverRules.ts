import type { Rule } from '../../protocol/rule.ts';
import { ofServer } from '../../tools/gate/origin.ts';
import type { Whereabouts } from '../../tools/mcp/toolChanges.ts';

/** How a list shows a rule that allows tools of MCP servers; undefined for any other. `isIdle`: there is nothing that it holds for. */
export function serverRuleWords(
  rule: Rule,
  whereabouts: (server: NonNullable<Rule['server']>) => Whereabouts,
): { words: string; detail?: string; isIdle?: true } | undefined {
  const { effect, tool, server } = rule;
  if (effect !== 'allow') return undefined;
  if (!server && /^vscode\./.test(tool))
    return {
      words: `Allow ${tool}`,
      detail: 'Holds for nothing: Always Allow… in a question makes a rule that is bound to the tool as it is.',
      isIdle: true,
    };
  if (!server)
    return /^mcp\./.test(tool)
      ? {
          words: `Allow ${tool} of servers of your own settings`,
          detail: 'For a server of a folder, Always Allow… in a question makes a rule that is bound to it.',
        }
      : undefined;
  const place = whereabouts(server);
  if (place === 'here') return { words: `Allow ${ofServer(tool, server)} as it is now`, detail: server.starts };
  const words = `Allow ${ofServer(tool, server)} as it was`;
  if (place === 'away') return { words, detail: `Does not run here now: ${server.starts}` };
  const detail = 'Holds for nothing: its server has no tool any more that says the same about itself.';
  return { words, detail, isIdle: true };
}
