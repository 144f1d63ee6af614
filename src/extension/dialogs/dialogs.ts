import * as vscode from 'vscode';
import type { UserActivity } from '../view/userActivity.ts';

export interface DialogQuestion {
  text: string;
  detail?: string;
  /** Enter presses the first. */
  buttons: readonly string[];
  /** The button after which something opens that the keys belong to: a list, a file, a review. */
  opens?: string;
}

/**
 * Native dialogs about all but a run's calls. One that the person asked for comes at once, one that comes by itself while they
 * do nothing; after either, the next key lands where the person was. Closing one is no answer.
 */
export class Dialogs implements vscode.Disposable {
  private readonly over = new AbortController();

  constructor(private readonly presence: UserActivity) {}

  /** A dialog that still waits for a quiet moment is closed unasked. */
  dispose(): void {
    this.over.abort();
  }

  /** What the person asked for. */
  async ask(question: DialogQuestion): Promise<string | undefined> {
    await this.presence.look();
    return this.show(question);
  }

  /** What a run, a file or the editor's start brings up. */
  async askWhenQuiet(question: DialogQuestion): Promise<string | undefined> {
    await this.presence.quiet(this.over.signal);
    return this.over.signal.aborted ? undefined : this.show(question);
  }

  private async show({ text, detail, buttons, opens }: DialogQuestion): Promise<string | undefined> {
    const chosen = await vscode.window.showWarningMessage(text, { modal: true, detail }, ...buttons);
    if (chosen !== undefined && chosen === opens) return chosen;
    const back = this.presence.back();
    if (chosen !== undefined) await back; // a no is known at once: who asks again is not told that they are being asked
    return chosen;
  }
}
