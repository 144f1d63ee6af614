import type * as vscode from 'vscode';
import type { PermissionRule } from '../../protocol/content/rule.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { message, t } from '../../protocol/text/l10n.ts';
import { localize } from '../../protocol/text/localized.ts';
import { networkAccessTool } from '../../tools/core/commandSandbox.ts';
import { isProgramChoice, offeredAllowChoices, summarizeRuleCoverage } from '../../tools/policy/rules.ts';
import { availableRuleScopes } from './approvalsMenu.ts';
import { hostList } from './hostList.ts';
import type { PolicyScope } from './policies.ts';

export interface RuleChoice extends vscode.QuickPickItem {
  /** Rules of the choice; absent for the row that leads to the rules for all workspaces, and with `outside`. */
  made?: { rules: readonly PermissionRule[]; scope: PolicyScope };
  /** The row makes no rule: the command runs outside of the sandbox, once. */
  outside?: true;
}

/** Returns the choices of *Always Allow…*: for this workspace, and behind a further row for all workspaces. */
export function ruleChoices(offered: readonly PermissionRule[][], everywhere = false): RuleChoice[] {
  const scopes = availableRuleScopes();
  const { scope, label } = everywhere ? scopes.at(-1)! : scopes[0]!;
  const rows: RuleChoice[] = offeredAllowChoices(offered)
    .filter((rules) => scope === 'workspace' || !isProgramChoice(rules))
    .map((rules) => ({ ...choiceOf(rules, label), made: { rules, scope } }));
  return everywhere || scopes.length === 1 || offered.every(isProgramChoice)
    ? rows
    : [...rows, { label: t('For All Workspaces…') }];
}

/** Returns the row that answers only the request at hand: its command ends, and starts again outside of the sandbox. */
export const outsideChoice = (): RuleChoice => ({
  label: t('Run this command outside the sandbox, once'),
  detail: t('With your permissions. It starts again from the beginning.'),
  outside: true,
});

function choiceOf(rules: readonly PermissionRule[], scope: string): vscode.QuickPickItem {
  const [only] = rules;
  if (only?.registries) return { label: `${t('All package registries')}, ${scope}`, detail: hostList(only.registries) };
  if (only?.tool === networkAccessTool && only.site !== undefined)
    return { label: `${escapeInvisibleInLine(new URL(only.site).host)}, ${scope}` };
  if (only?.program !== undefined) {
    const detail = t('With your permissions. Commands that delete or publish something still ask.');
    return {
      label: `${escapeInvisibleInLine(localize(message('{0} outside the sandbox', only.program)))}, ${scope}`,
      detail,
    };
  }
  const { what, where } = summarizeRuleCoverage(rules, localize);
  const covered = rules.every((rule) => rule.command !== undefined && !rule.varies) ? t('Exactly: {0}', what) : what;
  const holds = [where, scope].filter(Boolean).join(', ');
  const line = escapeInvisibleInLine([covered, ...(where === undefined ? [] : [where]), scope].join(' '));
  return line.length <= longestChoice
    ? { label: line }
    : { label: escapeInvisibleInLine(covered), detail: escapeInvisibleInLine(holds) };
}

const longestChoice = 66;
