import * as vscode from 'vscode';
import { localizedDollars } from '../../protocol/run/money.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localize } from '../../protocol/text/localized.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { notify } from '../dialogs/notify.ts';
import type { SelectableModels } from '../models/models.ts';
import { supportsModelProviders } from '../providers/editorApi.ts';
import { describeModelOption, splitModelId } from '../providers/modelIds.ts';
import { saveSetting, settings } from '../settings/settings.ts';
import { allLocalModelsId, type SharedModels } from './sharedModels.ts';

interface Choice extends vscode.QuickPickItem {
  model?: string;
  asker?: string;
}

/** *Offer Models to the Editor…*: selects the offered models, and the extensions that may use them. */
export async function offerModelsMenu(offered: SharedModels, models: SelectableModels, modals: Dialogs): Promise<void> {
  if (!supportsModelProviders()) {
    notify(
      'info',
      t('This editor ({0}) does not accept models of extensions. VS Code 1.104 and later do.', vscode.version),
    );
    return;
  }
  const before = settings().offeredModels;
  const { allowed } = offered.askers;
  const chosen = await vscode.window.showQuickPick(choices(before, models, allowed), {
    title: t('Towpath: models for the editor’s chat and other extensions'),
    placeHolder: t('Only the tools selected here are offered'),
    canPickMany: true,
    matchOnDetail: true,
  });
  if (!chosen) return;
  const after = chosen.flatMap(({ model }) => (model === undefined ? [] : [model]));
  const added = after.filter((id) => !before.includes(id));
  if (!(await mayCost(added, modals))) return;
  const stillAllowed = new Set(chosen.map(({ asker }) => asker));
  for (const id of allowed) if (!stillAllowed.has(id)) offered.askers.forget(id);
  offered.askers.reconsider();
  await saveSetting('offeredModels', after);
}

function choices(before: readonly string[], models: SelectableModels, allowed: readonly string[]): Choice[] {
  const known = models.options().map(({ id }) => id);
  const isOffered = (id: string) => before.includes(id);
  const single = [...new Set([...before, ...known])].filter((id) => {
    const { provider } = splitModelId(id);
    return id !== allLocalModelsId && provider !== 'vscode-lm' && (provider !== 'local' || isOffered(id));
  });
  return [
    {
      label: t('All models on this machine'),
      detail: t('They cost nothing and send nothing; one at a time, including runs of Towpath'),
      model: allLocalModelsId,
      picked: isOffered(allLocalModelsId),
    },
    ...single.map((id): Choice => {
      const { label, detail, problem } = describeModelOption(id);
      return { label: escapeInvisibleInLine(label), detail: problem ?? detail, model: id, picked: isOffered(id) };
    }),
    ...(allowed.length > 0
      ? [{ label: t('Extensions that may use them'), kind: vscode.QuickPickItemKind.Separator }]
      : []),
    ...allowed.map((id): Choice => ({ label: escapeInvisibleInLine(id), asker: id, picked: true })),
  ];
}

/** Confirms that requests to remote models send data and cost money. */
async function mayCost(added: readonly string[], modals: Dialogs): Promise<boolean> {
  const remote = added
    .filter((id) => id !== allLocalModelsId && splitModelId(id).provider !== 'local')
    .map((id) => describeModelOption(id));
  if (remote.length === 0) return true;
  const yes = t('Share');
  const limit = settings()['limits.day'];
  const held =
    limit > 0
      ? t('Your limit of {0} per day applies.', localizedDollars(limit))
      : t('You have no spending limit per day (towpath.limits.day).');
  const labels = remote.map(({ label }) => escapeInvisibleInLine(label)).join(', ');
  const servers = remote.map(({ detail }) => escapeInvisibleInLine(detail)).join('; ');
  const answer = await modals.ask({
    text: t('Allow the editor’s chat and other extensions to use {0}?', labels),
    detail: [
      t('Its requests are sent to {0} with your key, and you pay for them. {1}', servers, held),
      t('If the editor names the extension, it needs your approval once.'),
    ].join('\n\n'),
    buttons: [t('Not Now'), yes],
  });
  return answer === yes;
}

export async function showIncomingModelRequests({ line }: SharedModels): Promise<void> {
  const { all } = line;
  if (all.length === 0) {
    notify('info', t('No requests from the editor are running.'));
    return;
  }
  const at = (since: number) => new Date(since).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  const items = all.map((ask) => ({
    label: `$(debug-stop) ${escapeInvisibleInLine(localize(ask.who))}`,
    description: ask.waits ? t('queued') : t('is answered'),
    detail: t('{0}, since {1}', escapeInvisibleInLine(ask.model), at(ask.since)),
    asks: [ask],
  }));
  const every = all.length > 1 ? [{ label: `$(debug-stop) ${t('All {0}', all.length)}`, asks: [...all] }] : [];
  const chosen = await vscode.window.showQuickPick([...items, ...every], {
    title: t('Towpath: stop a request from the editor'),
  });
  for (const ask of chosen?.asks ?? []) ask.stop();
}
