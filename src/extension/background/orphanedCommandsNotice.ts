import os from 'node:os';
import * as vscode from 'vscode';
import { callsWithOrphanedCommand } from '../../protocol/run/run.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';
import type { RunStore } from '../../runs/store.ts';
import { isProcessAlive, type OrphanedCommand, type OrphanedCommands } from '../../tools/shell/orphanedCommands.ts';
import { notify, notifyWithActions } from '../dialogs/notify.ts';
import type { PanelConversation } from '../runs/conversation.ts';

/** Commands that outlived an editor: found at the next start, reported, and ended on request. */
export class OrphanedCommandsNotice {
  constructor(
    private readonly store: RunStore,
    private readonly left: OrphanedCommands,
    private readonly conversation: Pick<PanelConversation, 'open'>,
  ) {}

  /** Searches the runs without a living window, and reports running commands. Does not wait for an answer. */
  async find(): Promise<void> {
    const startOfMachine = Date.now() - os.uptime() * 1000;
    for (const { id, phase, commands, updatedAt } of await this.store.list()) {
      if (updatedAt < startOfMachine || (phase !== 'Running' && !commands)) continue;
      if (await this.store.holder(id)) continue;
      const run = await this.store.read(id).catch(() => undefined); // errors are reported when the run is opened
      for (const [toolCallId, { command, process, background }] of run ? callsWithOrphanedCommand(run) : []) {
        const owner = background?.owner;
        if (owner && (await isProcessAlive(owner))) continue; // belongs to a living window
        await this.left.look({ runId: id, toolCallId, command, process });
      }
    }
    const atWork = await this.left.atWork();
    if (atWork.length > 0) void this.notifyAbout(atWork);
  }

  async choose(): Promise<void> {
    const atWork = await this.left.atWork();
    if (atWork.length === 0) {
      notify('info', t('No orphaned commands are running.'));
      return;
    }
    const items = atWork.map((one) => ({
      label: escapeInvisibleInLine(one.command.line),
      description: one.processes.join(', '),
      detail: escapeInvisibleInLine(one.command.folder),
      one,
    }));
    const title = t('Towpath: stop an orphaned command');
    const chosen = await vscode.window.showQuickPick(items, { title, matchOnDescription: true });
    if (chosen) await this.end(chosen.one);
  }

  private async notifyAbout(atWork: OrphanedCommand[]): Promise<void> {
    const [first] = atWork as [OrphanedCommand];
    const [end, choose, show] = [t('Stop'), t('Stop One…'), t('Show Run')];
    const text =
      atWork.length === 1
        ? t('A command kept running when the editor closed, and is still running: {0}.', label(first))
        : t(
            '{0} commands kept running when the editor closed, and are still running: {1}.',
            atWork.length,
            atWork.map(label).join('; '),
          );
    const buttons = atWork.length === 1 ? [end, show] : [choose];
    const chosen = await notifyWithActions('warning', text, ...buttons);
    if (chosen === end) await this.end(first);
    if (chosen === choose) await this.choose();
    if (chosen === show) await this.conversation.open(first.runId);
  }

  private async end(one: OrphanedCommand): Promise<void> {
    const still = await this.left.end(one);
    const what = truncateWithEllipsis(escapeInvisibleInLine(one.command.line), longestLine);
    const left = still.join(', ');
    if (still.length === 0) notify('info', t('Ended: {0}', what));
    else notify('error', t('Could not stop it: {0} of {1}', left, what));
  }
}

const longestLine = 200;

const label = ({ command, processes }: OrphanedCommand) =>
  t(
    '{0} in {1}, {2}',
    truncateWithEllipsis(escapeInvisibleInLine(command.line), longestLine),
    escapeInvisibleInLine(command.folder),
    processes.map(escapeInvisibleInLine).join(', '),
  );
