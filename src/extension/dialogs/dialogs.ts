import * as vscode from 'vscode';
import type { UserActivity } from '../view/userActivity.ts';

export interface DialogQuestion {
  text: string;
  detail?: string;
  /** First button is pressed by Enter. */
  buttons: readonly string[];
  opens?: string;
}

/**
 * Native dialogs other than approvals. A dialog requested by the user opens at once; others wait for idle time. Afterwards the focus
 * returns to the former position. Closing a dialog is no answer.
 */
export class Dialogs implements vscode.Disposable {
  private readonly over = new AbortController();

  constructor(private readonly presence: UserActivity) {}

  dispose(): void {
    this.over.abort();
  }

  async ask(question: DialogQuestion): Promise<string | undefined> {
    await this.presence.look();
    return this.show(question);
  }

  /** Shows a dialog of a run, a file or the start, after the user is idle. */
  async askWhenQuiet(question: DialogQuestion): Promise<string | undefined> {
    await this.presence.quiet(this.over.signal);
    return this.over.signal.aborted ? undefined : this.show(question);
  }

  private async show({ text, detail, buttons, opens }: DialogQuestion): Promise<string | undefined> {
    const chosen = await vscode.window.showWarningMessage(text, { modal: true, detail }, ...buttons);
    if (chosen !== undefined && chosen === opens) return chosen;
    const back = this.presence.back();
    if (chosen !== undefined) await back; // a denial is processed at once, so that a repeated request is possible
    return chosen;
  }
}
