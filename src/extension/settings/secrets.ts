import type * as vscode from 'vscode';
import { keyOwner } from '../../llm/models/providers.ts';

const originsName = 'towpath.keyOrigins';

/** In the place of a provider: a secret that headers name. It belongs to the origins it was given for, whoever names it. */
export const secretOf = (name: string): string => `#${name}`;

/**
 * API keys, in the editor's SecretStorage and nowhere else, each for one provider at one origin. Which origins a provider
 * has keys for is no secret, and is remembered beside. Secrets of headers are kept the same way.
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
    await this.remember(keyOwner(provider), [...this.origins(provider).filter((one) => one !== origin), origin]);
  }

  async forget(provider: string, origin: string): Promise<void> {
    await this.storage.delete(nameOf(provider, origin));
    await this.remember(
      keyOwner(provider),
      this.origins(provider).filter((one) => one !== origin),
    );
  }

  /** The origins that keys of this provider were saved for, newest last. */
  origins(provider: string): readonly string[] {
    return this.memory.get<Record<string, string[]>>(originsName, {})[keyOwner(provider)] ?? [];
  }

  /** The names of the secrets of headers. */
  secretNames(): string[] {
    const all = this.memory.get<Record<string, string[]>>(originsName, {});
    return Object.keys(all).flatMap((name) => (name.startsWith('#') && all[name]!.length > 0 ? [name.slice(1)] : []));
  }

  /** Every saved key, so that none of them gets into a text that is shown. */
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

const nameOf = (provider: string, origin: string): string => `towpath.key:${keyOwner(provider)}:${origin}`;
