import type { Rule } from '../../protocol/content/rule.ts';
import { t } from '../../protocol/text/l10n.ts';
import { isOfServer } from '../../tools/core/toolOrigin.ts';
import type { Whereabouts } from '../../tools/mcp/toolChanges.ts';
import { labels } from '../dialogs/approvalText.ts';

/** Returns the list text of an allow rule for MCP tools; undefined for other rules. `isIdle`: the rule currently applies to nothing. */
export function serverRuleText(
  rule: Rule,
  whereabouts: (server: NonNullable<Rule['server']>) => Whereabouts,
): { words: string; detail?: string; isIdle?: true } | undefined {
  const { effect, tool, server } = rule;
  if (effect !== 'allow') return undefined;
  if (!server && /^vscode\./.test(tool))
    return {
      words: t('Allow {0}', tool),
      detail: t('Does not apply: {0} in an approval creates a rule for the tool as it is now.', t(labels.allowAlways)),
      isIdle: true,
    };
  if (!server)
    return /^mcp\./.test(tool)
      ? {
          words: t('Allow {0} of servers in your own settings', tool),
          detail: t(
            'For a server of a folder, {0} in an approval creates a rule for that server.',
            t(labels.allowAlways),
          ),
        }
      : undefined;
  const place = whereabouts(server);
  const name = isOfServer(tool, server);
  if (place === 'here') return { words: t('Allow {0} as it is now', name), detail: server.starts };
  const words = t('Allow {0} as it was', name);
  if (place === 'away') return { words, detail: t('Does not run here at the moment: {0}', server.starts) };
  const detail = t('No longer applies: no tool of its server has this definition.');
  return { words, detail, isIdle: true };
}
