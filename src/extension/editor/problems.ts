import * as vscode from 'vscode';

/** Milliseconds to wait for problems after a change, and milliseconds of silence to end the wait. */
const patience = 1000;
const quiet = 150;
const maxReported = 20;

export class ChangeErrorDetector {
  /** Time of the last report by URI (epoch milliseconds). */
  private readonly reports = new Map<string, number>();
  private readonly subscription = vscode.languages.onDidChangeDiagnostics(({ uris }) => {
    for (const uri of uris) this.reports.set(uri.toString(), Date.now());
  });

  dispose(): void {
    this.subscription.dispose();
  }

  watch(file: string): ((signal: AbortSignal) => Promise<string[]>) | undefined {
    const uri = vscode.Uri.file(file);
    if (!this.reports.has(uri.toString()) && vscode.languages.getDiagnostics(uri).length === 0) return undefined;
    const before = errorsOf(uri).map(({ message }) => message);
    this.reports.delete(uri.toString());
    return async (signal) => {
      await this.reported(uri, signal);
      const left = [...before];
      const fresh = errorsOf(uri).filter(({ message }) => {
        const known = left.indexOf(message); // by text, because lines move below a change
        if (known >= 0) left.splice(known, 1);
        return known < 0;
      });
      return fresh
        .slice(0, maxReported)
        .map(({ message, range }) => `line ${range.start.line + 1}: ${message.slice(0, 400)}`);
    };
  }

  private async reported(uri: vscode.Uri, signal: AbortSignal): Promise<void> {
    const until = Date.now() + patience;
    const isQuiet = () => Date.now() - (this.reports.get(uri.toString()) ?? Number.POSITIVE_INFINITY) >= quiet;
    while (Date.now() < until && !signal.aborted && !isQuiet()) await new Promise((resolve) => setTimeout(resolve, 25));
    if (!this.reports.has(uri.toString())) this.reports.set(uri.toString(), Date.now()); // slow, but available
  }
}

const errorsOf = (uri: vscode.Uri) =>
  vscode.languages.getDiagnostics(uri).filter(({ severity }) => severity === vscode.DiagnosticSeverity.Error);
