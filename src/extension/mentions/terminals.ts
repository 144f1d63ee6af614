import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { redact } from '../../llm/transport/redact.ts';
import { maxMentionText } from '../../protocol/content/mentionText.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { message } from '../../protocol/text/l10n.ts';
import { appendTerminalOutput } from '../../protocol/text/lineUpdates.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';
import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';
import { TerminalOutputCleaner } from '../../tools/shell/output.ts';

const longestName = 60;
/** Maximum milliseconds for the editor's copy command. */
const copyMs = 2000;

export interface TerminalOutput {
  name: string;
  text: string;
}

interface Command {
  line: string;
  output: string;
  code?: number | undefined;
}

/** Last command of each terminal by shell integration, else the text that the editor can copy. */
export class TerminalOutputs implements vscode.Disposable {
  private readonly last = new Map<vscode.Terminal, Command>();
  private readonly at = new WeakMap<vscode.TerminalShellExecution, Command>();
  private readonly listeners: vscode.Disposable;

  constructor(private readonly secrets: () => Promise<readonly string[]>) {
    const { window } = vscode;
    this.listeners = vscode.Disposable.from(
      window.onDidStartTerminalShellExecution(({ terminal, execution }) => void this.follow(terminal, execution)),
      window.onDidEndTerminalShellExecution(({ execution, exitCode }) => {
        const command = this.at.get(execution);
        if (command) command.code = exitCode;
      }),
      window.onDidCloseTerminal((terminal) => this.last.delete(terminal)),
    );
  }

  dispose(): void {
    this.listeners.dispose();
  }

  /** Command line of the last command in the active terminal; empty if only the editor may know a command. */
  get lastLine(): string | undefined {
    const { activeTerminal } = vscode.window;
    return activeTerminal && (this.last.get(activeTerminal)?.line ?? (activeTerminal.shellIntegration && ''));
  }

  /** Returns the last command of the terminal, by default of the active one. Throws an `Error` with a message. */
  async lastCommand(terminal = vscode.window.activeTerminal): Promise<TerminalOutput> {
    if (!terminal) throw new UserFacingError(message('No terminal is open.'));
    const command = this.last.get(terminal);
    if (command?.output.trim()) return this.recorded(command);
    // the command ran before activation, or ended at once; the editor may still have its output
    if (terminal !== vscode.window.activeTerminal) terminal.show(true);
    const text = await copiedBy('workbench.action.terminal.copyLastCommandAndLastCommandOutput');
    if (text?.trim()) return this.written(text.trim().split('\n', 1)[0]!, text);
    if (command) return this.recorded(command);
    throw new UserFacingError(
      message(
        'The editor knows no command of this terminal (none has run, or its shell has no shell integration). Select the text, and add the selection.',
      ),
    );
  }

  /** Returns the selection in the active terminal. Throws an `Error` with a message. */
  async selection(): Promise<TerminalOutput> {
    if (!vscode.window.activeTerminal) throw new UserFacingError(message('No terminal is open.'));
    const text = await copiedBy('workbench.action.terminal.copySelection');
    if (!text?.trim()) throw new UserFacingError(message('Nothing is selected in the terminal.'));
    return this.written(text.trim().split('\n', 1)[0]!, text);
  }

  private recorded({ line, output, code }: Command): Promise<TerminalOutput> {
    return this.written(line, `$ ${line}\n${output.trimEnd()}${code ? `\n(ended with ${code})` : ''}`);
  }

  private async written(line: string, text: string): Promise<TerminalOutput> {
    const secrets = await this.secrets();
    const clean = redact(text, secrets);
    return {
      name: truncateWithEllipsis(escapeInvisibleInLine(redact(line, secrets)), longestName) || 'selection',
      text: clean.length > maxMentionText ? clean.slice(clean.length - maxMentionText).replace(/^[^\n]*\n/, '') : clean,
    };
  }

  private async follow(terminal: vscode.Terminal, execution: vscode.TerminalShellExecution): Promise<void> {
    const command: Command = { line: execution.commandLine.value.trim(), output: '' };
    this.last.set(terminal, command);
    this.at.set(execution, command);
    const cleaner = new TerminalOutputCleaner();
    const add = (text: string) => {
      command.output = appendTerminalOutput(command.output, text).slice(-maxMentionText);
    };
    for await (const piece of execution.read()) add(cleaner.add(Buffer.from(piece)));
    add(cleaner.end());
  }
}

/** Returns the text that an editor command copies, and restores the clipboard; undefined if nothing was copied. */
async function copiedBy(command: string): Promise<string | undefined> {
  const { clipboard } = vscode.env;
  const before = await clipboard.readText();
  const nothing = `towpath-${randomUUID()}`;
  await clipboard.writeText(nothing);
  try {
    await vscode.commands.executeCommand(command);
    return await changed(nothing);
  } finally {
    await clipboard.writeText(before);
  }
}

async function changed(nothing: string): Promise<string | undefined> {
  const late = Date.now() + copyMs;
  for (;;) {
    const text = await vscode.env.clipboard.readText();
    if (text !== nothing) return text;
    if (Date.now() > late) return undefined;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
