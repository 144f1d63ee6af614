import os from 'node:os';
import * as vscode from 'vscode';
import { stoppable } from '../dialogs/stoppable.ts';
import { type Check, runChecks, toReport } from './doctorReport.ts';

/** *Doctor*: looks at everything that an answer needs, and writes down what it found. */
export class Doctor {
  constructor(
    private readonly checks: readonly Check[],
    private readonly secrets: () => Promise<string[]>,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  async examine(): Promise<void> {
    const sections = await stoppable('Towpath Doctor', (signal, progress) => runChecks(this.checks, signal, progress));
    const content = toReport(sections, { secrets: await this.secrets(), home: os.homedir() });
    this.log.info(content);
    const document = await vscode.workspace.openTextDocument({ language: 'markdown', content });
    await vscode.window.showTextDocument(document, { preview: false });
  }
}
