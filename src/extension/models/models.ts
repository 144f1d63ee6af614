import type * as vscode from 'vscode';
import type { SpendingBudget } from '../../engine/core/budget.ts';
import { RunError } from '../../engine/core/errorInfo.ts';
import type { ModelSelectionRequest, RunModel } from '../../engine/run/runContext.ts';
import type { LLMClient, ModelInfo } from '../../llm/core/client.ts';
import { durationMessage } from '../../llm/core/deadlines.ts';
import { LLMError } from '../../llm/core/errors.ts';
import type { DeviceInfo } from '../../llm/local/ipc/deviceInfo.ts';
import type { SequenceStateCacheOptions } from '../../llm/local/ipc/stateCacheOptions.ts';
import { maxContextSize } from '../../llm/local/modelFile/contextSize.ts';
import { findKnownModelFile } from '../../llm/local/modelFile/findModelFile.ts';
import type { ModelFileReader } from '../../llm/local/modelFile/modelLibrary.ts';
import { lookUpByModel } from '../../llm/models/lookupByModel.ts';
import { freeModelPrice } from '../../llm/models/prices.ts';
import { type Provider, type ProviderId, providerLabel } from '../../llm/models/providers.ts';
import { isLoopback } from '../../llm/transport/http.ts';
import { lazyImport } from '../../protocol/panel/lazyImport.ts';
import type { ModelOption } from '../../protocol/panel/panelMessages.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { message } from '../../protocol/text/l10n.ts';
import { withMessageLinks } from '../../protocol/text/links.ts';
import { type LocalizableText, localize } from '../../protocol/text/localized.ts';
import type { ThinkingEffort } from '../../protocol/values/thinkingEffort.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { diskFolders } from '../dialogs/folders.ts';
import { Credentials } from '../providers/credentials.ts';
import type { LocalEngine } from '../providers/localEngine.ts';
import type { ModelConsent } from '../providers/modelConsent.ts';
import { downloadFolder, localModelFolders } from '../providers/modelFolders.ts';
import {
  contextSizeKey,
  demoModelId,
  describeModelOption,
  isModelRole,
  modelDisplayName,
  modelIdForRole,
  providerAddress,
  providerById,
  splitModelId,
  unusableModelReason,
} from '../providers/modelIds.ts';
import {
  type ProviderSettings,
  providerSettings,
  settingsProblem,
  toProviderChoice,
} from '../providers/providerSettings.ts';
import type { Secrets } from '../settings/secrets.ts';
import { type Settings, saveSetting, settings } from '../settings/settings.ts';
import { findConfiguredModel } from './configuredModel.ts';
import { KnownContextSizes, listedContextSize } from './knownContextSizes.ts';
import type { StoredModelCheckResults } from './storedChecks.ts';
import { SelectedThinkingEfforts } from './thinkingEfforts.ts';
import { addressIn, type ReadyOptions, type TrialConnection } from './trialConnection.ts';

const listMs = 15_000;
const recentName = 'towpath.recentModels';

/** Selectable models and the selected model, as ready clients. */
export class SelectableModels implements vscode.Disposable {
  private readonly windows: KnownContextSizes;
  private readonly seenWindows = new Map<string, number>();
  private readonly credentials: Credentials;
  readonly efforts: SelectedThinkingEfforts;
  private picked?: string;
  private readonly clients = lazyImport(
    () => import('../providers/clients.ts'),
    ({ ModelClients }) => new ModelClients(this.context, this.engine, this.keep, this.log),
  );

  constructor(
    private readonly context: vscode.ExtensionContext,
    secrets: Secrets,
    private readonly named: ModelConsent,
    private readonly engine: LocalEngine,
    modals: Dialogs,
    private readonly budget: SpendingBudget,
    private readonly keep: () => SequenceStateCacheOptions | undefined,
    private readonly log: vscode.LogOutputChannel,
    private readonly checks: Pick<StoredModelCheckResults, 'inShort'>,
    private readonly readModel: ModelFileReader,
    windowChanged: () => void,
  ) {
    this.credentials = new Credentials(secrets, modals);
    this.efforts = new SelectedThinkingEfforts(context.globalState, windowChanged);
    this.windows = new KnownContextSizes(context.globalState, windowChanged);
  }

