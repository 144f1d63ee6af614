import { existsSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { type Provider, type ProviderId, providers } from '../../llm/providers.ts';
import type { ModelOption } from '../../protocol/view.ts';
import { type Settings, settings } from '../settings/settings.ts';
import { namedProviders, providerSettings, unknownProvider } from './providerSettings.ts';

export const demoModel = 'local/demo';

/** What models are for; a file that a run follows may name one in the place of a model. */
export type Role = keyof Settings['models'];

export const isRole = (name: string): name is Role => name === 'work' || name === 'plan' || name === 'small';

/** `provider/model` of what the person has for it, else what is picked; empty: neither. */
export const roleOf = (role: Role, { model, models }: Pick<Settings, 'model' | 'models'>): string =>
  models[role] || models.work || model;

/** `provider/model`, as models are picked and named in settings; the model of `local` is the path of its file. */
export function split(id: string): { provider: string; model: string } {
  const slash = id.indexOf('/');
  return { provider: id.slice(0, slash), model: id.slice(slash + 1) };
}

/** Where a provider is reached: what the settings say, else its own address; empty when neither knows. */
export function addressOf(provider: ProviderId): string {
  return providerSettings(settings(), provider).baseUrl || providerOf(provider)?.baseUrl || '';
}

export function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

export function providerOf(id: string): Provider | undefined {
  return providers.find((provider) => provider.id === id);
}

/** How a model is shown in a list. `problem`: why it cannot be used, with the way out. */
export function describe(id: string): ModelOption {
  const { provider: providerId, model } = split(id);
  if (id === demoModel)
    return {
      id,
      label: 'Demo model',
      detail: 'A script for weights: shows how Towpath works, knows nothing',
      images: false,
      ...(!vscode.workspace.isTrusted && {
        problem:
          'The demo model plays an edit, and an untrusted workspace allows none. Trust the workspace, or pick another model.',
      }),
    };
  if (providerId === 'local')
    return {
      id,
      label: path.basename(model, '.gguf'),
      detail: model,
      images: false,
      ...(!existsSync(model) && { problem: `The model file ${model} is not there. Pick another model.` }),
    };
  if (providerId === 'vscode-lm') return { id, label: model, detail: 'A model of the editor', images: false };
  const provider = providerOf(providerId);
  if (!provider) {
    const isNamed = namedProviders(settings().providers).includes(providerId);
    const problem = isNamed ? unknownProvider(providerId) : `Towpath does not know the provider of "${id}".`;
    return { id, label: id, detail: '', problem: `${problem} Pick another model.` };
  }
  const { problem } = providerSettings(settings(), provider.id);
  if (problem) return { id, label: model, detail: provider.label, problem };
  const address = addressOf(provider.id);
  return {
    id,
    label: model,
    detail: isWebAddress(address) ? `${provider.label}, ${new URL(address).host}` : provider.label,
    ...(!isWebAddress(address) && {
      problem: address
        ? `"${address}" is no address for ${provider.label}: one begins with https:// or http://. Run *Towpath: Use an Endpoint*.`
        : `No address is set for ${provider.label}. Run *Towpath: Use an Endpoint*.`,
    }),
  };
}
