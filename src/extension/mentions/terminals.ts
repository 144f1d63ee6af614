import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { redact } from '../../llm/transport/redact.ts';
import { maxMentionText } from '../../protocol/content/mentionText.ts';
import { truncateVisible, visibleLine } from '../../protocol/text/escapeInvisible.ts';
import { message } from '../../protocol/text/l10n.ts';
import { withUpdate } from '../../protocol/text/lineUpdates.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';
import { Cleaner } from '../../tools/shell/output.ts';

/** Characters of a name. */
const longestName = 60;
/** Milliseconds that the editor has to copy. */
const copyMs = 2000;

/** What stood in a terminal. `name` says which part. */
export interface TerminalOutput {
  name: string;
  text: string;
}

interface Command {
  line: string;
  /** The end of what it wrote so far. */
  output: string;
  code?: number | undefined;
}

/** The last command of each terminal, as far as its shell tells the editor of it; else what the editor can copy. */
export class Terminals implements vscode.Disposable {
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

  /** A command and what it wrote: the last one of this terminal, else of the one in front. Throws an `Error` with a sentence. */
  async lastCommand(terminal = vscode.window.activeTerminal): Promise<TerminalOutput> {
    if (!terminal) throw new UserFacingError(message('No terminal is open.'));
    const command = this.last.get(terminal);
    if (command?.output.trim()) return this.recorded(command);
    // It ran before Towpath did, or was over at once; the editor may know it all the same.
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

  /** What is selected in the terminal in front. Throws an `Error` with a sentence. */
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
      name: truncateVisible(visibleLine(redact(line, secrets)), longestName) || 'selection',
      text: clean.length > maxMentionText ? clean.slice(clean.length - maxMentionText).replace(/^[^\n]*\n/, '') : clean,
    };
  }

  private async follow(terminal: vscode.Terminal, execution: vscode.TerminalShellExecution): Promise<void> {
    const command: Command = { line: execution.commandLine.value.trim(), output: '' };
    this.last.set(terminal, command);
    this.at.set(execution, command);
    const cleaner = new Cleaner();
    const add = (text: string) => {
      command.output = withUpdate(command.output, text).slice(-maxMentionText);
    };
    for await (const piece of execution.read()) add(cleaner.add(Buffer.from(piece)));
    add(cleaner.end());
  }
}

/** What a command of the editor puts on the clipboard, which has afterwards what it had; undefined: nothing. */
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

/** The editor says that it has copied before it has. */
async function changed(nothing: string): Promise<string | undefined> {
  const late = Date.now() + copyMs;
  for (;;) {
    const text = await vscode.env.clipboard.readText();
    if (text !== nothing) return text;
    if (Date.now() > late) return undefined;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
