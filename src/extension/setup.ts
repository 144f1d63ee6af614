import { promises as fs } from 'node:fs';
import * as vscode from 'vscode';
import { LLMError } from '../llm/errors.ts';
import { createOpenAIClient } from '../llm/openai/client.ts';
import type { Models } from './models.ts';
import type { Secrets } from './secrets.ts';
import { saveSetting, settings } from './settings.ts';

/** The dialogs that set a model up: a file on this machine, an endpoint, a key. Escape leaves everything as it was. */
export class Setup {
  constructor(
    private readonly models: Models,
    private readonly secrets: Secrets,
  ) {}

  async pickModel(): Promise<void> {
    const items = (await this.models.options()).map((option) => ({
      label: option.label,
      description: option.id === this.models.currentId ? 'in use' : '',
      detail: option.problem ?? option.detail,
      run: () => this.models.pick(option.id),
    }));
    const more = [
      { label: '$(file) A model file on this machine…', detail: 'A .gguf file, run here', run: () => this.useLocal() },
      {
        label: '$(cloud) An endpoint…',
        detail: 'An OpenAI-compatible server, here or elsewhere',
        run: () => this.useEndpoint(),
      },
    ];
    const separator = { label: '', kind: vscode.QuickPickItemKind.Separator, run: async () => {} };
    const chosen = await vscode.window.showQuickPick([...items, separator, ...more], {
      title: 'Towpath: the model to talk to',
      matchOnDetail: true,
    });
    await chosen?.run();
  }

  async useLocal(): Promise<void> {
    const files = await vscode.window.showOpenDialog({
      title: 'A model file to run on this machine',
      openLabel: 'Use This Model',
      filters: { 'GGUF models': ['gguf'] },
    });
    const file = files?.[0]?.fsPath;
    if (!file) return;
    if (!(await isGguf(file))) {
      void vscode.window.showErrorMessage(`${file} is not a GGUF model file. Its first bytes should be "GGUF".`);
      return;
    }
    await this.models.pick(`local/${file}`);
  }

  async useEndpoint(): Promise<void> {
    const baseUrl = await vscode.window.showInputBox({
      title: 'Use an endpoint (1 of 2): its address',
      prompt: 'Up to, and without, /chat/completions',
      placeHolder: 'http://127.0.0.1:11434/v1',
      value: settings()['endpoint.baseUrl'],
      ignoreFocusOut: true,
      validateInput: addressProblem,
    });
    if (!baseUrl) return;
    const model = await this.askModel(baseUrl.trim());
    if (!model) return;
    await saveSetting('endpoint.baseUrl', baseUrl.trim());
    await this.models.pick(`openai-compatible/${model}`);
  }

  async setKey(): Promise<void> {
    const baseUrl = settings()['endpoint.baseUrl'];
    if (!baseUrl) {
      const use = 'Use an Endpoint…';
      const chosen = await vscode.window.showInformationMessage(
        'A key belongs to an endpoint, and none is set yet.',
        use,
      );
      if (chosen === use) await this.useEndpoint();
      return;
    }
    const { origin } = new URL(baseUrl);
    const key = await vscode.window.showInputBox({
      title: `API key for ${origin}`,
      prompt: "Kept in the editor's secret storage and sent to this address only",
      password: true,
      ignoreFocusOut: true,
      validateInput: (text) =>
        /^[\x21-\x7E]+$/.test(text.trim()) ? undefined : 'A key is one line of visible ASCII characters.',
    });
    if (!key) return;
    await this.secrets.save(baseUrl, key.trim());
    void vscode.window.showInformationMessage(`The key for ${origin} is saved.`);
  }

  async deleteKey(): Promise<void> {
    const baseUrl = settings()['endpoint.baseUrl'];
    if (!baseUrl) return;
    await this.secrets.forget(baseUrl);
    void vscode.window.showInformationMessage(`The key for ${new URL(baseUrl).origin} is forgotten.`);
  }

  /** The model's name at the endpoint: from its list where it has one, else typed. */
  private async askModel(baseUrl: string): Promise<string | undefined> {
    const title = 'Use an endpoint (2 of 2): the model';
    const names = await this.list(baseUrl);
    const other = { label: '$(edit) Another name…' };
    if (names.length > 0) {
      const items = [...names.map((label) => ({ label })), other];
      const chosen = await vscode.window.showQuickPick(items, { title, ignoreFocusOut: true });
      if (chosen !== other) return chosen?.label;
    }
    return vscode.window.showInputBox({
      title,
      prompt: "The model's name as the endpoint knows it",
      ignoreFocusOut: true,
    });
  }

  private async list(baseUrl: string): Promise<string[]> {
    const apiKey = await this.secrets.key(baseUrl);
    const client = createOpenAIClient({
      provider: 'openai-compatible',
      label: new URL(baseUrl).host,
      baseUrl,
      ...(apiKey && { apiKey }),
      fetchLimits: { connectMs: 5000, idleMs: 5000 },
    });
    try {
      return ((await client.listModels?.(AbortSignal.timeout(5000))) ?? []).map((model) => model.id);
    } catch (error) {
      if (error instanceof LLMError && error.code === 'LLM_AUTH_FAILED') return []; // many list nothing without a key
      const why = error instanceof Error ? error.message : String(error);
      void vscode.window.showWarningMessage(`The endpoint did not list its models: ${why}`);
      return [];
    }
  }
}

function addressProblem(text: string): string | undefined {
  if (!URL.canParse(text.trim())) return 'This is not an address. It begins with https:// or http://.';
  const { protocol, username, search, hash } = new URL(text.trim());
  if (protocol !== 'https:' && protocol !== 'http:') return 'The address begins with https:// or http://.';
  if (username || search || hash) return 'Only the address: no user, no ? and no #. A key is set on its own.';
  return undefined;
}

async function isGguf(file: string): Promise<boolean> {
  const handle = await fs.open(file).catch(() => undefined);
  try {
    const { buffer } = (await handle?.read(Buffer.alloc(4), 0, 4, 0)) ?? {};
    return buffer?.toString('latin1') === 'GGUF';
  } finally {
    await handle?.close();
  }
}
