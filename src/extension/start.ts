// @invariant activation-is-small: The program that the editor activates imports only types and the page of the panel.
import * as vscode from 'vscode';
import type { TowpathCommandId } from '../protocol/panel/intents.ts';
import { lazyImport } from '../protocol/panel/lazyImport.ts';
import { t } from '../protocol/text/l10n.ts';
import type { Towpath } from './main.ts';
import { lightbulbCodeActionProvider } from './mentions/lightbulb.ts';
import { offerModelsToEditor } from './modelProvider/registerProvider.ts';
import { useEditorLanguage } from './useEditorLanguage.ts';
import { ChatPage, chatTabType } from './view/chatPage.ts';

/** Milliseconds until background work (checks of workflow files, cleanup) if the workspace uses Towpath. */
const unaskedAfterMs = 2000;

const main = lazyImport(() => import('./main.ts'));

let towpath: Promise<Towpath> | undefined;
let unasked: NodeJS.Timeout | undefined;
let over = false;

/**
 * Entry point: registers what the editor needs at once. The rest (`main.ts`) is loaded on first use by the panel, whose page loads in
 * parallel, or by a command.
 */
export function activate(context: vscode.ExtensionContext): void {
  useEditorLanguage();
  const load = () => {
    clearTimeout(unasked);
    towpath ??= loadAll(context, page);
    return towpath;
  };
  const soon = (ms: number) => {
    clearTimeout(unasked);
    if (!towpath && !over) unasked = setTimeout(() => load().catch(() => {}), ms);
  };
  const page = new ChatPage(context.extensionUri, () => soon(0)); // the page is sent first
  const { commands } = context.extension.packageJSON.contributes as { commands: { command: TowpathCommandId }[] };
  context.subscriptions.push(
    vscode.window.registerWebviewViewProvider('towpath.chat', page),
    vscode.window.registerWebviewPanelSerializer(chatTabType, page),
    vscode.languages.registerCodeActionsProvider({ scheme: 'file' }, lightbulbCodeActionProvider, {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix, vscode.CodeActionKind.Refactor],
    }),
    offerModelsToEditor(async () => (await load()).offered()),
    vscode.commands.registerCommand('towpath.showChat', () => page.reveal()),
    ...commands.map(({ command }) =>
      vscode.commands.registerCommand(command, async (...args: unknown[]) => (await load()).run(command, args)),
    ),
  );
  hasOwnFolder()
    .then((found) => found && soon(unaskedAfterMs))
    .catch(() => {});
}

/** The extension is activated in every window for the lightbulb; most windows use nothing else. */
async function hasOwnFolder(): Promise<boolean> {
  const { fs, workspaceFolders = [] } = vscode.workspace;
  const ownFolders = workspaceFolders.map(({ uri }) =>
    fs.stat(vscode.Uri.joinPath(uri, '.towpath')).then(
      () => true,
      () => false,
    ),
  );
  return (await Promise.all(ownFolders)).includes(true);
}

/** Reports a load failure once; later commands fail with it. */
async function loadAll(context: vscode.ExtensionContext, page: ChatPage): Promise<Towpath> {
  try {
    return (await main()).createTowpath(context, page);
  } catch (error) {
    console.error(error);
    void vscode.window.showErrorMessage(t('Towpath could not start. Reload the window, or reinstall it.'));
    throw error;
  }
}

export async function deactivate(): Promise<void> {
  over = true;
  clearTimeout(unasked);
  await (await towpath?.catch(() => undefined))?.close();
}
