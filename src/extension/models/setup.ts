import * as vscode from 'vscode';
import { LLMError } from '../../llm/errors.ts';
import { isLoopback } from '../../llm/http.ts';
import { checkModelFile } from '../../llm/local/modelFile.ts';
import { partsOf } from '../../llm/local/parts.ts';
import { keyOrigin, keyOwner, labelOf, type Provider, providers } from '../../llm/providers.ts';
import { t } from '../../protocol/l10n.ts';
import { toPeople, wordsOf } from '../../protocol/sentence.ts';
import { withoutLinks } from '../dialogs/questionText.ts';
import { isPanelInView, tell } from '../dialogs/tell.ts';
import { type Secrets, secretOf } from '../settings/secrets.ts';
import { saveSetting, settings } from '../settings/settings.ts';
import { givesAccess, mayCarry } from './credentials.ts';
import { createEditorClient } from './editorModels.ts';
import { HeaderSecrets } from './headerSecrets.ts';
import { addressOf, isWebAddress, providerOf } from './modelIds.ts';
import type { Models } from './models.ts';
import { providerSettings, settingsProblem, withAddress } from './providerSettings.ts';

interface Choice extends vscode.QuickPickItem {
  run(): Promise<unknown>;
}
const separator: Choice = { label: '', kind: vscode.QuickPickItemKind.Separator, run: async () => {} };

/** The dialogs that set a model up: a file on this machine, a provider, a key. Escape leaves everything as it was. */
export class Setup {
  readonly headerSecrets: HeaderSecrets;

  constructor(
    private readonly models: Models,
    private readonly secrets: Secrets,
  ) {
    this.headerSecrets = new HeaderSecrets(secrets);
  }

  async pickModel(): Promise<void> {
    const known = this.models.options().map(
      (option): Choice => ({
        label: option.label,
        description: option.id === this.models.currentId ? t('in use') : '',
        detail: option.problem ?? option.detail,
        run: () => this.models.pick(option.id),
      }),
    );
    const { currentProvider } = this.models;
    const more: Choice[] = [
      ...(currentProvider
        ? [
            {
              label: `$(list-unordered) ${t('Another model of {0}…', labelOf(currentProvider))}`,
              run: () => this.useProvider(currentProvider, false),
            },
          ]
        : []),
      {
        label: `$(file) ${t('A model file on this machine…')}`,
        detail: t('A .gguf file, run here'),
        run: () => this.useLocal(),
      },
      {
        label: `$(database) ${t('Models on this machine…')}`,
        detail: t('What is here, what fits, and downloads'),
        run: async () => vscode.commands.executeCommand('towpath.manageModels'),
      },
      {
        label: `$(beaker) ${t('Check this model…')}`,
        detail: t('Fifteen small tasks in a temporary folder; it is asked first what that takes'),
        run: async () => vscode.commands.executeCommand('towpath.checkModel'),
      },
      {
        label: `$(cloud) ${t('A provider or an endpoint…')}`,
        detail: t('Here or elsewhere'),
        run: () => this.useEndpoint(),
      },
      {
        label: `$(vscode) ${t('A model of the editor…')}`,
        detail: t('What the editor itself offers'),
        run: () => this.useEditor(),
      },
    ];
    await pick(t('Towpath: the model to talk to'), [...known, separator, ...more]);
  }

  async useLocal(): Promise<void> {
    const files = await vscode.window.showOpenDialog({
      title: t('A model file to run on this machine'),
      openLabel: t('Use This Model'),
      filters: { [t('GGUF models')]: ['gguf'] },
    });
    const file = files?.[0]?.fsPath;
    if (!file) return;
    const [first] = partsOf(file);
    try {
      await checkModelFile(first!);
    } catch (error) {
      tell('error', toPeople(wordsOf(error)));
      return;
    }
    await this.models.pick(`local/${first}`);
  }

  /** A provider, its address and key where they are missing, and one of its models. */
  async useEndpoint(): Promise<void> {
    const own = providers.filter((provider) => provider.id === 'openai-compatible');
    const others = providers.filter((provider) => provider.id !== 'openai-compatible');
    const choice = (provider: Provider): Choice => ({
      label: toPeople(labelOf(provider)),
      description: addressOf(provider.id) || t('you say where'),
      run: () => this.useProvider(provider),
    });
    await pick(t('Towpath: who runs the model?'), [...own.map(choice), separator, ...others.map(choice)]);
  }

