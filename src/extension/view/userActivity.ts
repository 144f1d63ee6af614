import { setTimeout as wait } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { ChatView } from './chatView.ts';
import { focusOf, idleMs, type Look, quietIn } from './idleDetection.ts';

/** Texts that grow and scroll by themselves. */
const byThemselves = new Set(['output']);
/** Boxes of the editor that are no text editors. */
const boxes = new Set(['vscode-scm', 'comment']);

/** Where the person is and how long they have done nothing, and the way back there when a dialog is over. */
export class UserActivity implements vscode.Disposable {
  private readonly listeners: vscode.Disposable;
  private editorAt = Number.NEGATIVE_INFINITY;
  /** The last that only a person does who has the focus there; an editor that opens scrolls by itself. */
  private workedAt = Number.NEGATIVE_INFINITY;
  private place: 'panel' | 'editor' = 'panel';
  /** What the person did before is not known: as if they had done something right then. */
  private readonly knownFrom = performance.now();
  private going: Promise<void> = Promise.resolve();

  constructor(private readonly view: ChatView) {
    const { window, workspace } = vscode;
    this.listeners = vscode.Disposable.from(
      window.onDidChangeTextEditorSelection(({ kind }) => kind !== undefined && this.works()),
      window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => this.inEditor(textEditor.document)),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        const mine = document === window.activeTextEditor?.document || boxes.has(document.uri.scheme);
        if (mine && contentChanges.length > 0) this.inEditor(document);
      }),
    );
  }

  dispose(): void {
    this.listeners.dispose();
  }

  /** The panel can take the focus. */
  get panelInView(): boolean {
    return this.view.inView;
  }

  /** The person was in an editor when the dialog came. */
  get wasInEditor(): boolean {
    return this.place === 'editor';
  }

  /** Asks both the editor and the panel, so that what they have to tell is told before it is judged. */
  async look(): Promise<Look> {
    await this.going; // what comes up next is not to lose the focus to it
    const asked = performance.now();
    const [panel] = await Promise.all([this.view.look(), toEditorAndBack()]);
    const now = performance.now();
    const look = { editorMs: now - this.editorAt, panel, tookMs: now - asked };
    this.place = focusOf(look);
    return look;
  }

  /** Once the person does nothing in a window that is in front, or nobody waits for it any more. */
  async quiet(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const look = await this.look();
      const unknown = idleMs - (performance.now() - this.knownFrom);
      const ms = vscode.window.state.focused ? Math.max(quietIn(look), unknown) : idleMs;
      if (ms === 0) return;
      await wait(ms, undefined, { signal: over }).catch(() => {});
    }
  }

  /**
   * After a dialog, which leaves the focus nowhere: the next key lands in the message box, unless the person was in an editor,
   * or is by now. @param from `nowhere`: what had the focus is gone
   */
  back(from?: 'nowhere'): Promise<void> {
    if (from !== 'nowhere' && this.place === 'editor') return Promise.resolve();
    const over = performance.now();
    const go = async () => {
      await toEditorAndBack();
      await this.view.focus(() => this.workedAt <= over);
    };
    this.going = go().catch(() => {}); // no answer is lost for the sake of the focus
    return this.going;
  }

  /** The person has called for something; what opens keeps the keys. */
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

/** The editor's events arrive in order: what it has told before this is known after it. */
const toEditorAndBack = () => vscode.commands.executeCommand('setContext', 'towpath.looked', true);
