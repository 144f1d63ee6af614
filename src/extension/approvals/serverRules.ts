import type { PermissionRule } from '../../protocol/content/rule.ts';
import { t } from '../../protocol/text/l10n.ts';
import { serverRuleLabel } from '../../tools/core/toolOrigin.ts';
import type { RuleToolState } from '../../tools/mcp/toolChanges.ts';
import { approvalButtonLabels } from '../dialogs/approvalText.ts';

/** Returns the list text of an allow rule for MCP tools; undefined for other rules. `isIdle`: the rule currently applies to nothing. */
export function mcpRuleText(
  rule: PermissionRule,
  whereabouts: (server: NonNullable<PermissionRule['server']>) => RuleToolState,
): { label: string; detail?: string; isIdle?: true } | undefined {
  const { effect, tool, server } = rule;
  if (effect !== 'allow') return undefined;
  if (!server && /^vscode\./.test(tool))
    return {
      label: t('Allow {0}', tool),
      detail: t(
        'Does not apply: {0} in an approval creates a rule for the tool as it is now.',
        t(approvalButtonLabels.allowAlways),
      ),
      isIdle: true,
    };
  if (!server)
    return /^mcp\./.test(tool)
      ? {
          label: t('Allow {0} of servers in your own settings', tool),
          detail: t(
            'For a server of a folder, {0} in an approval creates a rule for that server.',
            t(approvalButtonLabels.allowAlways),
          ),
        }
      : undefined;
  const location = whereabouts(server);
  const name = serverRuleLabel(tool, server);
  if (location === 'here') return { label: t('Allow {0} as it is now', name), detail: server.starts };
  const title = t('Allow {0} as it was', name);
  if (location === 'away') return { label: title, detail: t('Does not run here at the moment: {0}', server.starts) };
  const detail = t('No longer applies: no tool of its server has this definition.');
  return { label: title, detail, isIdle: true };
}