  /** `provider/model` of the main role; the demo model if nothing is configured. */
  get currentId(): string {
    return modelIdForRole('work', settings()) || demoModelId;
  }

  /** Id displayed as the current model: empty if messages would be rejected because no model is selected any more. */
  get shownId(): string {
    return this.chosen || this.recent.length === 0 ? this.currentId : '';
  }

  get chosen(): boolean {
    return modelIdForRole('work', settings()) !== '';
  }

  /** Known context size of the selected model in tokens; nothing is requested. */
  get window(): number | undefined {
    return this.windowOfId(this.currentId);
  }

  private windowOfId(id: string): number | undefined {
    const now = settings();
    const { provider, model } = splitModelId(id);
    if (provider === 'local')
      return Math.min(maxContextSize(now['local.contextSize']), this.seenWindows.get(id) ?? Infinity);
    const own = providerById(provider) && this.settingsOf(provider as ProviderId, now).windowOf(model);
    return own ?? this.windows.of(contextSizeKey(id)) ?? this.seenWindows.get(id);
  }

  /** Requests the context size of the selected model in the background, unless known or a missing key would be needed. */
  async lookUpWindow(): Promise<void> {
    const id = this.currentId;
    const provider = providerById(splitModelId(id).provider);
    if (!provider || unusableModelReason(id) || (await this.knownWindow(id)) !== undefined) return;
    if (!(await this.credentials.mayList(provider, this.settingsOf(provider.id, settings())))) return;
    this.windows.ask(contextSizeKey(id), async () =>
      listedContextSize(await this.list(provider.id), splitModelId(id).model),
    );
  }

  /** Returns the context size of any model, also from the catalog. */
  async knownWindow(id: string): Promise<number | undefined> {
    const { provider, model } = splitModelId(id);
    const address = providerById(provider) ? providerAddress(provider as ProviderId) : '';
    return this.windowOfId(id) ?? (await this.clients()).known(address, model)?.window;
  }

  get currentProvider(): Provider | undefined {
    return providerById(splitModelId(this.currentId).provider);
  }

  async pick(id: string): Promise<void> {
    const { models } = settings();
    if (models.work) await saveSetting('models', { ...models, work: id });
    else await saveSetting('model', id);
    // the order matters: a remembered model without a setting means that the user removed the model
    await this.remember(id);
    this.picked = id;
  }

  /** Remembers a model, even if only a setting selects the model. */
  private async remember(id: string): Promise<void> {
    if (this.recent[0] === id) return;
    const recent = [id, ...this.recent.filter((one) => one !== id)].slice(0, 8);
    await this.context.globalState.update(recentName, recent);
  }

  async pickedIn(ask: () => Promise<unknown>): Promise<string | undefined> {
    this.picked = undefined;
    await ask();
    return this.picked;
  }

  options(): ModelOption[] {
    return [...new Set([this.currentId, ...this.recent, demoModelId])].map((id) => this.describe(id));
  }

  private describe(id: string): ModelOption {
    const problem = this.problemOf(id);
    const option = describeModelOption(id);
    const effort = this.efforts.of(id);
    const detail = [option.detail, this.checks.inShort(id)].filter(Boolean).join(' · ');
    return { ...option, detail, ...(effort && { effort }), ...(problem && { problem: localize(problem) }) };
  }

  /** Returns the problem of a model; a local model also needs an engine. */
  private problemOf(id: string): LocalizableText | undefined {
    return (id.startsWith('local/') ? this.engine.missing() : undefined) ?? unusableModelReason(id);
  }

  private checkProblem(id: string): void {
    const problem = this.problemOf(id);
    if (problem) throw new RunError('UNKNOWN', problem, 'no-model');
  }

