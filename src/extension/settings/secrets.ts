import type * as vscode from 'vscode';
import { apiKeyProviderId } from '../../llm/models/providers.ts';

const originsName = 'towpath.keyOrigins';

/** Storage name of a secret for headers, in place of a provider. A secret is valid for its origins only, whoever refers to it. */
export const headerSecretKey = (name: string): string => `#${name}`;

/**
 * API keys in the editor's SecretStorage, each for one provider at one origin. The origins of keys are stored separately, because they are
 * not secret. Secrets of headers are stored the same way.
 */
export class Secrets {
  constructor(
    private readonly storage: vscode.SecretStorage,
    private readonly memory: vscode.Memento,
  ) {}

  key(provider: string, origin: string): Thenable<string | undefined> {
    return this.storage.get(nameOf(provider, origin));
  }

  async save(provider: string, origin: string, key: string): Promise<void> {
    await this.storage.store(nameOf(provider, origin), key);
    await this.remember(apiKeyProviderId(provider), [
      ...this.origins(provider).filter((one) => one !== origin),
      origin,
    ]);
  }

  async forget(provider: string, origin: string): Promise<void> {
    await this.storage.delete(nameOf(provider, origin));
    await this.remember(
      apiKeyProviderId(provider),
      this.origins(provider).filter((one) => one !== origin),
    );
  }

  origins(provider: string): readonly string[] {
    return this.memory.get<Record<string, string[]>>(originsName, {})[apiKeyProviderId(provider)] ?? [];
  }

  secretNames(): string[] {
    const all = this.memory.get<Record<string, string[]>>(originsName, {});
    return Object.keys(all).flatMap((name) => (name.startsWith('#') && all[name]!.length > 0 ? [name.slice(1)] : []));
  }

  async all(): Promise<string[]> {
    const saved = Object.entries(this.memory.get<Record<string, string[]>>(originsName, {}));
    const keys = saved.flatMap(([provider, origins]) => origins.map((origin) => this.key(provider, origin)));
    return (await Promise.all(keys)).filter((key) => key !== undefined);
  }

  private async remember(provider: string, origins: string[]): Promise<void> {
    const all = this.memory.get<Record<string, string[]>>(originsName, {});
    await this.memory.update(originsName, { ...all, [provider]: origins });
  }
}

const nameOf = (provider: string, origin: string): string => `towpath.key:${apiKeyProviderId(provider)}:${origin}`;
