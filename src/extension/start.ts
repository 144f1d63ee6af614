import * as vscode from 'vscode';
import { lazily } from '../protocol/lazily.ts';
import type { Towpath } from './main.ts';
import { ChatPage, tabType } from './view/chatPage.ts';

/** What nobody asks for is done all the same (problems of workflow files, what was left over), once the window is up. Milliseconds. */
const unaskedAfterMs = 2000;

const main = lazily(() => import('./main.ts'));

let towpath: Promise<Towpath> | undefined;
let unasked: NodeJS.Timeout | undefined;

/**
 * The first program: what the editor wants at once, and no more. All else (`main.ts`) is loaded for the first who needs it: the panel,
 * whose page is on its way to the screen meanwhile; a command, which waits for it.
 */
export function activate(context: vscode.ExtensionContext): void {
  const load = () => {
    clearTimeout(unasked);
    towpath ??= loadAll(context, page);
    return towpath;
  };
  const soon = (ms: number) => {
    clearTimeout(unasked);
    if (!towpath) unasked = setTimeout(() => load().catch(() => {}), ms);
  };
  const page = new ChatPage(context.extensionUri, () => soon(0)); // first the page goes out
  const { commands } = context.extension.packageJSON.contributes as { commands: { command: string }[] };
  context.subscriptions.push(
    vscode.window.registerWebviewViewProvider('towpath.chat', page),
    vscode.window.registerWebviewPanelSerializer(tabType, page),
    vscode.commands.registerCommand('towpath.showChat', () => page.reveal()),
    ...commands.map(({ command }) =>
      vscode.commands.registerCommand(command, async (...args: unknown[]) => (await load()).run(command, args)),
    ),
  );
  soon(unaskedAfterMs);
}

/** Told once; a command says it again by failing. */
async function loadAll(context: vscode.ExtensionContext, page: ChatPage): Promise<Towpath> {
  try {
    return (await main()).begin(context, page);
  } catch (error) {
    console.error(error);
    void vscode.window.showErrorMessage('Towpath could not start. Reload the window, or install it again.');
    throw error;
  }
}

export async function deactivate(): Promise<void> {
  clearTimeout(unasked);
  await (await towpath?.catch(() => undefined))?.close();
}