  /**
   * Returns the selected or another model with its adapter. `id` is the user's choice, or from the run's file: `provider/model`, a role, or
   * a model of the selected provider. Throws a `RunError` with a solution if the model is not set up, or if the file may not select the
   * model.
   */
  async current({ id: asked, workflowId, before }: ModelSelectionRequest = {}): Promise<RunModel> {
    const id = asked !== undefined && isModelRole(asked) && !modelIdForRole(asked, settings()) ? undefined : asked; // role without a setting
    if (id !== undefined && workflowId !== undefined) return this.ready(await this.allowedId(id, workflowId));
    if (id === undefined) this.checkChosen(before);
    return this.ready(id ?? this.currentId);
  }

  /**
   * Returns the model for small tasks; undefined: the main model is used. Throws as `current`; `quiet`: also if a dialog would be needed.
   */
  async small(options?: { quiet: true }): Promise<RunModel | undefined> {
    const { small } = settings().models;
    return small ? this.ready(small, options) : undefined;
  }

  /** Returns the small model for run titles, except a local model that would evict the main model. */
  async naming(): Promise<RunModel | undefined> {
    const { small } = settings().models;
    return small && splitModelId(small).provider !== 'local' ? this.ready(small) : undefined;
  }

  /**
   * Returns the model for texts that the user waits for: the small model, else the selected model. If both are local, the selected model
   * has priority if loaded, to avoid a reload. Throws as `current`; the demo model can only play its script.
   */
  async writing(): Promise<RunModel> {
    const { small } = settings().models;
    const [own, other] = [splitModelId(this.currentId), splitModelId(small)];
    const stays = own.provider === 'local' && other.provider === 'local' && this.isInMemory(own.model);
    if (small && small !== demoModelId && !stays) return this.ready(small);
    this.checkChosen();
    if (this.currentId !== demoModelId) return this.ready(this.currentId);
    throw new RunError('UNKNOWN', message('The demo model only follows its script. Pick another model.'));
  }

  /** Returns a model with an unsaved address and key for one test. Throws as `current`, without dialogs. */
  async trial(id: string, trial: TrialConnection): Promise<RunModel> {
    return this.ready(id, { quiet: true, trial });
  }

  /** Returns a model for a requester outside of Towpath, without dialogs. Throws as `current`. */
  async outside(id: string): Promise<RunModel> {
    return this.ready(id, { quiet: true });
  }

  private async ready(id: string, options?: ReadyOptions): Promise<RunModel> {
    if (!options?.trial) this.checkProblem(id);
    const now = settings();
    const { provider, model } = splitModelId(id);
    const client = await this.client(provider, model, now, options);
    const local = provider === 'local';
    const limits = {
      connectMs: local ? 0 : now['timeouts.connect'],
      firstTokenMs: local ? 0 : now['timeouts.firstToken'],
      idleMs: now['timeouts.idle'],
      totalMs: now['timeouts.total'],
      retries: options?.trial ? 0 : now.retries,
      retryAfterCapMs: now.retryAfterCap,
      thinkingBudget: now.thinkingBudget,
    };
    const own = providerById(provider) && {
      ...this.settingsOf(provider as ProviderId, now),
      ...addressIn(options?.trial),
    };
    const { baseUrl, headers, organization, api } = own ?? {};
    const server = JSON.stringify([provider, baseUrl, headers, organization, api]);
    const clients = await this.clients();
    const known = (name: string) => clients.known(baseUrl ?? '', name);
    const priceOf = (_: string, answered = model) => {
      const written = own ? own.priceOf(model) : lookUpByModel(now.prices, id);
      return written ?? known(answered)?.price ?? known(model)?.price ?? (local ? freeModelPrice : undefined);
    };
    const rates = {
      requestsPerMinute: now['rateLimit.requestsPerMinute'],
      tokensPerMinute: now['rateLimit.tokensPerMinute'],
    };
    const adapter = clients.adapter(client, limits, { provider, server, rates, priceOf });
    if (!local && !options?.trial && own?.windowOf(model) === undefined)
      this.windows.ask(contextSizeKey(id), async () =>
        listedContextSize((await client.listModels?.(AbortSignal.timeout(listMs))) ?? [], model),
      );
    const currentWindow = () => this.windowOfId(id) ?? known(model)?.window;
    const contextWindow = local ? await clients.localWindow(model, now, this.readModel) : currentWindow();
    if (contextWindow && !options?.trial) this.seenWindows.set(id, contextWindow);
    const url = baseUrl && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
    const onThisMachine = (local || (url && isLoopback(url.hostname))) && { onThisMachine: true as const };
    const location = { ...(url && { host: url.host }), ...onThisMachine };
    const windowNow = local && (await client.listModels?.())?.[0]?.contextWindow;
    const windows = { ...(contextWindow && { contextWindow }), ...(windowNow && { windowNow }) };
    return { id, model, adapter, budget: this.budget, ...location, ...windows, ...(!local && { currentWindow }) };
  }

