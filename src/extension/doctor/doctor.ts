import os from 'node:os';
import * as vscode from 'vscode';
import { t } from '../../protocol/text/l10n.ts';
import { withCancellation } from '../dialogs/cancellable.ts';
import { showMarkdown } from '../dialogs/showMarkdown.ts';
import { type DoctorCheck, runDoctorChecks, toDoctorReport } from './doctorReport.ts';

const scheme = 'towpath-doctor';
const page = vscode.Uri.from({ scheme, path: '/Towpath Doctor.md' });

/** *Doctor*: checks everything required for an answer, and shows the result on a read-only page. */
export class Doctor implements vscode.TextDocumentContentProvider {
  private readonly examined = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.examined.event;
  private report = '';

  constructor(
    private readonly checks: readonly DoctorCheck[],
    private readonly secrets: () => Promise<string[]>,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  register(): vscode.Disposable {
    return vscode.Disposable.from(this.examined, vscode.workspace.registerTextDocumentContentProvider(scheme, this));
  }

  provideTextDocumentContent(): string {
    return this.report;
  }

  async examine(): Promise<void> {
    const title = t('Towpath Doctor');
    const sections = await withCancellation(title, (signal, progress) =>
      runDoctorChecks(this.checks, signal, progress),
    );
    const hide = { secrets: await this.secrets(), home: os.homedir() };
    this.report = toDoctorReport(sections, hide);
    this.log.info(toDoctorReport(sections, hide, 'english'));
    this.examined.fire(page); // an open page still has the old text
    await showMarkdown(page);
  }
}
