import type * as vscode from 'vscode';
import type { Rule } from '../../protocol/content/rule.ts';
import { visibleLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localize } from '../../protocol/text/localized.ts';
import { coverageOf, offeredRows } from '../../tools/policy/rules.ts';
import { scopes } from './approvalsMenu.ts';
import type { PolicyScope } from './policies.ts';

export interface RuleChoice extends vscode.QuickPickItem {
  /** Rules of the choice; absent for the row that leads to the rules for all workspaces. */
  made?: { rules: readonly Rule[]; scope: PolicyScope };
}

/** Returns the choices of *Always Allow…*: for this workspace, and behind a further row for all workspaces. */
export function ruleChoices(offered: readonly Rule[][], everywhere = false): RuleChoice[] {
  const places = scopes();
  const { scope, words } = everywhere ? places.at(-1)! : places[0]!;
  const rows: RuleChoice[] = offeredRows(offered).map((rules) => ({
    ...choiceOf(rules, words),
    made: { rules, scope },
  }));
  return everywhere || places.length === 1 ? rows : [...rows, { label: t('For All Workspaces…') }];
}

/** Formats the coverage and scope of a rule, on separate lines if too long. */
function choiceOf(rules: readonly Rule[], scope: string): vscode.QuickPickItem {
  const { what, where } = coverageOf(rules, localize);
  const covered = rules.every((rule) => rule.command !== undefined && !rule.varies) ? t('Exactly: {0}', what) : what;
  const holds = [where, scope].filter(Boolean).join(', ');
  const line = visibleLine([covered, ...(where === undefined ? [] : [where]), scope].join(' '));
  return line.length <= longestChoice ? { label: line } : { label: visibleLine(covered), detail: visibleLine(holds) };
}

const longestChoice = 66;
