import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { lazily } from '../../protocol/panel/lazyImport.ts';
import { t } from '../../protocol/text/l10n.ts';
import { messageOf } from '../../protocol/text/localized.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { notify, notifyWithActions } from '../dialogs/notify.ts';
import { DecisionFile } from './decisionFile.ts';
import type { FormerValue } from './formerValues.ts';
import { ownValue } from './settingScopes.ts';
import { type SettingName, saveSetting } from './settings.ts';

const askedName = 'settings.takenOver';
const longestFile = 1_000_000;

const reading = lazily(() => import('./formerValues.ts'));

/**
 * Offers to take over settings that had the scope `machine` in earlier versions, from the machine file and (desktop) profile files that no
 * longer count. Offered once, and only if an earlier Towpath was used; otherwise only a repository can have written the values. Closing the
 * dialog declines.
 */
export async function takeOverFormerSettings(context: vscode.ExtensionContext, modals: Dialogs): Promise<void> {
  const storage = context.globalStorageUri.fsPath;
  const memory = new DecisionFile(path.join(storage, 'settings.json'));
  if (memory.get(askedName) !== undefined) return;
  const { user, files } = placesOf(storage);
  try {
    for (const file of hasWorkedBefore(user, context.extension.id) ? files : []) {
      const values = await valuesIn(file, context);
      const isTaken = values.length > 0 && (await ask(file, values, modals));
      if (isTaken === undefined) return; // not answered: the next window asks again
      if (!isTaken) continue;
      for (const { name, value } of values) await saveSetting(shortName(name), value);
    }
    memory.update(askedName, true);
  } catch (error) {
    notify('error', t('Not all settings were adopted. {0}', messageOf(error)));
  }
}

/** Enter opens the file; a notice then leads back to the dialog. Only displayed values are taken over. */
async function ask(file: string, values: readonly FormerValue[], modals: Dialogs): Promise<boolean | undefined> {
  const { formerText } = await reading();
  const { message, detail, isWhole } = formerText(file, values);
  const [read, take, decide] = [t('Read Them…'), t('Take Over'), t('Decide…')];
  const buttons = isWhole ? [read, take] : [read];
  const chosen = await modals.askWhenQuiet({ text: message, detail, buttons, opens: read });
  if (chosen !== read) return chosen === take;
  await vscode.window.showTextDocument(vscode.Uri.file(file));
  const names = values.map(({ name }) => name).join(', ');
  if ((await notifyWithActions('warning', `${message} ${names}`, decide)) !== decide) return undefined;
  return (await modals.ask({ text: message, detail: names, buttons: [take] })) === take;
}

async function valuesIn(file: string, context: vscode.ExtensionContext): Promise<FormerValue[]> {
  const sections: { properties: Record<string, { scope?: string }> }[] =
    context.extension.packageJSON.contributes.configuration;
  const names = sections
    .flatMap(({ properties }) => Object.entries(properties))
    .flatMap(([name, { scope }]) => (scope === 'application' ? [name] : []));
  const configuration = vscode.workspace.getConfiguration();
  const text = textOf(file);
  const { formerValues } = await reading();
  return formerValues(text, names, (name) => ownValue(shortName(name), configuration.inspect(name)));
}

/**
 * Settings files relative to the global storage of the extension (`…/User/globalStorage/id`, or `…/User/profiles/name/globalStorage/id`),
 * without the user's own settings file.
 */
function placesOf(storage: string): { user: string; files: string[] } {
  const own = path.dirname(path.dirname(storage));
  const isProfile = path.basename(path.dirname(own)) === 'profiles';
  const user = isProfile ? path.dirname(path.dirname(own)) : own;
  const machine = path.join(path.dirname(user), 'Machine', 'settings.json');
  return { user, files: [machine, ...(isProfile ? [path.join(own, 'settings.json')] : [])] };
}

function hasWorkedBefore(user: string, id: string): boolean {
  const workspaces = path.join(user, 'workspaceStorage');
  const stores = existsSync(workspaces) ? readdirSync(workspaces).map((one) => path.join(workspaces, one, id)) : [];
  return [...stores, path.join(user, 'globalStorage', id, 'no-workspace')].some((folder) =>
    existsSync(path.join(folder, 'store')),
  );
}

function textOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat?.isFile() && stat.size <= longestFile ? readFileSync(file, 'utf8') : '';
}

const shortName = (name: string) => name.replace(/^towpath\./, '') as SettingName;
