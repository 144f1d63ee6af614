import * as vscode from 'vscode';
import { checkModelFile } from '../../llm/local/modelFile/checkModelFile.ts';
import { splitModelParts } from '../../llm/local/modelFile/splitModel.ts';
import { apiKeyProviderId, type Provider, providerLabel, providers } from '../../llm/models/providers.ts';
import type { ModelOption } from '../../protocol/panel/panelMessages.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localize, messageOf } from '../../protocol/text/localized.ts';
import { modelLabelWithEffort, type ThinkingEffort } from '../../protocol/values/thinkingEffort.ts';
import { notify } from '../dialogs/notify.ts';
import { createEditorModelClient } from '../providers/editorModels.ts';
import { HeaderSecrets } from '../providers/headerSecrets.ts';
import { providerAddress, providerById } from '../providers/modelIds.ts';
import { headerSecretKey, type Secrets } from '../settings/secrets.ts';
import { settings } from '../settings/settings.ts';
import { ConnectModelWizard } from './connectModel.ts';
import type { SelectableModels } from './models.ts';
import { askThinkingEffort } from './thinkingEffortPicker.ts';

interface Choice extends vscode.QuickPickItem {
  run(): Promise<unknown>;
}
type EffortInUse = (id: string) => ThinkingEffort | undefined;

const separator: Choice = { label: '', kind: vscode.QuickPickItemKind.Separator, run: async () => {} };

/** Dialogs that set up a model: a local file, a provider, a key. Escape discards all changes. */
export class ModelSetupDialogs {
  readonly headerSecrets: HeaderSecrets;
  private readonly connecting: ConnectModelWizard;

  constructor(
    private readonly models: SelectableModels,
    private readonly secrets: Secrets,
    log: vscode.LogOutputChannel,
  ) {
    this.headerSecrets = new HeaderSecrets(secrets);
    this.connecting = new ConnectModelWizard(models, secrets, this.headerSecrets, log);
  }

  /**
   * Selects a model, then its effort if the model supports one. Escape in either step keeps both.
   *
   * @param effortOf the effort in use, by `provider/model`
   */
  async pickModel(effortOf: EffortInUse = (id) => this.models.efforts.of(id)): Promise<void> {
    const known = this.models.options().map(
      (option): Choice => ({
        label: modelLabelWithEffort(option.label, effortOf(option.id)),
        description: option.id === this.models.currentId ? t('in use') : '',
        detail: option.problem ?? option.detail,
        run: () => this.pickEffort(option, effortOf(option.id)),
      }),
    );
    const { currentProvider } = this.models;
    const more: Choice[] = [
      ...(currentProvider
        ? [
            {
              label: `$(list-unordered) ${t('Another model of {0}…', providerLabel(currentProvider))}`,
              run: () => this.connecting.connect(currentProvider),
            },
          ]
        : []),
      {
        label: `$(file) ${t('A model file on this machine…')}`,
        detail: t('A .gguf file that runs on this machine'),
        run: () => this.useLocal(),
      },
      {
        label: `$(database) ${t('Models on this machine…')}`,
        detail: t('Installed models, models that fit, and downloads'),
        run: async () => vscode.commands.executeCommand('towpath.manageModels'),
      },
      {
        label: `$(beaker) ${t('Check this model…')}`,
        detail: t('Fifteen small tasks in a temporary folder; a dialog shows first how long they take'),
        run: async () => vscode.commands.executeCommand('towpath.checkModel'),
      },
      {
        label: `$(cloud) ${t('A provider or an endpoint…')}`,
        detail: t('Here or elsewhere'),
        run: () => this.useEndpoint(),
      },
      {
        label: `$(vscode) ${t('A model of the editor…')}`,
        detail: t('Tools of the editor itself'),
        run: () => this.useEditor(),
      },
    ];
    await pick(t('Towpath: select a model'), [...known, separator, ...more]);
  }

  private async pickEffort({ id, label, problem }: ModelOption, inUse: ThinkingEffort | undefined): Promise<void> {
    const supported = problem ? [] : await this.models.supportedEfforts(id);
    if (supported.length > 0) {
      const chosen = await askThinkingEffort(label, supported, inUse, settings().thinkingBudget);
      if (!chosen) return;
      await this.models.efforts.select(id, chosen.effort);
    }
    await this.models.pick(id);
  }

  async useLocal(): Promise<void> {
    const files = await vscode.window.showOpenDialog({
      title: t('Model file to run on this machine'),
      openLabel: t('Use This Model'),
      filters: { [t('GGUF models')]: ['gguf'] },
    });
    const file = files?.[0]?.fsPath;
    if (!file) return;
    const [first] = splitModelParts(file);
    try {
      await checkModelFile(first!);
    } catch (error) {
      notify('error', localize(messageOf(error)));
      return;
    }
    await this.models.pick(`local/${first}`);
  }

  useEndpoint(): Promise<void> {
    return this.connecting.connect();
  }

  async useEditor(): Promise<void> {
    const models = (await createEditorModelClient().listModels?.()) ?? [];
    if (models.length === 0) {
      notify('info', t('This editor offers no models of its own.'));
      return;
    }
    const choices = models.map(
      (model): Choice => ({ label: model.id, run: () => this.models.pick(`vscode-lm/${model.id}`) }),
    );
    await pick(t('Towpath: a model of the editor'), choices);
  }

  /** Stores a key; without a known provider, the user selects one, the current provider first. */
  async setKey(id = ''): Promise<void> {
    const provider = providerById(id) ?? (await this.askProvider(t('Towpath: select a provider to set its key')));
    if (!provider) return;
    // the link of an error about a missing header secret leads here
    if (id !== '' && (await this.headerSecrets.areMissing(provider))) await this.headerSecrets.askMissing(provider);
    else await this.connecting.setKey(provider);
  }

  async deleteKey(): Promise<void> {
    const owners = providers.filter(({ id }) => apiKeyProviderId(id) === id);
    const keys = owners.map((provider) => ({
      slot: provider.id as string,
      label: localize(providerLabel(provider)),
      forgotten: (origin: string) => t('The key for {0} was deleted.', origin),
    }));
    const named = this.secrets.secretNames().map((name) => ({
      slot: headerSecretKey(name),
      label: name,
      forgotten: (origin: string) => t('The secret "{0}" for {1} was deleted.', name, origin),
    }));
    const saved = [...keys, ...named].flatMap(({ slot, label, forgotten }) =>
      this.secrets.origins(slot).map(
        (origin): Choice => ({
          label,
          description: origin,
          run: async () => {
            await this.secrets.forget(slot, origin);
            notify('info', forgotten(origin));
          },
        }),
      ),
    );
    if (saved.length === 0) notify('info', t('No key or secret is stored.'));
    else await pick(t('Towpath: select a key or secret to delete'), saved);
  }

  private async askProvider(title: string): Promise<Provider | undefined> {
    const { currentProvider } = this.models;
    const inOrder = currentProvider ? [...new Set([currentProvider, ...providers])] : providers;
    const items = inOrder.map((provider) => ({
      label: localize(providerLabel(provider)),
      description: providerAddress(provider.id),
      detail: provider === currentProvider ? t('in use') : undefined,
      provider,
    }));
    return (await vscode.window.showQuickPick(items, { title, ignoreFocusOut: true }))?.provider;
  }
}

async function pick(title: string, choices: Choice[]): Promise<void> {
  const chosen = await vscode.window.showQuickPick(choices, { title, matchOnDetail: true, matchOnDescription: true });
  await chosen?.run();
}
