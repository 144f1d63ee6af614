import path from 'node:path';
import type * as vscode from 'vscode';
import {
  type AdapterDependencies,
  type AdapterLimits,
  createAdapter,
  type LLMAdapter,
} from '../../llm/adapter/adapter.ts';
import { createRateLimiter, type RateLimiter, type RateLimits } from '../../llm/adapter/rateLimit.ts';
import { createResponseCache } from '../../llm/adapter/responseCache.ts';
import type { LLMClient } from '../../llm/core/client.ts';
import { createLLMClient, type ProviderChoice } from '../../llm/createClient.ts';
import { createLocalModelClient, type LocalModelClient } from '../../llm/local/host/client.ts';
import { createLoadedModelScheduler } from '../../llm/local/host/modelMemory.ts';
import type { DeviceInfo } from '../../llm/local/ipc/deviceInfo.ts';
import type { SequenceStateCacheOptions } from '../../llm/local/ipc/stateCacheOptions.ts';
import type { ModelFileReader } from '../../llm/local/modelFile/modelLibrary.ts';
import { findCatalogEntry } from '../../llm/models/modelCatalog.ts';
import type { ProviderId } from '../../llm/models/providers.ts';
import { supportedThinkingEfforts } from '../../llm/supportedThinkingEfforts.ts';
import { withTextToolCallParsing } from '../../llm/textCalls/textCalls.ts';
import { message } from '../../protocol/text/l10n.ts';
import { type ThinkingEffort, thinkingEfforts } from '../../protocol/values/thinkingEffort.ts';
import { type Settings, settings } from '../settings/settings.ts';
import { createEditorModelClient } from './editorModels.ts';
import { readLocalContextSize } from './localContextSize.ts';
import type { LocalEngine } from './localEngine.ts';

const maxRemotes = 6;
const effortsMs = 3000;

export class ModelClients {
  /** Clients by file and settings. Clients of models no longer selected serve the runs that still use them. */
  private readonly locals = new Map<string, LocalModelClient>();
  private readonly modelMemory = createLoadedModelScheduler();
  private readonly remotes = new Map<string, LLMClient>();
  private readonly replies = createResponseCache();
  private readonly limiters = new Map<string, RateLimiter>();

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly engine: LocalEngine,
    private readonly keep: () => SequenceStateCacheOptions | undefined,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** @param server part of the cache key besides the request */
  adapter(
    client: LLMClient,
    limits: Partial<AdapterLimits>,
    {
      provider,
      server,
      rates,
      priceOf,
    }: { provider: string; server: string; rates: RateLimits } & Pick<AdapterDependencies, 'priceOf'>,
  ): LLMAdapter {
    const cache = { replies: this.replies, provider: server };
    return createAdapter(client, limits, { limiter: this.limiterOf(provider, rates), cache, priceOf });
  }

  known(address: string, model: string): ReturnType<typeof findCatalogEntry> {
    return findCatalogEntry(address, model);
  }

  remote(choice: Omit<ProviderChoice, 'onNote'>): LLMClient {
    const key = JSON.stringify(choice);
    const client = this.remotes.get(key) ?? createLLMClient({ ...choice, onNote: (note) => this.log.info(note) });
    this.remotes.delete(key);
    this.remotes.set(key, client);
    for (const oldest of [...this.remotes.keys()].slice(0, -maxRemotes)) this.remotes.delete(oldest);
    return client;
  }

  /** Returns the efforts of a provider's model, by its name or, if the server knows them, by its answer. */
  async efforts(
    provider: ProviderId,
    model: string,
    client: () => Promise<LLMClient>,
  ): Promise<readonly ThinkingEffort[]> {
    if (provider !== 'ollama') return supportedThinkingEfforts(provider, model);
    try {
      return (await (await client()).thinkingEfforts?.(model, AbortSignal.timeout(effortsMs))) ?? [];
    } catch {
      return []; // the request to the model reports the error
    }
  }

  /** Returns the efforts of a local model: every budget if its chat template knows thinking. */
  async localEfforts(model: string, readModel: ModelFileReader): Promise<readonly ThinkingEffort[]> {
    return (await readModel(this.localFile(model))).info?.thinks ? thinkingEfforts : [];
  }

  editor(): LLMClient {
    return withTextToolCallParsing(createEditorModelClient());
  }

  /** Returns a local client. A running run keeps its client; all share the memory for one model. */
  local(model: string, now: Settings): LLMClient {
    const dist = path.join(this.context.extensionPath, 'dist');
    const options = {
      modelPath: this.localFile(model),
      contextSize: now['local.contextSize'],
      threads: now['local.threads'],
      gpu: now['local.gpu'] ? ('auto' as const) : (false as const),
      chatWrapper: model === 'demo' ? ('auto' as const) : now['local.chatWrapper'],
    };
    const key = JSON.stringify(options);
    const client =
      this.locals.get(key) ??
      createLocalModelClient({
        ...options,
        workerPath: path.join(dist, 'worker.mjs'),
        modules: () => this.engine.modules(),
        label: model === 'demo' ? message('the demo model') : path.basename(model),
        modelMemory: this.modelMemory,
        chatFormats: path.join(this.context.globalStorageUri.fsPath, 'chat-formats'),
        idleUnloadMs: () => settings()['local.idleUnload'],
        keep: this.keep,
        onLog: (line) => this.log.info(line),
      });
    this.locals.set(key, client);
    return withTextToolCallParsing(client);
  }

  localWindow(model: string, now: Settings, readModel: ModelFileReader): Promise<number> {
    return readLocalContextSize(this.localFile(model), now['local.contextSize'], readModel);
  }

  private localFile(model: string): string {
    return model === 'demo' ? path.join(this.context.extensionPath, 'dist', 'demo.gguf') : model;
  }

  isInMemory(file: string): boolean {
    return [...this.locals].some(([key, client]) => JSON.parse(key).modelPath === file && client.pid() !== undefined);
  }

  deviceOf(file: string): DeviceInfo | undefined {
    const loaded = [...this.locals].find(([key, client]) => JSON.parse(key).modelPath === file && client.device());
    return loaded?.[1].device();
  }

  /** Returns the tokens of a text by the vocabulary of a model file; undefined if the model is not loaded. */
  async countTokens(file: string, text: string): Promise<number | undefined> {
    const loaded = [...this.locals].find(([key, client]) => JSON.parse(key).modelPath === file && client.device());
    return loaded?.[1].countTokens(text);
  }

  /** Unloads the local model: `busy` without effect during a job, `none` without a loaded model. */
  async unloadLocal(): Promise<'unloaded' | 'busy' | 'none'> {
    const loaded = [...this.locals.values()].find((client) => client.pid() !== undefined);
    if (!loaded) return 'none';
    return (await loaded.unload()) ? 'unloaded' : 'busy';
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.locals.values()].map((client) => client.dispose()));
  }

  /** Returns the limiter shared by all runs of a provider; changed limits start anew. */
  private limiterOf(provider: string, limits: RateLimits): RateLimiter {
    const key = `${provider} ${JSON.stringify(limits)}`;
    const limiter = this.limiters.get(key) ?? createRateLimiter(limits);
    this.limiters.set(key, limiter);
    return limiter;
  }
}
