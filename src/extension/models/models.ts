import type * as vscode from 'vscode';
import type { Budget } from '../../engine/core/budget.ts';
import { EngineError } from '../../engine/core/errorInfo.ts';
import type { AskedModel, RunModel } from '../../engine/run/runContext.ts';
import type { LLMClient, ModelInfo } from '../../llm/core/client.ts';
import { lasting } from '../../llm/core/deadlines.ts';
import { LLMError } from '../../llm/core/errors.ts';
import type { DeviceInfo } from '../../llm/local/ipc/deviceInfo.ts';
import type { KeepOptions } from '../../llm/local/ipc/stateCacheOptions.ts';
import { maxContextSize } from '../../llm/local/modelFile/contextSize.ts';
import { knownModelFile } from '../../llm/local/modelFile/findModelFile.ts';
import type { ReadModel } from '../../llm/local/modelFile/modelLibrary.ts';
import { byModel } from '../../llm/models/lookupByModel.ts';
import { free } from '../../llm/models/prices.ts';
import { labelOf, type Provider, type ProviderId } from '../../llm/models/providers.ts';
import { isLoopback } from '../../llm/transport/http.ts';
import { lazily } from '../../protocol/panel/lazyImport.ts';
import type { ModelOption } from '../../protocol/panel/panelMessages.ts';
import { visibleLine } from '../../protocol/text/escapeInvisible.ts';
import { message } from '../../protocol/text/l10n.ts';
import { linked } from '../../protocol/text/links.ts';
import { type LocalizableText, localize } from '../../protocol/text/localized.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { diskFolders } from '../dialogs/folders.ts';
import { Credentials } from '../providers/credentials.ts';
import type { LocalEngine } from '../providers/localEngine.ts';
import type { NamedModels } from '../providers/modelConsent.ts';
import { downloadFolder, listedFolders } from '../providers/modelFolders.ts';
import {
  addressOf,
  demoModel,
  describe,
  isRole,
  modelNameOf,
  problemOf,
  providerOf,
  roleOf,
  split,
  windowKey,
} from '../providers/modelIds.ts';
import {
  type ProviderSettings,
  providerSettings,
  remoteChoice,
  settingsProblem,
} from '../providers/providerSettings.ts';
import type { Secrets } from '../settings/secrets.ts';
import { type Settings, saveSetting, settings } from '../settings/settings.ts';
import { KnownWindows, listedWindow } from './knownContextSizes.ts';
import type { StoredChecks } from './storedChecks.ts';

/** Until a provider has to have said which models it has. */
const listMs = 15_000;
const recentName = 'towpath.recentModels';

/** The models a person can pick, and the one that is picked, ready to be talked to. */
export class Models implements vscode.Disposable {
  private readonly windows: KnownWindows;
  /** Of models that were made ready. */
  private readonly seenWindows = new Map<string, number>();
  private readonly credentials: Credentials;
  private picked?: string;
  private readonly clients = lazily(
    () => import('../providers/clients.ts'),
    ({ Clients }) => new Clients(this.context, this.engine, this.keep, this.log),
  );

  constructor(
    private readonly context: vscode.ExtensionContext,
    secrets: Secrets,
    private readonly named: NamedModels,
    private readonly engine: LocalEngine,
    modals: Dialogs,
    /** What may be spent in a day. */
    private readonly budget: Budget,
    /** Where what a local model has read is kept; nowhere when undefined. */
    private readonly keep: () => KeepOptions | undefined,
    private readonly log: vscode.LogOutputChannel,
    /** What came of checking models. */
    private readonly checks: Pick<StoredChecks, 'inShort'>,
    private readonly readModel: ReadModel,
    /** Called when a provider has listed another size of a context window. */
    windowChanged: () => void,
  ) {
    this.credentials = new Credentials(secrets, modals);
    this.windows = new KnownWindows(context.globalState, windowChanged);
  }

  /** `provider/model` of what does the work; the demo model where nothing else is set up. */
  get currentId(): string {
    return roleOf('work', settings()) || demoModel;
  }

  /** What is shown as the model in use: none where a message would be refused because no model is picked any more. */
  get shownId(): string {
    return this.chosen || this.recent.length === 0 ? this.currentId : '';
  }

  get chosen(): boolean {
    return roleOf('work', settings()) !== '';
  }

  /** Tokens that the picked model keeps in view, as far as that is known without asking anybody. */
  get window(): number | undefined {
    return this.windowOfId(this.currentId);
  }