  /**
   * Lists a provider's models, without a key if none is stored. Throws `LLMError`, also after 15 seconds without an answer, or the signal's
   * reason.
   *
   * @param trial unsaved address and key
   */
  async list(id: string, signal = new AbortController().signal, trial?: TrialConnection): Promise<ModelInfo[]> {
    const provider = providerById(id);
    const late = AbortSignal.timeout(listMs);
    try {
      const client = provider ? await this.listingClient(provider, trial) : (await this.clients()).editor();
      return (await client.listModels?.(AbortSignal.any([signal, late]))) ?? [];
    } catch (error) {
      if (!late.aborted || signal.aborted) throw error;
      const time = durationMessage(listMs);
      const silent = provider
        ? message(
            '{0} ({1}) did not answer within {2}.',
            providerLabel(provider),
            trial?.baseUrl ?? providerAddress(provider.id),
            time,
          )
        : message('The editor did not answer within {0}.', time);
      throw new LLMError('LLM_TIMEOUT', silent);
    }
  }

  /** Returns the efforts that a model supports; empty if it has no setting, is not usable or does not say so in time. */
  async supportedEfforts(id: string): Promise<readonly ThinkingEffort[]> {
    const { provider: name, model } = splitModelId(id);
    const provider = providerById(name);
    if (id === demoModelId || this.problemOf(id)) return [];
    const clients = await this.clients();
    if (name === 'local') return clients.localEfforts(model, this.readModel);
    if (!provider) return [];
    if (!(await this.credentials.mayList(provider, this.settingsOf(provider.id, settings())))) return [];
    return clients.efforts(provider.id, model, () => this.listingClient(provider));
  }

  private async listingClient(provider: Provider, trial?: TrialConnection): Promise<LLMClient> {
    const problem = trial ? settingsProblem(settings(), provider.id) : unusableModelReason(`${provider.id}/`);
    if (problem) throw new LLMError('UNKNOWN', problem);
    const now = settings();
    const own = { ...this.settingsOf(provider.id, now), ...addressIn(trial) };
    const carried = await this.credentials.forList(provider, own, trial?.apiKey);
    return (await this.clients()).remote({ ...toProviderChoice(provider.id, '', own, now), ...carried });
  }

  isInMemory(file: string): boolean {
    return this.clients.made()?.isInMemory(file) ?? false;
  }

  async countTokens(file: string, text: string): Promise<number | undefined> {
    return this.clients.made()?.countTokens(file, text);
  }

  deviceOf(file: string): DeviceInfo | undefined {
    return this.clients.made()?.deviceOf(file);
  }

  localFiles(): string[] {
    const ids = [this.currentId, ...this.recent].filter((id) => id.startsWith('local/') && id !== demoModelId);
    return ids.map((id) => splitModelId(id).model);
  }

