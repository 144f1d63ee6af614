import { existsSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { EngineError, type RunModel } from '../engine/engine.ts';
import { createAdapter } from '../llm/adapter.ts';
import { createLocalClient, type LocalClient } from '../llm/local/client.ts';
import { createOpenAIClient } from '../llm/openai/client.ts';
import type { ModelOption } from '../protocol/view.ts';
import type { Secrets } from './secrets.ts';
import { type Settings, saveSetting, settings } from './settings.ts';

export const demoModel = 'local/demo';
const recentKey = 'towpath.recentModels';

/** The models a person can pick, and the one that is picked, ready to be talked to. */
export class Models implements vscode.Disposable {
  private local?: { key: string; client: LocalClient };

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly secrets: Secrets,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** `provider/model`; the demo model where nothing else is set up. */
  get currentId(): string {
    return settings().model || demoModel;
  }

  get chosen(): boolean {
    return settings().model !== '';
  }

  async pick(id: string): Promise<void> {
    const recent = [id, ...this.recent.filter((one) => one !== id)].slice(0, 8);
    await this.context.globalState.update(recentKey, recent);
    await saveSetting('model', id);
  }

  /** The demo model, what is picked now, and what was picked before. */
  async options(): Promise<ModelOption[]> {
    const ids = [...new Set([this.currentId, ...this.recent, demoModel])];
    return ids.map((id) => this.describe(id));
  }

  /** The picked model behind its adapter. Throws an `EngineError` with the way out when it is not set up. */
  async current(): Promise<RunModel> {
    const id = this.currentId;
    const { problem } = this.describe(id);
    if (problem) throw new EngineError('UNKNOWN', problem);
    const now = settings();
    const { provider, model } = split(id);
    const client = provider === 'local' ? await this.localClient(model, now) : await endpointClient(this.secrets, now);
    const adapter = createAdapter(client, {
      connectMs: now['timeouts.connect'],
      firstTokenMs: provider === 'local' ? 0 : now['timeouts.firstToken'],
      idleMs: now['timeouts.idle'],
      totalMs: now['timeouts.total'],
      retries: now.retries,
    });
    return { id, model, adapter };
  }

  async dispose(): Promise<void> {
    await this.local?.client.dispose();
  }

  private get recent(): string[] {
    return this.context.globalState.get<string[]>(recentKey, []);
  }

  private describe(id: string): ModelOption {
    const { provider, model } = split(id);
    if (id === demoModel)
      return {
        id,
        label: 'Demo model',
        detail: 'A script for weights: shows how Towpath works, knows nothing',
        ...(!vscode.workspace.isTrusted && {
          problem:
            'The demo model plays an edit, and an untrusted workspace allows none. Trust the workspace, or pick another model.',
        }),
      };
    if (provider === 'local')
      return {
        id,
        label: path.basename(model, '.gguf'),
        detail: model,
        ...(!existsSync(model) && { problem: `The model file ${model} is not there. Pick another model.` }),
      };
    const { 'endpoint.baseUrl': baseUrl } = settings();
    if (provider === 'openai-compatible')
      return {
        id,
        label: model,
        detail: baseUrl ? new URL(baseUrl).host : 'no endpoint set',
        ...(!baseUrl && { problem: 'No endpoint is set. Run Towpath: Use an Endpoint….' }),
      };
    return { id, label: id, detail: '', problem: `Towpath does not know the provider of "${id}". Pick another model.` };
  }

  /** One child process for one model file at a time: another file ends the one before. */
  private async localClient(model: string, now: Settings): Promise<LocalClient> {
    const dist = path.join(this.context.extensionPath, 'dist');
    const modelPath = model === 'demo' ? path.join(dist, 'demo.gguf') : model;
    const options = {
      contextSize: now['local.contextSize'],
      gpu: now['local.gpu'] ? ('auto' as const) : (false as const),
    };
    const key = JSON.stringify([modelPath, options]);
    if (this.local?.key !== key) {
      await this.local?.client.dispose();
      const client = createLocalClient({
        ...options,
        modelPath,
        workerPath: path.join(dist, 'worker.mjs'),
        label: model === 'demo' ? 'the demo model' : path.basename(model),
        onLog: (line) => this.log.info(line),
      });
      this.local = { key, client };
    }
    return this.local.client;
  }

  /** The process that runs the local model, for tests and for the log. */
  get localProcess(): number | undefined {
    return this.local?.client.pid();
  }
}

async function endpointClient(secrets: Secrets, now: Settings) {
  const baseUrl = now['endpoint.baseUrl'];
  const apiKey = await secrets.key(baseUrl);
  return createOpenAIClient({
    provider: 'openai-compatible',
    label: new URL(baseUrl).host,
    baseUrl,
    ...(apiKey && { apiKey }),
    fetchLimits: { connectMs: now['timeouts.connect'], idleMs: now['timeouts.idle'] },
  });
}

function split(id: string): { provider: string; model: string } {
  const slash = id.indexOf('/');
  return { provider: id.slice(0, slash), model: id.slice(slash + 1) };
}