  private windowOfId(id: string): number | undefined {
    const now = settings();
    const { provider, model } = split(id);
    if (provider === 'local')
      return Math.min(maxContextSize(now['local.contextSize']), this.seenWindows.get(id) ?? Infinity);
    const own = providerOf(provider) && this.settingsOf(provider as ProviderId, now).windowOf(model);
    return own ?? this.windows.of(windowKey(id)) ?? this.seenWindows.get(id);
  }

  /**
   * Asks the picked model's provider for the size of its context window in the background, unless the size is known, or the
   * list would need a key that is not saved.
   */
  async lookUpWindow(): Promise<void> {
    const id = this.currentId;
    const provider = providerOf(split(id).provider);
    if (!provider || problemOf(id) || (await this.knownWindow(id)) !== undefined) return;
    if (!(await this.credentials.mayList(provider, this.settingsOf(provider.id, settings())))) return;
    this.windows.ask(windowKey(id), async () => listedWindow(await this.list(provider.id), split(id).model));
  }

  /** The same of any model, also by the table that came with Towpath. */
  async knownWindow(id: string): Promise<number | undefined> {
    const { provider, model } = split(id);
    const address = providerOf(provider) ? addressOf(provider as ProviderId) : '';
    return this.windowOfId(id) ?? (await this.clients()).known(address, model)?.window;
  }

  /** The picked model's provider, when it is one behind an address. */
  get currentProvider(): Provider | undefined {
    return providerOf(split(this.currentId).provider);
  }

  /** What does the work from now on. */
  async pick(id: string): Promise<void> {
    const { models } = settings();
    if (models.work) await saveSetting('models', { ...models, work: id });
    else await saveSetting('model', id);
    // Not before: a model that was chosen once, and no setting, means that the person took it away.
    await this.remember(id);
    this.picked = id;
  }

  /** Also what a setting names that nobody picked here: it was chosen as well. */
  private async remember(id: string): Promise<void> {
    if (this.recent[0] === id) return;
    const recent = [id, ...this.recent.filter((one) => one !== id)].slice(0, 8);
    await this.context.globalState.update(recentName, recent);
  }

  /** What the person picks while `ask` is at it; undefined: nothing. */
  async pickedIn(ask: () => Promise<unknown>): Promise<string | undefined> {
    this.picked = undefined;
    await ask();
    return this.picked;
  }

  /** What is picked now, what was picked before, and the demo model. */
  options(): ModelOption[] {
    return [...new Set([this.currentId, ...this.recent, demoModel])].map((id) => this.describe(id));
  }

  private describe(id: string): ModelOption {
    const problem = this.problemOf(id);
    const option = describe(id);
    const detail = [option.detail, this.checks.inShort(id)].filter(Boolean).join(' · ');
    return { ...option, detail, ...(problem && { problem: localize(problem) }) };
  }

  /** A local model needs an engine, whatever else is right with it. */
  private problemOf(id: string): LocalizableText | undefined {
    return (id.startsWith('local/') ? this.engine.missing() : undefined) ?? problemOf(id);
  }

  private checkProblem(id: string): void {
    const problem = this.problemOf(id);
    if (problem) throw new EngineError('UNKNOWN', problem, 'no-model');
  }

  /**
   * The picked model behind its adapter, or another one: of the person's choice, or what the file a run follows names, which
   * is `provider/model`, a role, else a model of the picked one's provider. Throws an `EngineError` with the way out when it is
   * not set up, or not the file's to choose.
   */
  async current({ id: asked, workflowId, before }: AskedModel = {}): Promise<RunModel> {
    const id = asked !== undefined && isRole(asked) && !roleOf(asked, settings()) ? undefined : asked; // nobody has set it
    if (id !== undefined && workflowId !== undefined) return this.ready(await this.allowedId(id, workflowId));
    if (id === undefined) this.checkChosen(before);
    return this.ready(id ?? this.currentId);
  }

  /**
   * What the person has set for small work; undefined: the model at work does it, too. Throws as `current`; `quiet`: also where they would
   * have to be asked something for it.
   */
  async small(how?: { quiet: true }): Promise<RunModel | undefined> {
    const { small } = settings().models;
    return small ? this.ready(small, how) : undefined;
  }

  /** The one for small work names runs, too: not one in this machine's memory, where that at work would have to make room. */
  async naming(): Promise<RunModel | undefined> {
    const { small } = settings().models;
    return small && split(small).provider !== 'local' ? this.ready(small) : undefined;
  }

