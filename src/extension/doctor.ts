import os from 'node:os';
import * as vscode from 'vscode';
import { type Check, runChecks, toReport } from './doctorReport.ts';
import { withoutLinks } from './questionText.ts';

/** *Doctor*: looks at everything that an answer needs, and writes down what it found. */
export class Doctor {
  constructor(
    private readonly checks: readonly Check[],
    private readonly secrets: () => Promise<string[]>,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  async examine(): Promise<void> {
    const options = { location: vscode.ProgressLocation.Notification, title: 'Towpath Doctor', cancellable: true };
    const sections = await vscode.window.withProgress(options, (progress, token) => {
      const stop = new AbortController();
      token.onCancellationRequested(() => stop.abort());
      return runChecks(this.checks, stop.signal, (message) => progress.report({ message: withoutLinks(message) }));
    });
    const content = toReport(sections, { secrets: await this.secrets(), home: os.homedir() });
    this.log.info(content);
    const document = await vscode.workspace.openTextDocument({ language: 'markdown', content });
    await vscode.window.showTextDocument(document, { preview: false });
  }
}
