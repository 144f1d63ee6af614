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
 * Settings whose scope was `machine` once stand in files that do not count for them any more: the machine's, and (on a
 * desktop) a profile's own. What is there is offered to the person, once, where an earlier Towpath has worked; elsewhere
 * nobody but a repository can have written it. Closing the dialog is a no.
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

/** Enter reads the file; while it is being read a notice waits, which leads back to the question. What is taken over is what was shown. */
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
 * Beside the editor's storage for this extension: `…/User/globalStorage/id`, or `…/User/profiles/name/globalStorage/id`. The
 * person's own settings file, which counts, is none of them.
 */
function placesOf(storage: string): { user: string; files: string[] } {
  const own = path.dirname(path.dirname(storage));
  const isProfile = path.basename(path.dirname(own)) === 'profiles';
  const user = isProfile ? path.dirname(path.dirname(own)) : own;
  const machine = path.join(path.dirname(user), 'Machine', 'settings.json');
  return { user, files: [machine, ...(isProfile ? [path.join(own, 'settings.json')] : [])] };
}

/** There is a store of runs of some folder, or of a window without one. */
function hasWorkedBefore(user: string, id: string): boolean {
  const workspaces = path.join(user, 'workspaceStorage');
  const stores = existsSync(workspaces) ? readdirSync(workspaces).map((one) => path.join(workspaces, one, id)) : [];
  return [...stores, path.join(user, 'globalStorage', id, 'no-workspace')].some((folder) =>
    existsSync(path.join(folder, 'store')),
  );
}

/** Empty for what is no file, or no settings file by its size. */
function textOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat?.isFile() && stat.size <= longestFile ? readFileSync(file, 'utf8') : '';
}

const shortName = (name: string) => name.replace(/^towpath\./, '') as SettingName;
