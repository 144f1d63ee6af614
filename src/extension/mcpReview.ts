import * as vscode from 'vscode';
import { visibleLine } from '../protocol/visible.ts';

const scheme = 'towpath-tools';

/** A server's tools as they were and as they are, side by side: to look at, not to change. */
export class McpReview implements vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private count = 0;
  private readonly registered = vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(scheme, {
      provideTextDocumentContent: (uri) => this.texts.get(uri.toString()) ?? '',
    }),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => this.texts.delete(uri.toString())),
  );

  dispose(): void {
    this.registered.dispose();
  }

  async show(server: string, before: string, after: string): Promise<void> {
    this.count += 1;
    const [was, now] = [this.document('was', before), this.document('now', after)];
    const title = `Tools of ${visibleLine(server).slice(0, 60)}: as allowed ↔ as they are now`;
    await vscode.commands.executeCommand('vscode.diff', was, now, title, { preview: true });
  }

  private document(side: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme, path: `/${this.count}/${side}/tools.txt` });
    this.texts.set(uri.toString(), text);
    return uri;
  }
}
