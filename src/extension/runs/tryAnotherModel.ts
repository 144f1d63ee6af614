import * as vscode from 'vscode';
import { t } from '../../protocol/text/l10n.ts';
import { notify } from '../dialogs/notify.ts';
import type { ModelSetupDialogs } from '../models/modelPicker.ts';
import type { SelectableModels } from '../models/models.ts';
import type { PanelConversation } from './conversation.ts';

interface Dependencies {
  conversation: PanelConversation;
  models: SelectableModels;
  setup: ModelSetupDialogs;
}

/** Continues the displayed run with a selected model, at rest or during a retry wait; cancelling changes nothing. */
export async function tryAnotherModel({ conversation, models, setup }: Dependencies, id?: string): Promise<void> {
  await conversation.restored;
  if (conversation.working && !conversation.waitsToAsk) {
    notify('info', t('This run is in progress. Stop it first.'));
    return;
  }
  if (conversation.runId === undefined) {
    notify('info', t('No run is shown. Open the run to continue.'));
    return;
  }
  const picked = await models.pickedIn(() => (typeof id === 'string' ? models.pick(id) : setup.pickModel()));
  if (picked === undefined) return;
  await vscode.commands.executeCommand('towpath.showChat');
  if (conversation.working) {
    if (!conversation.waitsToAsk)
      return notify('info', t('The run has continued. Its next answer comes from the other model.'));
    await conversation.stop();
  }
  void conversation.goOn(picked);
}
