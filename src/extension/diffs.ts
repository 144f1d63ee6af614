import path from 'node:path';
import * as vscode from 'vscode';
import type { KeptChange } from '../protocol/run.ts';
import type { RunStore } from '../runs/store.ts';
import type { ApprovalRequest } from '../tools/tool.ts';

const scheme = 'towpath';

/** Shows changes in the editor's own diff: a proposed one before it is allowed, a done one from its kept contents. */
export class Diffs implements vscode.TextDocumentContentProvider {
  private readonly texts = new Map<string, string>();

  constructor(private readonly store: RunStore) {}

  register(): vscode.Disposable {
    return vscode.workspace.registerTextDocumentContentProvider(scheme, this);
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const [kind, id] = uri.authority.split('.', 2) as [string, string];
    if (kind === 'kept') return this.store.contents.read(uri.query, id);
    return this.texts.get(uri.toString()) ?? '';
  }

  /** What a question is about: the diff of a file, or the command as it would run. */
  async review(request: ApprovalRequest): Promise<void> {
    const { change, where, what } = request.plan;
    const command = request.call.name.startsWith('mcp.') ? undefined : request.plan.command; // there it is the arguments
    if (change) {
      const before = this.text(request.id, 'before', change.path, change.before ?? '');
      const after = this.text(request.id, 'after', change.path, change.after ?? '');
      await showDiff(before, after, `${what} (proposed)`);
      return;
    }
    const text = command === undefined ? JSON.stringify(request.call.arguments, null, 2) : `cd ${where}\n${command}\n`;
    const uri = this.text(request.id, 'call', command === undefined ? 'arguments.json' : 'command.sh', text);
    await vscode.window.showTextDocument(uri, { preview: true });
  }

  /** A question that has been answered: its texts are forgotten, and what showed them closes. */
  forget(requestId: string): void {
    for (const uri of this.texts.keys()) if (vscode.Uri.parse(uri).query === requestId) this.texts.delete(uri);
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const shown = tabs.filter((tab) => uriOf(tab)?.scheme === scheme && uriOf(tab)?.query === requestId);
    if (shown.length > 0) void vscode.window.tabGroups.close(shown, true);
  }

  async showKept(runId: string, change: KeptChange): Promise<void> {
    const side = (id: string | null) =>
      id === null
        ? this.text('empty', 'none', change.path, '')
        : vscode.Uri.from({ scheme, authority: `kept.${id}`, path: `/${change.path}`, query: runId });
    await showDiff(side(change.before), side(change.after), `${path.basename(change.path)} (what Towpath changed)`);
  }

  /** What a call gave and was too long to tell. */
  async showOutput(runId: string, id: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme, authority: `kept.${id}`, path: '/output.txt', query: runId });
    await vscode.window.showTextDocument(uri, { preview: true });
  }

  private text(id: string, kind: string, name: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme, authority: `${kind}.`, path: `/${name}`, query: id });
    this.texts.set(uri.toString(), text);
    return uri;
  }
}

function uriOf({ input }: vscode.Tab): vscode.Uri | undefined {
  if (input instanceof vscode.TabInputTextDiff) return input.modified;
  return input instanceof vscode.TabInputText ? input.uri : undefined;
}

async function showDiff(before: vscode.Uri, after: vscode.Uri, title: string): Promise<void> {
  await vscode.commands.executeCommand('vscode.diff', before, after, title, { preview: true });
}
