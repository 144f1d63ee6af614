import * as vscode from 'vscode';
import { t } from '../../protocol/text/l10n.ts';
import { showActionMenu } from '../dialogs/actionMenu.ts';

/** *Import…* */
export const showImportMenu = (): Promise<void> =>
  showActionMenu(t('Towpath: import'), [
    {
      label: t('Instructions of Other Agents…'),
      detail: t('Rules, modes and MCP servers in the open folders'),
      run: () => vscode.commands.executeCommand('towpath.importOthers'),
    },
    {
      label: t('Runs…'),
      detail: t('A JSON file that was exported from a run'),
      run: () => vscode.commands.executeCommand('towpath.importRuns'),
    },
  ]);
