import path from 'node:path';
import * as vscode from 'vscode';
import { visible } from '../protocol/visible.ts';
import type { CommandMirror } from '../tools/shell/run.ts';

/** A terminal that shows a command and its output as it comes, and stays open when it has ended. Typing does nothing. */
export function commandTerminal(command: string, folder: string): CommandMirror {
  const written = new vscode.EventEmitter<string>();
  let waiting: string | undefined = '';
  /** A terminal that is not open yet loses what is written to it; one that was closed needs no more. */
  const write = (text: string) => {
    const lines = text.replaceAll('\n', '\r\n');
    if (waiting === undefined) written.fire(lines);
    else waiting = (waiting + lines).slice(-100_000);
  };
  const terminal = vscode.window.createTerminal({
    name: `Towpath: ${visible(command).split('\n', 1)[0]!.slice(0, 40)}`,
    iconPath: new vscode.ThemeIcon('terminal'),
    isTransient: true,
    pty: {
      onDidWrite: written.event,
      open() {
        written.fire(waiting ?? '');
        waiting = undefined;
      },
      close: () => written.dispose(),
    },
  });
  write(`${path.basename(folder)} $ ${visible(command)}\n`);
  terminal.show(true);
  return { write, end: (how) => write(`\n${how}\n`) };
}
