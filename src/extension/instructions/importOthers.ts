import * as vscode from 'vscode';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { localizedCount, t } from '../../protocol/text/l10n.ts';
import { localize } from '../../protocol/text/localized.ts';
import type { InstructionLookup } from '../../tools/instructions/files.ts';
import { findImportableItems, type ImportableAgentItem, importAgentItems } from '../../tools/instructions/importing.ts';
import { showActionMenu } from '../dialogs/actionMenu.ts';
import { isVirtualWorkspace, virtualUnsupportedMessage } from '../dialogs/folders.ts';
import { notify } from '../dialogs/notify.ts';

const lookedFor = () =>
  t(
    'Looked for rules of Cursor, Cline, Roo, Continue, Windsurf, Kilo, Junie and Gemini, Roo’s modes, and MCP servers in `.cursor`, `.roo`, `.mcp.json` and the like.',
  );

type Item = vscode.QuickPickItem & { one: ImportableAgentItem };

/** Shows instructions of other agents in the open folders with their result here, and imports the selection. */
export async function importAgentInstructions(looking: InstructionLookup): Promise<void> {
  if (isVirtualWorkspace()) return notify('info', virtualUnsupportedMessage('Importing is'));
  if (!looking.workspace.trusted) {
    notify(
      'info',
      t('This workspace is not trusted, so nothing of its files is imported. Use Manage Workspace Trust, then import.'),
    );
    return;
  }
  const found = await findImportableItems(looking, localize);
  const open = found.filter(({ not }) => not === undefined);
  if (open.length === 0) {
    const skipped = found.map(({ not }) => not).slice(0, 5);
    const nothing = t('There is nothing to import in the open folders.');
    notify('info', [nothing, skipped.length > 0 && `${skipped.join('. ')}.`, lookedFor()].filter(Boolean).join(' '));
    return;
  }
  const chosen = await ask(found);
  if (!chosen || chosen.length === 0) return;
  const { written, problems } = await importAgentItems(looking, chosen, localize);
  if (problems.length > 0) notify('warning', t('Not imported: {0}', problems.join(' ')));
  if (written.length === 0) return;
  const names = written.map(escapeInvisibleInLine);
  const some = names.length > 6 ? `${names.slice(0, 6).join(', ')}, …` : names.join(', ');
  notify(
    'info',
    t('Wrote {0}: {1}. The files of other agents are unchanged.', localizedCount(written.length, 'file'), some),
  );
}

async function ask(found: readonly ImportableAgentItem[]): Promise<ImportableAgentItem[] | undefined> {
  const items = found.flatMap((one): Item[] =>
    one.not === undefined
      ? [
          {
            label: escapeInvisibleInLine(one.from),
            description: `→ ${escapeInvisibleInLine(one.to)}`,
            detail: escapeInvisibleInLine(one.becomes),
            picked: true,
            one,
          },
        ]
      : [],
  );
  const left = found.flatMap(({ from, not }) => (not === undefined ? [] : [`${from}: ${not}`]));
  const rest: vscode.QuickPickItem[] = left.map((text) => ({
    label: escapeInvisibleInLine(text),
    kind: vscode.QuickPickItemKind.Separator,
  }));
  const picked = await vscode.window.showQuickPick<vscode.QuickPickItem>([...items, ...rest], {
    title: t('Towpath: import instructions of other agents'),
    placeHolder: t('Nothing is written before OK, and nothing is allowed by it'),
    canPickMany: true,
    ignoreFocusOut: true,
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return picked?.flatMap((item) => ('one' in item ? [(item as Item).one] : []));
}

/** Shows what can be imported. */
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
