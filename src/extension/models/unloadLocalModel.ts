import { t } from '../../protocol/text/l10n.ts';
import { notify } from '../dialogs/notify.ts';
import type { SelectableModels } from './models.ts';

/** Unloads the local model, and reports the result. */
export async function unloadLocalModel(models: SelectableModels): Promise<void> {
  const what = await models.unloadLocal();
  if (what === 'busy') notify('warning', t('The local model is in use. Stop its run, then unload it.'));
  else if (what === 'none') notify('info', t('No local model is loaded.'));
  else notify('info', t('The local model was unloaded, and its memory is free. The next message loads it again.'));
}
