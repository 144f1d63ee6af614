import os from 'node:os';
import * as vscode from 'vscode';
import { t } from '../../protocol/text/l10n.ts';
import { storedLocalizableText } from '../../protocol/text/localized.ts';
import { StoreError } from '../../runs/journal.ts';
import type { RunStore } from '../../runs/store.ts';
import { notify } from '../dialogs/notify.ts';
import type { Secrets } from '../settings/secrets.ts';
import { shortRunId, storedRunLog } from './runLogPage.ts';

/** Implements *Copy Log of This Run*: a shareable log in the clipboard. */
export async function copyRunLog(
  runId: string | undefined,
  { store, secrets, version }: { store: RunStore; secrets: Pick<Secrets, 'all'>; version: string },
): Promise<void> {
  if (runId === undefined) {
    notify('info', t('No run is shown. Open one, then copy its log.'));
    return;
  }
  try {
    const events = await store.events(runId);
    const text = storedRunLog(events, headerLines(runId, version), {
      secrets: await secrets.all(),
      home: os.homedir(),
    });
    await vscode.env.clipboard.writeText(text);
    notify(
      'info',
      t(
        'The log of this run was copied, without contents, keys and home folders. Read it before you share it: it contains paths and commands.',
      ),
    );
  } catch (error) {
    notify('error', t('The log of this run could not be copied. {0}', storedLocalizableText(StoreError.from(error))));
  }
}

function headerLines(runId: string, version: string): string[] {
  const remote = vscode.env.remoteName ? `, remote (${vscode.env.remoteName})` : '';
  return [
    `Towpath ${version}, run ${shortRunId(runId)}`,
    `${vscode.env.appName} ${vscode.version}${remote}`,
    `${os.platform()} ${os.release()} ${os.arch()}`,
  ];
}