  /**
   * What writes a text that the person waits for: the one for small work, else the picked one. Where both run on this machine, the picked
   * one if it is in memory, for it would have to make room. Throws as `current`; the demo model can only play its script.
   */
  async writing(): Promise<RunModel> {
    const { small } = settings().models;
    const [own, other] = [split(this.currentId), split(small)];
    const stays = own.provider === 'local' && other.provider === 'local' && this.isInMemory(own.model);
    if (small && small !== demoModel && !stays) return this.ready(small);
    this.checkChosen();
    if (this.currentId !== demoModel) return this.ready(this.currentId);
    throw new EngineError('UNKNOWN', message('The demo model only follows its script. Pick another model.'));
  }

  /** A model at an address and with a key that are not saved yet, for one test. Throws as `current`, without a question. */
  async trial(id: string, trial: Trial): Promise<RunModel> {
    return this.ready(id, { quiet: true, trial });
  }

  /** For who asks from outside of Towpath, on whose behalf the person is asked nothing. Throws as `current`. */
  async outside(id: string): Promise<RunModel> {
    return this.ready(id, { quiet: true });
  }

  private async ready(id: string, how?: HowReady): Promise<RunModel> {
    if (!how?.trial) this.checkProblem(id);
    const now = settings();
    const { provider, model } = split(id);
    const client = await this.client(provider, model, now, how);
    const local = provider === 'local';
    const limits = {
      connectMs: local ? 0 : now['timeouts.connect'],
      firstTokenMs: local ? 0 : now['timeouts.firstToken'],
      idleMs: now['timeouts.idle'],
      totalMs: now['timeouts.total'],
      retries: how?.trial ? 0 : now.retries,
      retryAfterCapMs: now.retryAfterCap,
      thinkingBudget: now.thinkingBudget,
    };
    const own = providerOf(provider) && { ...this.settingsOf(provider as ProviderId, now), ...addressIn(how?.trial) };
    const { baseUrl, headers, organization, api } = own ?? {};
    const server = JSON.stringify([provider, baseUrl, headers, organization, api]);
    const clients = await this.clients();
    const known = (name: string) => clients.known(baseUrl ?? '', name);
    const priceOf = (_: string, answered = model) => {
      const written = own ? own.priceOf(model) : byModel(now.prices, id);
      return written ?? known(answered)?.price ?? known(model)?.price ?? (local ? free : undefined);
    };
    const rates = {
      requestsPerMinute: now['rateLimit.requestsPerMinute'],
      tokensPerMinute: now['rateLimit.tokensPerMinute'],
    };
    const adapter = clients.adapter(client, limits, { provider, server, rates, priceOf });
    if (!local && !how?.trial && own?.windowOf(model) === undefined)
      this.windows.ask(windowKey(id), async () =>
        listedWindow((await client.listModels?.(AbortSignal.timeout(listMs))) ?? [], model),
      );
    const currentWindow = () => this.windowOfId(id) ?? known(model)?.window;
    const contextWindow = local ? await clients.localWindow(model, now, this.readModel) : currentWindow();
    if (contextWindow && !how?.trial) this.seenWindows.set(id, contextWindow);
    const url = baseUrl && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
    const onThisMachine = (local || (url && isLoopback(url.hostname))) && { onThisMachine: true as const };
    const place = { ...(url && { host: url.host }), ...onThisMachine };
    const windowNow = local && (await client.listModels?.())?.[0]?.contextWindow;
    const windows = { ...(contextWindow && { contextWindow }), ...(windowNow && { windowNow }) };
    return { id, model, adapter, budget: this.budget, ...place, ...windows, ...(!local && { currentWindow }) };
  }

  /**
   * What a provider says it has; it is asked without a key when none is saved. Throws `LLMError`, also after 15 seconds
   * without an answer, or the signal's reason.
   * @param trial where and with which key to ask, in the place of what is saved
   */
  async list(id: string, signal = new AbortController().signal, trial?: Trial): Promise<ModelInfo[]> {
    const provider = providerOf(id);
    const late = AbortSignal.timeout(listMs);
    try {
      const client = provider ? await this.listingClient(provider, trial) : (await this.clients()).editor();
      return (await client.listModels?.(AbortSignal.any([signal, late]))) ?? [];
    } catch (error) {
      if (!late.aborted || signal.aborted) throw error;
      const time = lasting(listMs);
      const silent = provider
        ? message(
            '{0} ({1}) did not answer within {2}.',
            labelOf(provider),
            trial?.baseUrl ?? addressOf(provider.id),
            time,
          )
        : message('The editor did not answer within {0}.', time);
      throw new LLMError('LLM_TIMEOUT', silent);
    }
  }

  private async listingClient(provider: Provider, trial?: Trial): Promise<LLMClient> {
    const problem = trial ? settingsProblem(settings(), provider.id) : problemOf(`${provider.id}/`);
    if (problem) throw new LLMError('UNKNOWN', problem);
    const now = settings();
    const own = { ...this.settingsOf(provider.id, now), ...addressIn(trial) };
    const carried = await this.credentials.forList(provider, own, trial?.apiKey);
    return (await this.clients()).remote({ ...remoteChoice(provider.id, '', own, now), ...carried });
  }