  async useEditor(): Promise<void> {
    const models = (await createEditorClient().listModels?.()) ?? [];
    if (models.length === 0) {
      tell('info', t('This editor offers no models of its own.'));
      return;
    }
    const choices = models.map(
      (model): Choice => ({ label: model.id, run: () => this.models.pick(`vscode-lm/${model.id}`) }),
    );
    await pick(t('Towpath: a model of the editor'), choices);
  }

  /** Saves a key for a provider; without one that is known, it is asked which, the one in use first. */
  async setKey(id = ''): Promise<void> {
    const provider = providerOf(id) ?? (await this.askProvider(t('Towpath: a key for which provider?')));
    if (!provider || !(isWebAddress(addressOf(provider.id)) || (await this.askAddress(provider)))) return;
    // Who comes from an error that a missing secret has led to is asked for that one.
    if (id !== '' && (await this.headerSecrets.areMissing(provider))) await this.headerSecrets.askMissing(provider);
    else await this.askKey(provider);
  }

  /** A key, or a secret of headers: whatever was saved. */
  async deleteKey(): Promise<void> {
    const owners = providers.filter(({ id }) => keyOwner(id) === id);
    const keys = owners.map((provider) => ({
      slot: provider.id as string,
      label: toPeople(labelOf(provider)),
      forgotten: (origin: string) => t('The key for {0} is forgotten.', origin),
    }));
    const named = this.secrets.secretNames().map((name) => ({
      slot: secretOf(name),
      label: name,
      forgotten: (origin: string) => t('The secret "{0}" for {1} is forgotten.', name, origin),
    }));
    const saved = [...keys, ...named].flatMap(({ slot, label, forgotten }) =>
      this.secrets.origins(slot).map(
        (origin): Choice => ({
          label,
          description: origin,
          run: async () => {
            await this.secrets.forget(slot, origin);
            tell('info', forgotten(origin));
          },
        }),
      ),
    );
    if (saved.length === 0) tell('info', t('No key or secret is saved.'));
    else await pick(t('Towpath: forget which key or secret?'), saved);
  }

  /** `elsewhere`: of an endpoint it may be another one than before. */
  private async useProvider(provider: Provider, elsewhere = provider.id === 'openai-compatible'): Promise<void> {
    const problem = settingsProblem(settings(), provider.id);
    if (problem) return void tell('error', t(problem));
    if ((elsewhere || !isWebAddress(addressOf(provider.id))) && !(await this.askAddress(provider))) return;
    const origin = keyOrigin({ provider: provider.id, baseUrl: addressOf(provider.id) })!;
    const hasKey = (await this.secrets.key(provider.id, origin)) !== undefined;
    const isNeeded = provider.key === 'needed' && !givesAccess(provider, providerSettings(settings(), provider.id));
    if (isNeeded && !isLoopback(new URL(origin).hostname) && !hasKey && !(await this.askKey(provider))) return;
    if (!(await this.headerSecrets.askMissing(provider))) return;
    const model = await this.askModel(provider);
    if (model) await this.models.pick(`${provider.id}/${model}`);
  }

  private async askAddress(provider: Provider): Promise<boolean> {
    const address = await vscode.window.showInputBox({
      title: t('{0}: its address', labelOf(provider)),
      prompt: provider.id === 'azure' ? t("The resource's endpoint") : t('Up to, and without, /chat/completions'),
      placeHolder: provider.id === 'azure' ? 'https://name.openai.azure.com' : 'http://127.0.0.1:8080/v1',
      value: addressOf(provider.id),
      ignoreFocusOut: true,
      validateInput: addressProblem,
    });
    if (!address) return false;
    await saveSetting('providers', withAddress(settings().providers, provider.id, address.trim()));
    return true;
  }

