import * as vscode from 'vscode';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { currentLocale, t } from '../../protocol/text/l10n.ts';
import type { BackgroundCommandInfo, BackgroundCommands } from '../../tools/shell/background.ts';
import { notify } from '../dialogs/notify.ts';
import type { PanelConversation } from '../runs/conversation.ts';
import type { PortForwarding } from './openPort.ts';

const scheme = 'towpath-command';
/** Milliseconds between two updates of an open output. */
const readingMs = 500;

/** Background commands for the user: live output in an editor, and a list with stop buttons. */
export class BackgroundCommandList implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly listeners: vscode.Disposable;
  private readonly shown = new Map<string, () => void>();
  private readonly waiting = new Set<NodeJS.Timeout>();

  constructor(
    private readonly background: BackgroundCommands,
    private readonly conversation: Pick<PanelConversation, 'open'>,
    private readonly ports: Pick<PortForwarding, 'open'>,
  ) {
    this.listeners = vscode.Disposable.from(
      this.changed,
      vscode.workspace.registerTextDocumentContentProvider(scheme, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.forget(uri)),
    );
  }

  dispose(): void {
    this.listeners.dispose();
    for (const forget of this.shown.values()) forget();
    for (const timer of this.waiting) clearTimeout(timer);
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.background.textOf(uri.authority) ?? '';
  }

  /** Opens the output; returns false if no longer available. */
  async show(id: string): Promise<boolean> {
    if (this.background.textOf(id) === undefined) return false;
    const uri = vscode.Uri.from({ scheme, authority: id, path: `/${this.fileName(id)}.txt` });
    this.forget(uri);
    this.shown.set(uri.toString(), this.background.listen(id, this.soon(uri)));
    this.changed.fire(uri); // an open document still has the text of its last update
    const document = await vscode.workspace.openTextDocument(uri);
    const end = document.lineAt(document.lineCount - 1).range;
    await vscode.window.showTextDocument(document, { preview: true, selection: end });
    return true;
  }

  /** Shows the list; a chosen command opens its output, the button stops the command. */
  async choose(): Promise<void> {
    const { atWork } = this.background;
    if (atWork.length === 0) {
      notify('info', t('No background commands are running.'));
      return;
    }
    const [stopButton, runButton] = [button('debug-stop', t('Stop')), button('comment-discussion', t('Show Run'))];
    const portButton = button('link-external', t('Open Port…'));
    const picker = vscode.window.createQuickPick<vscode.QuickPickItem & { one: BackgroundCommandInfo }>();
    picker.title = t('Towpath: background commands');
    picker.placeholder = t('Enter shows the output');
    picker.matchOnDescription = true;
    picker.items = atWork.map((one) => ({
      label: escapeInvisibleInLine(one.line),
      description: t('since {0}', new Date(one.startedAt).toLocaleTimeString(currentLocale())),
      detail: escapeInvisibleInLine(one.folder),
      buttons: [stopButton, runButton, ...(one.network ? [portButton] : [])],
      one,
    }));
    const chosen = await new Promise<{ one: BackgroundCommandInfo; button?: vscode.QuickInputButton } | undefined>(
      (resolve) => {
        picker.onDidAccept(() => resolve(picker.selectedItems[0]));
        picker.onDidTriggerItemButton(({ item: { one }, button }) => resolve({ one, button }));
        picker.onDidHide(() => resolve(undefined));
        picker.show();
      },
    );
    picker.dispose();
    if (chosen?.button === stopButton) await this.stop(chosen.one.id);
    else if (chosen?.button === portButton) await this.ports.open(chosen.one.id);
    else if (chosen?.button === runButton) await this.conversation.open(chosen.one.runId);
    else if (chosen) await this.show(chosen.one.id);
  }

  async stop(id: string): Promise<void> {
    const end = await this.background.stop(id, 'person');
    const left = end?.stillRunning?.join(', ');
    if (left) notify('error', t('Could not stop it: {0}', left));
  }

  private fileName(id: string): string {
    const line = this.background.commandOf(id)?.line ?? '';
    const name = escapeInvisibleInLine(line).replace(/[\\/:*?"'<>|#%\s]+/g, ' ');
    return name.trim().slice(0, 40) || 'output';
  }

  private soon(uri: vscode.Uri): () => void {
    let timer: NodeJS.Timeout | undefined;
    return () => {
      if (timer) return;
      timer = setTimeout(() => {
        this.waiting.delete(timer!);
        timer = undefined;
        this.changed.fire(uri);
      }, readingMs);
      this.waiting.add(timer);
    };
  }

  private forget(uri: vscode.Uri): void {
    this.shown.get(uri.toString())?.();
    this.shown.delete(uri.toString());
  }
}

const button = (icon: string, tooltip: string): vscode.QuickInputButton => ({
  iconPath: new vscode.ThemeIcon(icon),
  tooltip,
});
