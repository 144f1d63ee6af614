import { setTimeout as wait } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { ChatView } from './chatView.ts';
import { type ActivitySnapshot, activeUserLocation, msUntilIdleCheck, userIdleMs } from './idleDetection.ts';

const byThemselves = new Set(['output']);
const boxes = new Set(['vscode-scm', 'comment']);

/** Location and idle time of the user, and the return of the focus after a dialog. */
export class UserActivity implements vscode.Disposable {
  private readonly listeners: vscode.Disposable;
  private editorAt = Number.NEGATIVE_INFINITY;
  /** Newest activity that requires the focus; an opening editor scrolls by itself. */
  private workedAt = Number.NEGATIVE_INFINITY;
  private location: 'panel' | 'editor' = 'panel';
  /** Unknown earlier activity counts as activity at this time. */
  private readonly knownFrom = performance.now();
  private going: Promise<void> = Promise.resolve();

  constructor(private readonly view: ChatView) {
    const { window, workspace } = vscode;
    this.listeners = vscode.Disposable.from(
      window.onDidChangeTextEditorSelection(({ kind }) => kind !== undefined && this.works()),
      window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => this.inEditor(textEditor.document)),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        const isOwn = document === window.activeTextEditor?.document || boxes.has(document.uri.scheme);
        if (isOwn && contentChanges.length > 0) this.inEditor(document);
      }),
    );
  }

  dispose(): void {
    this.listeners.dispose();
  }

  get panelInView(): boolean {
    return this.view.inView;
  }

  get wasInEditor(): boolean {
    return this.location === 'editor';
  }

  /** Queries editor and panel, so that their pending events arrive before the decision. */
  async look(): Promise<ActivitySnapshot> {
    await this.going; // the pending focus change must not hit the next dialog
    const asked = performance.now();
    const [panel] = await Promise.all([this.view.look(), toEditorAndBack()]);
    const now = performance.now();
    const look = { editorMs: now - this.editorAt, panel, delayMs: now - asked };
    this.location = activeUserLocation(look);
    return look;
  }

  /** Resolves when the user is idle in a focused window, or on abort. */
  async quiet(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const look = await this.look();
      const unknown = userIdleMs - (performance.now() - this.knownFrom);
      const ms = vscode.window.state.focused ? Math.max(msUntilIdleCheck(look), unknown) : userIdleMs;
      if (ms === 0) return;
      await wait(ms, undefined, { signal: over }).catch(() => {});
    }
  }

  /**
   * Returns the focus after a dialog to the message box, unless the user was or is in an editor.
   *
   * @param from `nowhere`: the focused element is gone
   */
  back(from?: 'nowhere'): Promise<void> {
    if (from !== 'nowhere' && this.location === 'editor') return Promise.resolve();
    const over = performance.now();
    const go = async () => {
      await toEditorAndBack();
      await this.view.focus({ wanted: () => this.workedAt <= over });
    };
    this.going = go().catch(() => {}); // a focus failure must not lose an answer
    return this.going;
  }

  called(): void {
    this.workedAt = performance.now();
  }

  private works(): void {
    this.workedAt = performance.now();
    this.inEditor();
  }

  private inEditor(document?: vscode.TextDocument): void {
    if (!document || !byThemselves.has(document.uri.scheme)) this.editorAt = performance.now();
  }
}

/** Round trip to the editor: events are ordered, so earlier events have arrived. */
const toEditorAndBack = () => vscode.commands.executeCommand('setContext', 'towpath.looked', true);
