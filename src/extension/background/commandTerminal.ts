import * as vscode from 'vscode';
import { escapeInvisible } from '../../protocol/text/escapeInvisible.ts';
import type { CommandOutputMirror } from '../../tools/shell/liveOutput.ts';

const maxWaiting = 100_000;

/** Terminal that shows commands with live output and stays open after their end. Input has no effect. */
export class CommandOutputTerminal {
  private write?: (text: string) => void;
  private terminal?: vscode.Terminal;

  mirror(command: string, folder: string): CommandOutputMirror {
    this.write ??= this.open();
    const write = this.write; // a terminal closed in between stays closed for this command
    write(`${escapeInvisible(folder)} $ ${escapeInvisible(command)}\n`);
    this.terminal?.show(true);
    return { write, end: (reason) => write(`\n${reason}\n\n`) };
  }

  dispose(): void {
    this.terminal?.dispose();
  }

  private open(): (text: string) => void {
    const written = new vscode.EventEmitter<string>();
    let waiting: string | undefined = '';
    this.terminal = vscode.window.createTerminal({
      name: 'Towpath',
      iconPath: new vscode.ThemeIcon('terminal'),
      isTransient: true,
      pty: {
        onDidWrite: written.event,
        open() {
          written.fire(waiting ?? '');
          waiting = undefined;
        },
        close: () => {
          written.dispose();
          this.write = undefined;
          this.terminal = undefined;
        },
      },
    });
    return (text) => {
      const lines = text.replace(/[\r\n]/g, (found) => (found === '\n' ? '\r\n' : '\r\x1b[K'));
      if (waiting === undefined) written.fire(lines);
      else waiting = (waiting + lines).slice(-maxWaiting);
    };
  }
}
