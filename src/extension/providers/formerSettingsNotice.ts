import * as vscode from 'vscode';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import { messageOf } from '../../protocol/text/localized.ts';
import { notify, notifyWithActions } from '../dialogs/notify.ts';
import type { FormerSettingName } from '../settings/formerSettings.ts';
import { formerSettingValues, saveSetting, settings } from '../settings/settings.ts';
import { planFormerSettingsMove } from './formerSettingsMove.ts';

const offeredName = 'settings.formerOffered';

/** Offers once to move former settings of the user to `towpath.providers`. */
export async function offerFormerSettingsMove(memory: vscode.Memento): Promise<void> {
  if (memory.get(offeredName)) return;
  const { moved } = currentMove();
  if (moved.length === 0) return;
  await memory.update(offeredName, true);
  const move = t('Move Settings');
  const text = t('These settings are part of towpath.providers now, and still apply: {0}.', settingList(moved));
  if ((await notifyWithActions('info', `Towpath: ${text}`, move, t('Not Now'))) === move) await moveFormerSettings();
}

/** Moves what the settings contain now. The former settings are removed only after their values are stored. */
async function moveFormerSettings(): Promise<void> {
  const { providers, moved, staying } = currentMove();
  try {
    if (providers !== settings().providers) await saveSetting('providers', providers);
  } catch (error) {
    notify('error', t('The settings were not moved. {0}', messageOf(error)));
    return;
  }
  const undeleted: FormerSettingName[] = [];
  for (const name of moved) await saveSetting(name, undefined).catch(() => undeleted.push(name));
  const texts = [
    t('Settings moved to towpath.providers: {0}.', settingList(moved)),
    ...(undeleted.length > 0
      ? [t('Not removed from your settings file, and without effect: {0}.', settingList(undeleted))]
      : []),
    ...(staying.length > 0
      ? [t('Unchanged, because towpath.providers cannot express it: {0}.', staying.map(stayingName).join(', '))]
      : []),
  ];
  const show = t('Show');
  if ((await notifyWithActions('info', `Towpath: ${texts.join(' ')}`, show)) !== show) return;
  await vscode.commands.executeCommand('workbench.action.openSettingsJson', {
    revealSetting: { key: 'towpath.providers' },
  });
}

const currentMove = () => planFormerSettingsMove(formerSettingValues(), settings().providers);

const settingList = (names: readonly FormerSettingName[]): string => names.map((name) => `towpath.${name}`).join(', ');

const stayingName = ({ name, key }: { name: FormerSettingName; key?: string }): string =>
  key === undefined ? `towpath.${name}` : `towpath.${name} (${escapeInvisibleInLine(key).slice(0, 100)})`;
