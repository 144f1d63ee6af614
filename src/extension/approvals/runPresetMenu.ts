import * as vscode from 'vscode';
import { approvalPresetNames, approvalPresets } from '../../protocol/content/policy.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import { approvalPresetDetails } from './approvalsMenu.ts';
import type { ApprovalPolicies } from './policies.ts';

/**
 * *Approvals for This Run…*: a preset for one run. The current preset is first, so Enter changes nothing.
 * @param title title of the run
 */
export async function showRunApprovalPresetMenu(
  policies: ApprovalPolicies,
  { id, title }: { id: string; title: string },
): Promise<void> {
  const now = policies.shown(id).preset;
  const own = policies.preset;
  const rows = [now, ...approvalPresets.filter((one) => one !== now)].map((preset) => ({
    label: `${preset === now ? '$(check)' : '$(blank)'} ${t(approvalPresetNames[preset])}`,
    description: `${t(approvalPresetDetails[preset])}${preset === own ? ` · ${t('your default')}` : ''}`,
    run: () => (preset === now ? undefined : policies.chooseForRun(id, preset, title)),
  }));
  const others = [
    { label: '', kind: vscode.QuickPickItemKind.Separator, run: () => undefined },
    {
      label: `$(settings-gear) ${t('For Every Run…')}`,
      run: () => vscode.commands.executeCommand('towpath.approvals'),
    },
  ];
  const chosen = await vscode.window.showQuickPick([...rows, ...others], {
    title: escapeInvisibleInLine(t('Towpath: approvals for “{0}”', title)),
    placeHolder: t('For this run only; anything wider than your default ends when the window reloads'),
  });
  await chosen?.run();
}
