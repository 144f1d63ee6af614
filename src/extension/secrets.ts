import type * as vscode from 'vscode';

/** API keys, in the editor's SecretStorage and nowhere else, each bound to the origin it was saved for. */
export class Secrets {
  constructor(private readonly storage: vscode.SecretStorage) {}

  key(baseUrl: string): Thenable<string | undefined> {
    return this.storage.get(nameOf(baseUrl));
  }

  save(baseUrl: string, key: string): Thenable<void> {
    return this.storage.store(nameOf(baseUrl), key);
  }

  forget(baseUrl: string): Thenable<void> {
    return this.storage.delete(nameOf(baseUrl));
  }
}

const nameOf = (baseUrl: string): string => `towpath.key:${new URL(baseUrl).origin}`;
