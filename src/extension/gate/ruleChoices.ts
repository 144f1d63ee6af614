import * as vscode from 'vscode';
import { t } from '../../protocol/l10n.ts';
import type { Rule } from '../../protocol/rule.ts';
import { toPeople } from '../../protocol/sentence.ts';
import { visibleLine } from '../../protocol/visible.ts';
import { coverageOf } from '../../tools/gate/rules.ts';
import { scopes } from './approvalsMenu.ts';

/** Milliseconds in which nothing is chosen yet: whoever brings the list up by Enter, may press or hold it a moment too long. */
const settling = 300;

/** Which of the rules *Always Allow…* makes, and where it is kept; nothing, if the list is left or `gone`. */
export async function chooseRule(offered: readonly Rule[][], gone: vscode.CancellationToken) {
  const picker = vscode.window.createQuickPick<ReturnType<typeof choices>[number]>();
  picker.title = t('Always allow, without a question');
  picker.ignoreFocusOut = true;
  picker.items = choices(offered);
  let isSettled = false;
  const settled = setTimeout(() => {
    isSettled = true;
    picker.placeholder = t('Towpath: Approvals… shows these rules and deletes them. Escape leads back to the question');
  }, settling);
  gone.onCancellationRequested(() => picker.hide());
  try {
    const chosen = await new Promise<ReturnType<typeof choices>[number] | undefined>((resolve) => {
      picker.onDidAccept(() => {
        if (isSettled) resolve(picker.selectedItems[0]);
        else picker.selectedItems = []; // else choosing the same once more would be no news to the editor
      });
      picker.onDidHide(() => resolve(undefined));
      picker.show();
    });
    return chosen?.made;
  } finally {
    clearTimeout(settled);
    picker.dispose();
  }
}

/** Each of the rules in each place where it could be kept; the first is the narrowest. */
const choices = (offered: readonly Rule[][]) =>
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
const longestChoice = 70;
