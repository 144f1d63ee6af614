import * as vscode from 'vscode';
import { escapeInvisible, escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import { excerptLineForDialog } from '../dialogs/dialogExcerpt.ts';

const scheme = 'towpath-tools';
const longestName = 60;

/** Read-only documents with the complete text of a server dialog. */
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

  async show(server: string, text: string, what = t('MCP server')): Promise<void> {
    const shown = excerptLineForDialog(escapeInvisibleInLine(server), longestName).text.replaceAll('/', '∕');
    await vscode.window.showTextDocument(this.document(`${what} ${shown}`, broken(escapeInvisible(text))), {
      preview: true,
    });
  }

  async compare(server: string, before: string, after: string): Promise<void> {
    const [was, now] = [this.document('was', before), this.document('now', after)];
    const shown = excerptLineForDialog(escapeInvisibleInLine(server), longestName).text;
    const title = t('Tools of {0}: as allowed ↔ as they are now', shown);
    await vscode.commands.executeCommand('vscode.diff', was, now, title, { preview: true });
  }

  private document(name: string, text: string): vscode.Uri {
    this.count += 1;
    const uri = vscode.Uri.from({ scheme, path: `/${this.count}/${name}` });
    this.texts.set(uri.toString(), text);
    return uri;
  }
}

/** Breaks long lines, which editors truncate. */
const broken = (text: string) => text.replace(/.{100}(?=.)/gu, '$&\n⋮ ');
