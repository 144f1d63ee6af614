import * as vscode from 'vscode';
import type { ExecutionEngine } from '../../engine/run/engine.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localizedErrorText } from '../../protocol/text/localized.ts';
import { notify } from '../dialogs/notify.ts';
import type { ModelSetupDialogs } from '../models/modelPicker.ts';
import type { SelectableModels } from '../models/models.ts';
import type { PanelConversation } from './conversation.ts';

interface RunDependencies {
  engine: ExecutionEngine;
  conversation: PanelConversation;
  models: SelectableModels;
}

interface Dependencies extends RunDependencies {
  setup: ModelSetupDialogs;
}

/**
 * Selects a model and its effort, for the displayed run and for new runs. Resolves to the selected model, if any.
 *
 * @param recorded false: a branch of the displayed run gets the effort, not the run itself
 */
export async function pickModelOfRun(parts: Dependencies, recorded = true): Promise<string | undefined> {
  const { conversation, models, setup } = parts;
  const last = (await conversation.run())?.models?.at(-1);
  const effortOf = (id: string) => (last?.model === id ? last.effort : models.efforts.of(id));
  const { runId } = conversation;
  const picked = await models.pickedIn(() => setup.pickModel(effortOf));
  if (recorded && picked !== undefined && runId !== undefined) await recordSelectedEffort(parts, runId, picked);
  return picked;
}

/** Records the selected effort in a run whose conversation uses the model. Another run takes the effort when it changes to the model. */
export async function recordSelectedEffort(parts: RunDependencies, runId: string, model: string): Promise<void> {
  const { engine, conversation, models } = parts;
  if (conversation.runId !== runId) return;
  const last = (await conversation.run())?.models?.at(-1);
  const effort = models.efforts.of(model);
  if (last?.model !== model || last.effort === effort) return;
  const failure = await engine.chooseEffort(runId, { model, ...(effort && { effort }) });
  if (failure) conversation.notice({ level: 'error', text: localizedErrorText(failure) });
}

/** Continues the displayed run with a selected model or effort, at rest or during a retry wait; cancelling changes nothing. */
export async function tryAnotherModel(parts: Dependencies, id?: string): Promise<void> {
  const { conversation, models } = parts;
  await conversation.restored;
  if (conversation.working && !conversation.waitsToAsk) {
    notify('info', t('This run is in progress. Stop it first.'));
    return;
  }
  if (conversation.runId === undefined) {
    notify('info', t('No run is shown. Open the run to continue.'));
    return;
  }
  const picked = await (typeof id === 'string' ? models.pickedIn(() => models.pick(id)) : pickModelOfRun(parts));
  if (picked === undefined) return;
  await vscode.commands.executeCommand('towpath.showChat');
  if (conversation.working) {
    if (!conversation.waitsToAsk)
      return notify('info', t('The run has continued. Its next answer comes from the other model.'));
    await conversation.stop();
  }
  void conversation.goOn(picked);
}
