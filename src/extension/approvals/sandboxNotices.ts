import * as vscode from 'vscode';
import { type LocalizedMessage, t } from '../../protocol/text/l10n.ts';
import { notifyWithActions } from '../dialogs/notify.ts';
import { sandboxEffect, sandboxQuestion } from './presetDialogs.ts';

/** Shows the help about the sandbox, with its installation. */
export const showSandboxHelp = (): Thenable<unknown> => vscode.commands.executeCommand('towpath.setUpSandbox');

export async function notifySandboxUnavailable(reason: LocalizedMessage): Promise<void> {
  const setUp = t('Set Up Sandbox…');
  const text = t('The sandbox is not available in this window: {0}. Commands ask for approval.', reason);
  if ((await notifyWithActions('warning', text, setUp)) === setUp) await showSandboxHelp();
}

/** Offers the sandbox above the message box. The buttons change nothing; see `SandboxOffer`. */
export async function showSandboxOffer(): Promise<'use' | 'never' | undefined> {
  const [use, later, never] = [t('Use Sandbox…'), t('Not Now'), t("Don't Ask Again")];
  const help = t('What It Protects');
  const text = `${t(sandboxQuestion)} ${t(sandboxEffect)}`;
  for (;;) {
    const pressed = await notifyWithActions('info', text, use, later, never, help);
    if (pressed === use) return 'use';
    if (pressed !== help) return pressed === never ? 'never' : undefined;
    await showSandboxHelp();
  }
}
