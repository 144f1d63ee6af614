import { existsSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { LocalModel } from '../../llm/local/modelFile/modelLibrary.ts';
import { byteSizeText } from '../../protocol/text/byteSizes.ts';
import { t } from '../../protocol/text/l10n.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { notify } from '../dialogs/notify.ts';
import type { SelectableModels } from '../models/models.ts';

/** Moves a model's files to the trash after confirmation; deletes permanently only without a trash and after a second confirmation. */
export async function deleteModel(model: LocalModel, models: SelectableModels, modals: Dialogs): Promise<void> {
  const name = path.basename(model.path);
  const { length } = model.files;
  const files = length > 1 ? t('{0} ({1} files)', model.path, length) : model.path;
  const detail = `${files}\n${t('{0} on disk', byteSizeText(model.bytes))}`;
  const yes = t('Move to Trash');
  if ((await modals.ask({ text: t('Delete {0}?', name), detail, buttons: [yes] })) !== yes) return;
  if (models.isInMemory(model.path) && (await models.unloadLocal()) === 'busy') {
    notify('warning', t('{0} is in use. Stop its run, then delete it.', name));
    return;
  }
  let trash = true;
  for (const file of model.files) {
    if (trash && (await toTrash(file))) continue;
    const forGood = t('Delete Permanently');
    if (trash) {
      const text = t('There is no trash for {0} here. Delete it permanently?', name);
      if ((await modals.ask({ text, detail, buttons: [forGood] })) !== forGood) return;
    }
    trash = false;
    await vscode.workspace.fs.delete(vscode.Uri.file(file));
  }
}

/** Returns false without a trash, for example on a remote machine. */
async function toTrash(file: string): Promise<boolean> {
  if (!existsSync(file)) return true;
  try {
    await vscode.workspace.fs.delete(vscode.Uri.file(file), { useTrash: true });
    return true;
  } catch {
    return false;
  }
}
