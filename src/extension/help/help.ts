import * as vscode from 'vscode';
import { type HelpPageName, helpPageList } from '../../help/pages.ts';
import { t } from '../../protocol/text/l10n.ts';

export const helpCommand = 'towpath.help';

/** Link to a help page for trusted Markdown. */
export const helpLink = (name: HelpPageName): string =>
  `command:${helpCommand}?${encodeURIComponent(JSON.stringify([name]))}`;

/** Shows the named help page, or a picker of all pages. */
export async function showHelp(folder: vscode.Uri, name?: unknown): Promise<void> {
  const page = helpPageList.find((one) => one.name === name) ?? (await pick());
  if (page)
    await vscode.commands.executeCommand('markdown.showPreview', vscode.Uri.joinPath(folder, `${page.name}.md`));
}

const pick = () =>
  vscode.window.showQuickPick(
    helpPageList.map((page) => ({ ...page, label: t(page.title), detail: t(page.about) })),
    { title: t('Towpath: help'), matchOnDetail: true },
  );
