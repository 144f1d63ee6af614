import path from 'node:path';
import * as vscode from 'vscode';
import type { StoredFileChange } from '../../protocol/run/events.ts';
import { localizedCount, t } from '../../protocol/text/l10n.ts';
import type { RunStore } from '../../runs/store.ts';

const scheme = 'towpath';
const storedPrefix = 'kept.';
const none = 'none';
const said = 'said';
const maxTextLength = 5_000_000;

/**
 * File changed by a run. `before` is the content id before the run (null: no file); `place` is the current location (undefined: deleted).
 */
export interface SinceRun {
  path: string;
  before: string | null;
  place: string | undefined;
}

export class DiffDocumentProvider implements vscode.TextDocumentContentProvider {
  constructor(private readonly store: RunStore) {}

  register(): vscode.Disposable {
    return vscode.workspace.registerTextDocumentContentProvider(scheme, this);
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    if (uri.authority === none) return '';
    if (uri.authority === said) return this.messageAt(uri.query, Number(uri.fragment));
    return this.store.contents.read(uri.query, uri.authority.slice(storedPrefix.length));
  }

  async showStored(runId: string, change: StoredFileChange): Promise<void> {
    const [before, after] = [change.before, change.after].map((id) => sideOf(runId, change.path, id));
    await showDiff(before!, after!, t('{0} (changes by Towpath)', path.basename(change.path)));
  }

  /** Shows several stored changes of a call. */
  async reviewStored(runId: string, changes: readonly StoredFileChange[]): Promise<void> {
    const all = changes.map(({ path: name, before, after }) => {
      const sides = [before, after].map((id) => sideOf(runId, name, id));
      return [sides[1]!, ...sides];
    });
    const title = t('Towpath: {0} of a command', localizedCount(all.length, 'file'));
    await vscode.commands.executeCommand('vscode.changes', title, all);
  }

  /** Tests if a stored content is text that an editor can show. */
  async isText(runId: string, id: string): Promise<boolean> {
    const text = await this.store.contents.read(runId, id).catch(() => undefined);
    return text !== undefined && text.length <= maxTextLength && !text.includes('\0');
  }

  async showSince(runId: string, side: SinceRun): Promise<void> {
    const [, before, now] = sidesOf(runId, side);
    await showDiff(before, now, t('{0} (before this run ↔ now)', path.basename(side.path)));
  }

  async reviewSince(runId: string, sides: readonly SinceRun[]): Promise<void> {
    const all = sides.map((side) => sidesOf(runId, side));
    const title = t('Towpath: {0} of this run', localizedCount(all.length, 'file'));
    await vscode.commands.executeCommand('vscode.changes', title, all);
  }

  async showMessage(runId: string, at: number): Promise<void> {
    const uri = vscode.Uri.from({
      scheme,
      authority: said,
      path: `/${t('Message {0}', at + 1)}.md`,
      query: runId,
      fragment: `${at}`,
    });
    await vscode.window.showTextDocument(uri, { preview: true });
  }

  private async messageAt(runId: string, at: number): Promise<string> {
    return (await this.store.read(runId)).messages[at]?.content ?? '';
  }

  async showOutput(runId: string, id: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme, authority: storedPrefix + id, path: '/output.txt', query: runId });
    await vscode.window.showTextDocument(uri, { preview: true });
  }
}

const sideOf = (runId: string, name: string, id: string | null): vscode.Uri =>
  vscode.Uri.from({ scheme, authority: id === null ? none : storedPrefix + id, path: `/${name}`, query: runId });

function sidesOf(runId: string, { path: name, before, place }: SinceRun): [vscode.Uri, vscode.Uri, vscode.Uri] {
  const now = place === undefined ? sideOf(runId, name, null) : vscode.Uri.file(place);
  // Sides with different paths count as a renamed file in the editor.
  return [now, sideOf(runId, name, before).with({ path: now.path }), now];
}

async function showDiff(before: vscode.Uri, after: vscode.Uri, title: string): Promise<void> {
  await vscode.commands.executeCommand('vscode.diff', before, after, title, { preview: true });
}
