import type * as vscode from 'vscode';
import type { Rule } from '../../protocol/rule.ts';
import { toPeople } from '../../protocol/sentence.ts';
import { visibleLine } from '../../protocol/visible.ts';
import { coverageOf } from '../../tools/gate/rules.ts';
import { scopes } from './approvalsMenu.ts';

/** What *Always Allow* offers: each of the rules in each place where it could be kept. */
export const ruleChoices = (offered: readonly Rule[][]) =>
  scopes().flatMap(({ scope, words }) =>
    offered.map((rules) => ({ ...choiceOf(rules, words), made: { rules, scope } })),
  );

/** What a rule would cover, and where it would hold: on a line of its own where one line would cut that off. */
function choiceOf(rules: readonly Rule[], scope: string): vscode.QuickPickItem {
  const { what, where } = coverageOf(rules, toPeople);
  const holds = [where, scope].filter(Boolean).join(', ');
  const line = visibleLine([what, ...(where === undefined ? [] : [where]), scope].join(' '));
  return line.length <= longestChoice ? { label: line } : { label: visibleLine(what), detail: visibleLine(holds) };
}

/** Characters that a line of a list surely has room for. */
const longestChoice = 66;
