import * as vscode from 'vscode';
import { LLMError } from '../../llm/core/errors.ts';
import { apiKeyDestinationOrigin, type Provider, providerLabel, providers } from '../../llm/models/providers.ts';
import { isLoopback } from '../../llm/transport/http.ts';
import { t, toEnglishText } from '../../protocol/text/l10n.ts';
import { localize, messageOf } from '../../protocol/text/localized.ts';
import { notify } from '../dialogs/notify.ts';
import { showInputStep, showPickStep, type WizardStepOptions, wizardBackResult } from '../dialogs/steps.ts';
import { headersAuthenticate, maySendSecrets } from '../providers/credentials.ts';
import type { HeaderSecrets } from '../providers/headerSecrets.ts';
import { isWebAddress, providerAddress } from '../providers/modelIds.ts';
import { providerSettings, settingsProblem, withProviderFields } from '../providers/providerSettings.ts';
import type { Secrets } from '../settings/secrets.ts';
import { saveSetting, settings } from '../settings/settings.ts';
import type { SelectableModels } from './models.ts';
import { sendTestPrompt } from './testConnection.ts';
import type { TrialConnection } from './trialConnection.ts';

type Step = 'provider' | 'address' | 'key' | 'model' | 'test';

const positions: Record<Step, number> = { provider: 1, address: 1, key: 2, model: 3, test: 3 };

interface Choices {
  wants: 'model' | 'key';
  provider: Provider;
  baseUrl: string;
  /** Undefined: the stored key of the address, if any. */
  apiKey?: string;
  problem?: string;
  listed?: string[];
  unlisted?: string;
  model?: string;
  /** True if the provider is in use and only another of its models is selected. */
  connected?: true;
}

/** `skipped`: the step showed no input, so *Back* passes over it. */
type Next = { to: Step | 'end'; skipped?: true } | typeof wizardBackResult | undefined;

/**
 * *Connect a Model*: provider, address, key, model and a test, with *Back* in each step. Nothing is stored before the end; Escape discards
 * all.
 */