  /** Whether this model file is in memory, or on its way there. */
  isInMemory(file: string): boolean {
    return this.clients.made()?.isInMemory(file) ?? false;
  }

  /** What a model file that is in memory runs on. */
  placeOf(file: string): DeviceInfo | undefined {
    return this.clients.made()?.placeOf(file);
  }

  /** Model files that were picked before. */
  localFiles(): string[] {
    const ids = [this.currentId, ...this.recent].filter((id) => id.startsWith('local/') && id !== demoModel);
    return ids.map((id) => split(id).model);
  }

  /** Takes the local model out of memory: `busy` and nothing happens while it is at work; `none` when there is none. */
  async unloadLocal(): Promise<'unloaded' | 'busy' | 'none'> {
    return this.clients.made()?.unloadLocal() ?? 'none';
  }

  async dispose(): Promise<void> {
    await this.clients.made()?.dispose();
  }

  /** A file of the workspace sends text nowhere, and has no file of its own loaded, unless the person agrees to it. */
  private async allowedId(named: string, file: string): Promise<string> {
    if (isRole(named)) return roleOf(named, settings()) || this.currentId; // the person's own choice, whatever the file
    const id = this.idOf(named);
    if (id === this.currentId || id === demoModel) return id;
    const { provider, model } = split(id);
    if (provider !== 'local') {
      this.checkProblem(id);
      await this.named.agree(file, id, this.currentId);
      return id;
    }
    const real = await knownModelFile(model, {
      folders: [...listedFolders(), downloadFolder(this.context.globalStorageUri)],
      files: this.localFiles(),
      foreign: diskFolders().map(({ uri }) => uri.fsPath),
    });
    if (real !== undefined) return `local/${real}`;
    throw new EngineError(
      'UNKNOWN',
      linked(
        message(
          '{0} uses the model file {1}, which is in none of your model folders. Pick it yourself if you trust it (*Towpath: Manage Models…*), then retry.',
          visibleLine(file),
          visibleLine(model),
        ),
        { commands: ['towpath.manageModels'] },
      ),
    );
  }

  /**
   * Where a model was chosen once, none takes its place by itself; nor in a run that had one.
   * @param before the one that the run's conversation went to last
   */
  private checkChosen(before?: string): void {
    if (this.chosen) {
      void this.remember(this.currentId);
      return;
    }
    const last = before === undefined || before === demoModel ? this.recent[0] : before;
    if (last === undefined) return;
    const name = modelNameOf(last);
    const was = typeof name === 'string' ? visibleLine(name) : name;
    throw new EngineError(
      'UNKNOWN',
      linked(
        message(
          'No model is selected (the setting towpath.model is empty). The run used {0}. Run *Towpath: Pick Model…*.',
          was,
        ),
        { commands: ['towpath.pickModel'], setting: 'towpath.model' },
      ),
      'no-model',
    );
  }

  private idOf(named: string): string {
    const { provider } = split(named);
    const known = provider === 'local' || provider === 'vscode-lm' || providerOf(provider) !== undefined;
    return known ? named : `${split(this.currentId).provider}/${named}`;
  }

  /** What the settings say, with the provider's own address where they say none. */
  private settingsOf(provider: ProviderId, now: Settings): ProviderSettings {
    return { ...providerSettings(now, provider), baseUrl: addressOf(provider) };
  }

  private get recent(): string[] {
    return this.context.globalState.get<string[]>(recentName, []);
  }

  private async client(id: string, model: string, now: Settings, how?: HowReady): Promise<LLMClient> {
    const clients = await this.clients();
    if (id === 'local') return clients.local(model, now);
    if (id === 'vscode-lm') return clients.editor();
    const provider = providerOf(id)!;
    const own = { ...this.settingsOf(provider.id, now), ...addressIn(how?.trial) };
    const carried = how?.trial
      ? await this.credentials.forList(provider, own, how.trial.apiKey)
      : await this.credentials.forRun(provider, own, how);
    return clients.remote({ ...remoteChoice(provider.id, model, own, now), ...carried });
  }
}

/** Address and key that are not saved yet; without a key the saved one for that address. */
export interface Trial {
  baseUrl: string;
  apiKey?: string;
}

/** `quiet`: the user is asked nothing. */
interface HowReady {
  quiet: true;
  trial?: Trial;
}

const addressIn = (trial: Trial | undefined) => trial && { baseUrl: trial.baseUrl };