  /** Unloads the local model: `busy` without effect during a job, `none` without a loaded model. */
  async unloadLocal(): Promise<'unloaded' | 'busy' | 'none'> {
    return this.clients.made()?.unloadLocal() ?? 'none';
  }

  async dispose(): Promise<void> {
    await this.clients.made()?.dispose();
  }

  /** Requires consent before a file of the workspace selects another provider or a local model file. */
  private async allowedId(named: string, file: string): Promise<string> {
    if (isModelRole(named)) return modelIdForRole(named, settings()) || this.currentId; // a role is the user's own choice
    const id = this.idOf(named);
    if (id === this.currentId || id === demoModelId) return id;
    const { provider, model } = splitModelId(id);
    if (provider !== 'local') {
      this.checkProblem(id);
      await this.named.agree(file, id, this.currentId);
      return id;
    }
    const real = await findKnownModelFile(model, {
      folders: [...localModelFolders(), downloadFolder(this.context.globalStorageUri)],
      files: this.localFiles(),
      foreign: diskFolders().map(({ uri }) => uri.fsPath),
    });
    if (real !== undefined) return `local/${real}`;
    throw new RunError(
      'UNKNOWN',
      withMessageLinks(
        message(
          '{0} uses the model file {1}, which is in none of your model folders. Pick it yourself if you trust it (*Towpath: Manage Models…*), then retry.',
          escapeInvisibleInLine(file),
          escapeInvisibleInLine(model),
        ),
        { commands: ['towpath.manageModels'] },
      ),
    );
  }

  /**
   * Throws if an earlier selected model is missing: no other model replaces it silently, nor in a run that had a model.
   *
   * @param before last model of the run's conversation
   */
  private checkChosen(before?: string): void {
    if (this.chosen) {
      void this.remember(this.currentId);
      return;
    }
    const last = before === undefined || before === demoModelId ? this.recent[0] : before;
    if (last === undefined) return;
    const name = modelDisplayName(last);
    const was = typeof name === 'string' ? escapeInvisibleInLine(name) : name;
    throw new RunError(
      'UNKNOWN',
      withMessageLinks(
        message(
          'No model is selected (the setting towpath.model is empty). The run used {0}. Run *Towpath: Pick Model…*.',
          was,
        ),
        { commands: ['towpath.pickModel'], setting: 'towpath.model' },
      ),
      'no-model',
    );
  }

  /** Returns the first of these names that is a model in use here: the selected one, that of a role, or a recent one. */
  configuredId(names: readonly string[]): string | undefined {
    return findConfiguredModel(names, [this.currentId, ...Object.values(settings().models), ...this.recent]);
  }

  /** Returns the id that a file selects; undefined for a role and for the user's own choice. */
  foreignId(named: string): string | undefined {
    const id = isModelRole(named) ? this.currentId : this.idOf(named);
    return id === this.currentId || splitModelId(id).provider === 'local' ? undefined : id;
  }

  private idOf(named: string): string {
    const { provider } = splitModelId(named);
    const known = provider === 'local' || provider === 'vscode-lm' || providerById(provider) !== undefined;
    return known ? named : `${splitModelId(this.currentId).provider}/${named}`;
  }

  private settingsOf(provider: ProviderId, now: Settings): ProviderSettings {
    return { ...providerSettings(now, provider), baseUrl: providerAddress(provider) };
  }

  private get recent(): string[] {
    return this.context.globalState.get<string[]>(recentName, []);
  }

  private async client(id: string, model: string, now: Settings, options?: ReadyOptions): Promise<LLMClient> {
    const clients = await this.clients();
    if (id === 'local') return clients.local(model, now);
    if (id === 'vscode-lm') return clients.editor();
    const provider = providerById(id)!;
    const own = { ...this.settingsOf(provider.id, now), ...addressIn(options?.trial) };
    const carried = options?.trial
      ? await this.credentials.forList(provider, own, options.trial.apiKey)
      : await this.credentials.forRun(provider, own, options);
    return clients.remote({ ...toProviderChoice(provider.id, model, own, now), ...carried });
  }
}
