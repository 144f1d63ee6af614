import * as vscode from 'vscode';
import { escapeInvisible } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import { shortenText } from '../../protocol/text/shorten.ts';
import { type ForwardedPort, forwardPort } from '../../tools/commandSandbox/network/forwardedPort.ts';
import type { BackgroundCommands } from '../../tools/shell/background.ts';
import type { RunningCommand } from '../../tools/shell/backgroundCommand.ts';
import { findListeningPorts } from '../../tools/shell/listeningPorts.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { notify } from '../dialogs/notify.ts';

const longestLine = 300;

/** Opens ports of sandboxed background commands on this machine, after a dialog, until the command ends. */
export class PortForwarding implements vscode.Disposable {
  private readonly forwarded = new Map<string, ForwardedPort>();

  constructor(
    private readonly background: Pick<BackgroundCommands, 'commandOf'>,
    private readonly dialogs: Pick<Dialogs, 'ask'>,
  ) {}

  dispose(): void {
    for (const one of this.forwarded.values()) one.close();
    this.forwarded.clear();
  }

  /** Opens a port of a command in the browser; the user chooses if there are several. */
  async open(id: string): Promise<void> {
    const command = this.background.commandOf(id);
    const ports = command ? await findListeningPorts(command) : [];
    if (!command?.isWorking || ports.length === 0) {
      notify('info', t('The command does not listen on a port.'));
      return;
    }
    const port = ports.length === 1 ? ports[0]! : await choosePort(ports);
    if (port === undefined) return;
    const opened = this.forwarded.get(keyOf(command, port)) ?? (await this.forward(command, port));
    if (!opened) return;
    const scheme = command.text().includes(`https://localhost:${port}`) ? 'https' : 'http';
    const address = vscode.Uri.parse(`${scheme}://localhost:${opened.port}`);
    await vscode.env.openExternal(await vscode.env.asExternalUri(address));
  }

  private async forward(command: RunningCommand, port: number): Promise<ForwardedPort | undefined> {
    const open = t('Open in Browser');
    const chosen = await this.dialogs.ask({
      text: t('Open port {0} of this command on this machine?', String(port)),
      detail: `${escapeInvisible(shortenText(command.line, longestLine))}\n\n${t('Programs on this machine can then connect to it until the command ends.')}`,
      buttons: [open],
    });
    if (chosen !== open || !command.isWorking || !command.network) return undefined;
    const opened = await forwardPort(command.network, port).catch((error: NodeJS.ErrnoException) => {
      notify('error', t('Port {0} could not be opened ({1}).', String(port), error.code ?? error.message));
      return undefined;
    });
    if (!opened) return undefined;
    if (opened.port !== port)
      notify('info', t('Port {0} is in use on this machine. Port {1} is open instead.', `${port}`, `${opened.port}`));
    const key = keyOf(command, port);
    this.forwarded.set(key, opened);
    void command.done.then(() => {
      this.forwarded.delete(key);
      opened.close();
    });
    return opened;
  }
}

const keyOf = ({ id }: RunningCommand, port: number): string => `${id} ${port}`;

async function choosePort(ports: readonly number[]): Promise<number | undefined> {
  const items = ports.map((port) => ({ label: `localhost:${port}`, port }));
  return (await vscode.window.showQuickPick(items, { title: t('Towpath: open a port') }))?.port;
}
