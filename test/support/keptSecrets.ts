import type { Memento, SecretStorage } from 'vscode';
import { Secrets } from '../../src/extension/settings/secrets.ts';

/** The editor's two stores, as maps, with the keys in them. */
export function keptSecrets() {
  const stored = new Map<string, string>();
  const remembered = new Map<string, unknown>();
  const storage = {
    get: async (name: string) => stored.get(name),
    store: async (name: string, value: string) => void stored.set(name, value),
    delete: async (name: string) => void stored.delete(name),
  };
  const memory = {
    get: (name: string, fallback: unknown) => remembered.get(name) ?? fallback,
    update: async (name: string, value: unknown) => void remembered.set(name, value),
  };
  const secrets = new Secrets(storage as unknown as SecretStorage, memory as unknown as Memento);
  return { secrets, stored, remembered };
}
