import type * as vscode from 'vscode';
import type { Rule } from '../../protocol/content/rule.ts';
import { visibleLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localize } from '../../protocol/text/localized.ts';
import { coverageOf, offeredRows } from '../../tools/policy/rules.ts';
import { scopes } from './approvalsMenu.ts';
import type { PolicyScope } from './policies.ts';

export interface RuleChoice extends vscode.QuickPickItem {
  /** The rules that the choice makes; absent for the row that leads to those for all workspaces. */
  made?: { rules: readonly Rule[]; scope: PolicyScope };
}

/** Returns what *Always Allow…* offers: for this workspace, and behind a further row for all of them. */
export function ruleChoices(offered: readonly Rule[][], everywhere = false): RuleChoice[] {
  const places = scopes();
  const { scope, words } = everywhere ? places.at(-1)! : places[0]!;
  const rows: RuleChoice[] = offeredRows(offered).map((rules) => ({
    ...choiceOf(rules, words),
    made: { rules, scope },
  }));
  return everywhere || places.length === 1 ? rows : [...rows, { label: t('For All Workspaces…') }];
}

/** What a rule would cover, and where it would hold: on a line of its own where one line would cut that off. */
function choiceOf(rules: readonly Rule[], scope: string): vscode.QuickPickItem {
  const { what, where } = coverageOf(rules, localize);
  const covered = rules.every((rule) => rule.command !== undefined && !rule.varies) ? t('Exactly: {0}', what) : what;
  const holds = [where, scope].filter(Boolean).join(', ');
  const line = visibleLine([covered, ...(where === undefined ? [] : [where]), scope].join(' '));
  return line.length <= longestChoice ? { label: line } : { label: visibleLine(covered), detail: visibleLine(holds) };
}

/** Characters that a line of a list surely has room for. */
const longestChoice = 66;
