import * as vscode from 'vscode';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import type { ApprovalPolicies } from './policies.ts';
import { presetRows } from './presetRows.ts';

/**
 * *Approvals for This Run…*: a preset for one run. The current preset is first, so Enter changes nothing.
 * @param title title of the run
 */
export async function showRunApprovalPresetMenu(
  policies: ApprovalPolicies,
  { id, title }: { id: string; title: string },
): Promise<void> {
  const sandbox = await policies.sandbox.probe();
  const now = policies.shown(id).preset;
  const own = policies.preset;
  const all = presetRows({ trusted: vscode.workspace.isTrusted, sandbox });
  const nowFirst = all.toSorted((one, other) => Number(other.preset === now) - Number(one.preset === now));
  const rows = nowFirst.map(({ preset, name, description }) => ({
    label: `${preset === now ? '$(check)' : '$(blank)'} ${name}`,
    description: `${description}${preset === own ? ` · ${t('your default')}` : ''}`,
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
