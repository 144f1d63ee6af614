import { randomBytes } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { usageCountsToCsv } from '../../protocol/run/insights.ts';
import { t } from '../../protocol/text/l10n.ts';
import { messageOf } from '../../protocol/text/localized.ts';
import { collectUsageInsights } from '../../runs/collectInsights.ts';
import { diskFolders } from '../dialogs/folders.ts';
import { notify } from '../dialogs/notify.ts';
import { type InsightsPageState, insightsHtml } from './insightsPage.ts';

/** Implements *Insights*: usage of this workspace or of all workspaces, counted at each request. */
export class Insights implements vscode.Disposable {
  private panel?: vscode.WebviewPanel;
  private shown?: InsightsPageState;

  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly store: string,
    private readonly stores: () => Promise<string[]>,
  ) {}

  dispose(): void {
    this.panel?.dispose();
  }

  async show(scope: InsightsPageState['scope'] = 'workspace'): Promise<void> {
    const title = t('Towpath is counting the usage of its runs');
    const options = { location: vscode.ProgressLocation.Window, title };
    const found = await vscode.window.withProgress(options, async () =>
      collectUsageInsights(scope === 'all' ? await this.stores() : [this.store]),
    );
    this.shown = { ...found, scope };
    const panel = this.panel ?? this.open();
    const dist = vscode.Uri.joinPath(this.extensionUri, 'dist');
    const script = panel.webview.asWebviewUri(vscode.Uri.joinPath(dist, 'insights.js')).toString();
    panel.webview.html = insightsHtml(this.shown, { script, nonce: randomBytes(16).toString('base64url') });
    panel.reveal();
  }

  async save(target?: vscode.Uri): Promise<void> {
    if (!this.shown) return;
    const name = vscode.Uri.file(path.join(diskFolders()[0]?.uri.fsPath ?? '', 'insights.csv'));
    const to =
      target ??
      (await vscode.window.showSaveDialog({ defaultUri: name, title: t('Save Insights'), filters: { CSV: ['csv'] } }));
    if (!to) return;
    try {
      await vscode.workspace.fs.writeFile(to, Buffer.from(usageCountsToCsv(this.shown.counts)));
    } catch (error) {
      notify('error', t('The table could not be saved. {0}', messageOf(error)));
    }
  }

  private open(): vscode.WebviewPanel {
    const dist = vscode.Uri.joinPath(this.extensionUri, 'dist');
    const options = { enableScripts: true, localResourceRoots: [dist] };
    const panel = vscode.window.createWebviewPanel(
      'towpath.insights',
      t('Towpath Insights'),
      vscode.ViewColumn.Active,
      options,
    );
    panel.onDidDispose(() => {
      this.panel = undefined;
    });
    panel.webview.onDidReceiveMessage((received: unknown) => {
      const { type, scope } = Object(received) as Record<string, unknown>;
      if (type === 'csv') void this.save();
      else if (type === 'scope') void this.show(scope === 'all' ? 'all' : 'workspace');
    });
    this.panel = panel;
    return panel;
  }
}

/** Returns the stores of all workspaces, which the editor places side by side under the extension id. */
export async function listWorkspaceStores(storage: string | undefined, without: string): Promise<string[]> {
  if (storage === undefined) return [path.join(without, 'store')];
  const all = path.dirname(path.dirname(storage));
  const names = await fs.readdir(all).catch(() => [path.basename(path.dirname(storage))]);
  const folders = names.map((name) => path.join(all, name, path.basename(storage)));
  return [...folders, without].map((folder) => path.join(folder, 'store'));
}