export class ConnectModelWizard {
  constructor(
    private readonly models: SelectableModels,
    private readonly secrets: Secrets,
    private readonly headerSecrets: HeaderSecrets,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** @param provider already selected provider */
  async connect(provider?: Provider): Promise<void> {
    const choices = { wants: 'model' } as Choices;
    const first = provider ? await this.choose(choices, provider) : 'provider';
    if (first === 'model') choices.connected = true;
    if (first) await this.walk(first, choices);
  }

  async setKey(provider: Provider): Promise<void> {
    const choices = { wants: 'key' } as Choices;
    const first = await this.choose(choices, provider);
    if (first) await this.walk(first === 'address' ? 'address' : 'key', choices);
  }

  private async walk(first: Step, choices: Choices): Promise<void> {
    const shown: Step[] = [];
    for (let step = first; ; ) {
      const next = await this.steps[step](choices, shown.length > 0);
      if (next === undefined) return;
      if (next === wizardBackResult) step = shown.pop()!;
      else {
        if (!next.skipped) shown.push(step);
        if (next.to === 'end') return this.save(choices);
        step = next.to;
      }
    }
  }

  /** Returns the step after the choice of a provider; undefined if its settings must be corrected first. */
  private async choose(choices: Choices, provider: Provider, elsewhere = false): Promise<Step | undefined> {
    const problem = settingsProblem(settings(), provider.id);
    if (problem) return void notify('error', t(problem));
    const { wants } = choices;
    for (const name of Object.keys(choices) as (keyof Choices)[]) delete choices[name];
    Object.assign(choices, { wants, provider, baseUrl: providerAddress(provider.id) });
    if (elsewhere || !isWebAddress(choices.baseUrl)) return 'address';
    return (await this.lacksKey(choices)) ? 'key' : 'model';
  }

  private readonly steps: Record<Step, (choices: Choices, canGoBack: boolean) => Promise<Next>> = {
    provider: async (choices, canGoBack) => {
      const others = providers.filter(({ id }) => id !== compatible);
      const own = providers.filter(({ id }) => id === compatible);
      const row = (provider: Provider) => ({
        label: localize(providerLabel(provider)),
        description: providerAddress(provider.id) || t('enter the address'),
        value: provider,
      });
      const chosen = await showPickStep<Provider>({
        ...optionsOf('provider', choices, canGoBack),
        placeholder: t('Select a provider'),
        fill: async ({ show }) => show({ rows: [...own.map(row), separator, ...others.map(row)] }),
      });
      if (chosen === undefined || chosen === wizardBackResult) return chosen;
      const next = await this.choose(choices, chosen, chosen.id === compatible);
      return next && { to: next };
    },

    address: async (choices, canGoBack) => {
      const { provider } = choices;
      const isAzure = provider.id === 'azure';
      return showInputStep<Next>({
        ...optionsOf('address', choices, canGoBack),
        prompt: isAzure
          ? t("{0}: the resource's endpoint", providerLabel(provider))
          : t('{0}: the address up to, and without, /chat/completions', providerLabel(provider)),
        placeholder: isAzure ? 'https://name.openai.azure.com' : 'http://127.0.0.1:8080/v1',
        value: choices.baseUrl,
        validate: addressProblem,
        accept: async (baseUrl, signal) => {
          const now = { wants: choices.wants, provider, baseUrl };
          const result = await this.list(now, signal);
          if (result.unanswered !== undefined) return { problem: result.unanswered };
          const wantsKey = result.refused || choices.wants === 'key' || (await this.lacksKey(now));
          const origin = originOf(now);
          if (wantsKey && !maySendSecrets(origin)) return { problem: unencrypted(provider, origin) };
          for (const name of ['apiKey', 'model', 'listed', 'unlisted', 'problem'] as const) delete choices[name];
          Object.assign(choices, { baseUrl, ...result.found });
          return { value: { to: wantsKey ? 'key' : 'model' } };
        },
      });
    },

    key: async (choices, canGoBack) => {
      const { provider, problem } = choices;
      const origin = originOf(choices);
      if (!maySendSecrets(origin)) return void notify('error', unencrypted(provider, origin));
      delete choices.problem;
      return showInputStep<Next>({
        ...optionsOf('key', choices, canGoBack),
        prompt: t(
          'API key for {0}. It is stored in the secret storage of the editor and sent to this address only.',
          new URL(origin).host,
        ),
        password: true,
        ...(problem !== undefined && { problem }),
        validate: keyProblem,
        accept: async (apiKey, signal) => {
          const result = await this.list({ ...choices, apiKey }, signal);
          if (result.unanswered !== undefined) return { problem: result.unanswered };
          if (result.refused) return { problem: t(rejected) };
          Object.assign(choices, { apiKey, ...result.found });
          if (choices.wants === 'key') return { value: { to: 'end' } };
          return { value: { to: choices.model === undefined ? 'model' : 'test' } };
        },
      });
    },

    model: async (choices, canGoBack) => {
      const { provider, baseUrl } = choices;
      if (!(await this.headerSecrets.askMissing(provider, baseUrl))) return undefined;
      const label = providerLabel(provider);
      const other = { label: `$(edit) ${t('Another name…')}`, value: 'other' as const };
      const chosen = await showPickStep<{ name: string } | 'other' | 'refused'>({
        ...optionsOf('model', choices, canGoBack),
        placeholder: t('Asking {0} for its models…', label),
        fill: async ({ show, answer }, signal) => {
          if (choices.listed === undefined) {
            show({ rows: [other], busy: true });
            const result = await this.list(choices, signal);
            if (signal.aborted) return;
            if (result.refused && maySendSecrets(originOf(choices))) return answer('refused');
            Object.assign(choices, result.found);
          }
          const names = provider.id === 'azure' ? [] : (choices.listed ?? []); // Azure lists deployable models, not deployments
          if (names.length === 0) return answer('other');
          show({
            placeholder: t('Select a model'),
            rows: [...names.map((name) => ({ label: name, value: { name } })), other],
          });
        },
      });
      if (chosen === undefined || chosen === wizardBackResult) return chosen;
      if (chosen === 'refused') return this.otherKey(choices);
      if (chosen !== 'other') choices.model = chosen.name;
      else {
        const name = provider.id === 'azure' ? t('Name of the deployment') : t('Name of the model at {0}', label);
        const typed = await showInputStep<string>({
          ...optionsOf('model', choices, canGoBack),
          prompt: [choices.unlisted, name].filter(Boolean).join(' '),
          value: choices.model ?? '',
          validate: () => undefined,
          accept: async (value) => ({ value }),
        });
        if (typed === undefined || typed === wizardBackResult) return typed;
        choices.model = typed;
      }
      return { to: choices.connected && choices.apiKey === undefined ? 'end' : 'test' };
    },

    test: async (choices, canGoBack) => {
      const { provider, model } = choices;
      const skip = { label: t('Skip'), description: t('Use this model without a test'), value: 'end' as const };
      const ended = await showPickStep<'end' | 'refused'>({
        ...optionsOf('test', choices, canGoBack),
        fill: async ({ show, answer }, signal) => {
          const test = async (): Promise<void> => {
            show({ placeholder: t('Testing… uses about 20 tokens'), rows: [skip], busy: true });
            const made = () => this.models.trial(`${provider.id}/${model}`, trialOf(choices));
            const result = await sendTestPrompt(made, signal, (text) =>
              show({ placeholder: text, rows: [skip], busy: true }),
            );
            if (!result || signal.aborted) return;
            this.log.info(`Test of ${provider.id}/${model}: ${result.text}`);
            if (result.works) {
              const ready = result.first ? t('Ready: first word after {0}', result.first) : t('Ready');
              return show({ placeholder: ready, rows: [{ label: t('Done'), description: model!, value: 'end' }] });
            }
            if (result.code === 'LLM_AUTH_FAILED' && maySendSecrets(originOf(choices))) return answer('refused');
            const again = {
              label: t('Try Again'),
              detail: localize(result.said ?? result.text),
              act: () => void test(),
            };
            show({ placeholder: t('The test failed'), rows: [again, skip] });
          };
          await test();
        },
      });
      if (ended === undefined || ended === wizardBackResult) return ended;
      return ended === 'refused' ? this.otherKey(choices) : { to: 'end' };
    },
  };

  private async otherKey(choices: Choices): Promise<Next> {
    const saved = await this.secrets.key(choices.provider.id, originOf(choices));
    if (choices.apiKey !== undefined) choices.problem = t(rejected);
    else if (saved !== undefined) choices.problem = t('The provider rejected the saved key.');
    return { to: 'key', skipped: true };
  }

  private async list(choices: Choices, signal: AbortSignal): Promise<Listing> {
    const { provider, baseUrl } = choices;
    // without the headers' secrets no request is possible; the step of the model requests them
    if (await this.headerSecrets.areMissing(provider, baseUrl)) return {};
    try {
      const listed = await this.models.list(provider.id, signal, trialOf(choices));
      return { found: { listed: listed.map(({ id }) => id).sort() } };
    } catch (error) {
      const text = messageOf(error);
      if (signal.aborted) return {};
      const { code, status, reason, retryable, details } =
        error instanceof LLMError ? error : ({} as Partial<LLMError>);
      this.log.warn(
        `${provider.id} did not list its models: ${toEnglishText(text)} ${details ? JSON.stringify(details) : ''}`,
      );
      const found = { listed: [], unlisted: t('{0} did not list its models: {1}', providerLabel(provider), text) };
      // 403: a key valid for chats may lack the permission for lists
      if (code === 'LLM_AUTH_FAILED' && status !== 403) return { refused: true, found };
      if (code === 'LLM_TIMEOUT' || (reason === 'unreachable' && retryable))
        return { unanswered: t('No server answers at this address.'), found };
      return reason === 'unreachable' ? { unanswered: localize(text), found } : { found }; // a certificate or proxy error
    }
  }

  private async lacksKey(choices: Choices): Promise<boolean> {
    const { provider } = choices;
    if (provider.key !== 'needed' || headersAuthenticate(provider, providerSettings(settings(), provider.id)))
      return false;
    const origin = originOf(choices);
    return !isLoopback(new URL(origin).hostname) && (await this.secrets.key(provider.id, origin)) === undefined;
  }

  private async save(choices: Choices): Promise<void> {
    const { wants, provider, baseUrl, apiKey, model } = choices;
    if (baseUrl !== providerAddress(provider.id))
      await saveSetting('providers', withProviderFields(settings().providers, provider.id, { baseUrl }));
    const origin = originOf(choices);
    if (apiKey !== undefined) await this.secrets.save(provider.id, origin, apiKey);
    if (wants === 'key') notify('info', t('The key for {0} is stored.', origin));
    else await this.models.pick(`${provider.id}/${model}`);
  }
}

/** Result of listing. Neither `refused` nor `unanswered`: a server answers and accepts the key. */
interface Listing {
  refused?: boolean;
  unanswered?: string;
  found?: Pick<Choices, 'listed' | 'unlisted'>;
}

const compatible = 'openai-compatible';
const separator = { label: '', kind: vscode.QuickPickItemKind.Separator };
const rejected = 'The provider rejected this key.';

const originOf = ({ provider, baseUrl }: Choices): string =>
  apiKeyDestinationOrigin({ provider: provider.id, baseUrl })!;

const trialOf = ({ baseUrl, apiKey }: Choices): TrialConnection => ({
  baseUrl,
  ...(apiKey !== undefined && { apiKey }),
});

function optionsOf(step: Step, { wants }: Choices, canGoBack: boolean): WizardStepOptions {
  if (wants === 'key') return { title: t('Set API Key'), canGoBack };
  return { title: t('Connect a Model'), step: positions[step], totalSteps: 3, canGoBack };
}

const unencrypted = (provider: Provider, origin: string): string =>
  t(
    '{0} is reached without encryption at {1}, where no key is sent. Set an https address.',
    providerLabel(provider),
    origin,
  );

function keyProblem(text: string): string | undefined {
  if (/^["']?(\S+:\s*)?(Bearer|Basic)\s/i.test(text.trim()))
    return t('Only the key, without the prefix that it has in a header.');
  return /^[\x21-\x7E]+$/.test(text.trim())
    ? undefined
    : t('A key is one line of visible ASCII characters without blanks.');
}

function addressProblem(text: string): string | undefined {
  if (!URL.canParse(text.trim())) return t('This is not an address. It starts with https:// or http://.');
  const { protocol, username, search, hash } = new URL(text.trim());
  if (protocol !== 'https:' && protocol !== 'http:') return t('The address starts with https:// or http://.');
  if (username || search || hash) return t('Only the address, without user name, ? and #. The key is set separately.');
  return undefined;
}
