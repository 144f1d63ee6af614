import * as vscode from 'vscode';
import type { Mention } from '../../protocol/content/mention.ts';
import type { HostMessage } from '../../protocol/panel/panelMessages.ts';
import type { RunEvent } from '../../protocol/run/events.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { realOrVirtualRelativePath } from '../../tools/sandbox/resolveReadPath.ts';
import { uriToWorkspacePath } from '../editor/languageService.ts';
import { selectedLines } from './selectedLines.ts';

const key = 'towpath.selectionGoes';
/** Milliseconds before a selection is reported, because dragging changes it continuously. */
const restsMs = 120;

interface Dependencies {
  workspace: Workspace;
  memory: vscode.Memento;
  post(message: HostMessage): void;
}

/** Editor selection since the last message; attached to the next message unless disabled by the user. */
export class AttachedSelection implements vscode.Disposable {
  private now?: { mention: Mention; document: vscode.TextDocument } | undefined;
  private rest?: NodeJS.Timeout;
  private readonly watching: vscode.Disposable;

  constructor(private readonly parts: Dependencies) {
    const { window } = vscode;
    this.watching = vscode.Disposable.from(
      window.onDidChangeTextEditorSelection(({ textEditor }) => {
        if (textEditor === window.activeTextEditor) this.later(textEditor);
      }),
      window.onDidChangeActiveTextEditor((editor) => {
        if (editor && editor.document !== this.now?.document) this.later(undefined); // the user has switched to another document
      }),
    );
  }

  dispose(): void {
    clearTimeout(this.rest);
    this.watching.dispose();
  }

  show(): void {
    const { memory, post } = this.parts;
    post({ type: 'selection', mention: this.now?.mention ?? null, goes: memory.get(key) !== false });
  }

  /** Resets the selection after any user message in the shown run. */
  onEvent(event: RunEvent): void {
    const isNew = event.type === 'message' && event.message.role === 'user' && event.queued === undefined;
    if (isNew || event.type === 'queued') this.onSent();
  }

  onSent(): void {
    clearTimeout(this.rest);
    if (!this.now) return;
    this.now = undefined;
    this.show();
  }

  async turn(goes: boolean): Promise<void> {
    await this.parts.memory.update(key, goes);
    this.show();
  }

  private later(editor: vscode.TextEditor | undefined): void {
    clearTimeout(this.rest);
    this.rest = setTimeout(() => void this.take(editor), restsMs);
  }

  private async take(editor: vscode.TextEditor | undefined): Promise<void> {
    const document = editor?.document;
    const mention = editor && (await this.mentionOf(editor));
    if (!mention && !this.now) return;
    this.now = mention && document && { mention, document };
    this.show();
  }

  private async mentionOf({ document, selection }: vscode.TextEditor): Promise<Mention | undefined> {
    const at = selection.isEmpty ? undefined : uriToWorkspacePath(document.uri);
    const path = at && (await realOrVirtualRelativePath(this.parts.workspace, at));
    if (path === undefined) return undefined;
    return { kind: 'lines', path, ...selectedLines(selection) };
  }
}
