import path from 'node:path';
import * as vscode from 'vscode';
import type { KeptChange } from '../../protocol/events.ts';
import type { RunStore } from '../../runs/store.ts';

const scheme = 'towpath';
const kept = 'kept.';
/** The side on which the file does not exist. */
const none = 'none';
/** A message as it was written. */
const said = 'said';

/** Shows changes that were made, in the editor's own diff, from their kept contents. */
export class Diffs implements vscode.TextDocumentContentProvider {
  constructor(private readonly store: RunStore) {}

  register(): vscode.Disposable {
    return vscode.workspace.registerTextDocumentContentProvider(scheme, this);
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    if (uri.authority === none) return '';
    if (uri.authority === said) return this.messageAt(uri.query, Number(uri.fragment));
    return this.store.contents.read(uri.query, uri.authority.slice(kept.length));
  }

  async showKept(runId: string, change: KeptChange): Promise<void> {
    const side = (id: string | null) =>
      vscode.Uri.from({ scheme, authority: id === null ? none : kept + id, path: `/${change.path}`, query: runId });
    await showDiff(side(change.before), side(change.after), `${path.basename(change.path)} (what Towpath changed)`);
  }

  /** A message of a run, to be read and searched; it cannot be changed. */
  async showMessage(runId: string, at: number): Promise<void> {
    const uri = vscode.Uri.from({
      scheme,
      authority: said,
      path: `/Message ${at + 1}.md`,
      query: runId,
      fragment: `${at}`,
    });
    await vscode.window.showTextDocument(uri, { preview: true });
  }

  private async messageAt(runId: string, at: number): Promise<string> {
    return (await this.store.read(runId)).messages[at]?.content ?? '';
  }

  /** What a call gave and was too long to tell. */
  async showOutput(runId: string, id: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme, authority: kept + id, path: '/output.txt', query: runId });
    await vscode.window.showTextDocument(uri, { preview: true });
  }
}

async function showDiff(before: vscode.Uri, after: vscode.Uri, title: string): Promise<void> {
  await vscode.commands.executeCommand('vscode.diff', before, after, title, { preview: true });
}