  private async askKey(provider: Provider, why = ''): Promise<boolean> {
    const origin = keyOrigin({ provider: provider.id, baseUrl: addressOf(provider.id) });
    if (!origin) return false;
    if (!mayCarry(origin)) {
      const problem = t(
        '{0} is reached without encryption at {1}, where no key is ever sent. Set an https address.',
        labelOf(provider),
        origin,
      );
      tell('error', problem);
      return false;
    }
    const key = await vscode.window.showInputBox({
      title: t('API key for {0} ({1})', labelOf(provider), origin),
      prompt: withoutLinks(`${why} ${t("Kept in the editor's secret storage and sent to this address only")}`).trim(),
      password: true,
      ignoreFocusOut: true,
      validateInput: keyProblem,
    });
    if (!key) return false;
    await this.secrets.save(provider.id, origin, key.trim());
    tell('info', t('The key for {0} is saved.', origin));
    return true;
  }

  private async askProvider(title: string): Promise<Provider | undefined> {
    const { currentProvider } = this.models;
    const inOrder = currentProvider ? [...new Set([currentProvider, ...providers])] : providers;
    const items = inOrder.map((provider) => ({
      label: toPeople(labelOf(provider)),
      description: addressOf(provider.id),
      detail: provider === currentProvider ? t('in use') : undefined,
      provider,
    }));
    return (await vscode.window.showQuickPick(items, { title, ignoreFocusOut: true }))?.provider;
  }

  /** The model's name: from the provider's list where it gives one, else typed. */
  private async askModel(provider: Provider): Promise<string | undefined> {
    const title = t('{0}: the model', labelOf(provider));
    const listed = await this.list(provider);
    const names = provider.id === 'azure' ? [] : listed; // Azure lists what could be deployed, not what is
    const other = { label: `$(edit) ${t('Another name…')}` };
    if (names.length > 0) {
      const items = [...names.map((label) => ({ label })), other];
      const chosen = await vscode.window.showQuickPick(items, { title, ignoreFocusOut: true });
      if (chosen !== other) return chosen?.label;
    }
    const prompt =
      provider.id === 'azure' ? t("The deployment's name") : t("The model's name as the provider knows it");
    return (await vscode.window.showInputBox({ title, prompt, ignoreFocusOut: true }))?.trim();
  }

  private async list(provider: Provider): Promise<string[]> {
    try {
      const title = t('Asking {0} for its models', labelOf(provider));
      const location = vscode.ProgressLocation[isPanelInView() ? 'Window' : 'Notification'];
      const models = await vscode.window.withProgress({ location, title }, () => this.models.list(provider.id));
      return models.map((model) => model.id).sort();
    } catch (error) {
      // 403: a key that is good for chats may well be kept from lists.
      if (error instanceof LLMError && error.code === 'LLM_AUTH_FAILED' && error.status !== 403)
        return (await this.askKey(provider, whyKey(error))) ? this.list(provider) : [];
      tell('warning', t('{0} did not list its models: {1}', labelOf(provider), wordsOf(error)));
      return [];
    }
  }
}

/** Without the way to where the person is now, which is the end of such a message. */
function whyKey(error: LLMError): string {
  const words = toPeople(wordsOf(error));
  return error.message.endsWith(' Run *Towpath: Set API Key*.')
    ? words.replace(/(?<=[.!?]) [^.*]*\*Towpath: [^*]+\*[^.*]*\.$/, '')
    : words;
}

async function pick(title: string, choices: Choice[]): Promise<void> {
  const chosen = await vscode.window.showQuickPick(choices, { title, matchOnDetail: true, matchOnDescription: true });
  await chosen?.run();
}

function keyProblem(text: string): string | undefined {
  if (/^["']?(\S+:\s*)?(Bearer|Basic)\s/i.test(text.trim()))
    return t('Only the key, without what stands before it in a header.');
  return /^[\x21-\x7E]+$/.test(text.trim())
    ? undefined
    : t('A key is one line of visible ASCII characters, without blanks.');
}

function addressProblem(text: string): string | undefined {
  if (!URL.canParse(text.trim())) return t('This is not an address. It begins with https:// or http://.');
  const { protocol, username, search, hash } = new URL(text.trim());
  if (protocol !== 'https:' && protocol !== 'http:') return t('The address begins with https:// or http://.');
  if (username || search || hash) return t('Only the address: no user, no ? and no #. A key is set on its own.');
  return undefined;
}
