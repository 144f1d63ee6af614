import { existsSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { labelOf, type Provider, type ProviderId, providers } from '../../llm/models/providers.ts';
import type { ModelOption } from '../../protocol/panel/panelMessages.ts';
import { message, t } from '../../protocol/text/l10n.ts';
import { linked } from '../../protocol/text/links.ts';
import { joined, type LocalizableText, localize } from '../../protocol/text/localized.ts';
import { type Settings, settings } from '../settings/settings.ts';
import { namedProviders, otherProvider, providerSettings, settingsProblem } from './providerSettings.ts';

export const demoModel = 'local/demo';

export type Role = keyof Settings['models'];

export const isRole = (name: string): name is Role => name === 'work' || name === 'plan' || name === 'small';

/** Returns the `provider/model` of a role, else of the main role; empty if neither is configured. */
export const roleOf = (role: Role, { model, models }: Pick<Settings, 'model' | 'models'>): string =>
  models[role] || models.work || model;

export function split(id: string): { provider: string; model: string } {
  const slash = id.indexOf('/');
  return { provider: id.slice(0, slash), model: id.slice(slash + 1) };
}

export function addressOf(provider: ProviderId): string {
  return providerSettings(settings(), provider).baseUrl || providerOf(provider)?.baseUrl || '';
}

export const windowKey = (id: string): string => `${id} ${addressOf(split(id).provider as ProviderId)}`;

export function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

export function providerOf(id: string): Provider | undefined {
  return providers.find((provider) => provider.id === id);
}

export function describe(id: string): ModelOption {
  const problem = problemOf(id);
  return { id, label: localize(modelNameOf(id)), ...aboutIt(id), ...(problem && { problem: localize(problem) }) };
}

export function modelNameOf(id: string): LocalizableText {
  const { provider, model } = split(id);
  if (id === demoModel) return message('Demo model');
  if (provider === 'local') return path.basename(model, '.gguf');
  return provider === 'vscode-lm' || providerOf(provider) ? model : id;
}

function aboutIt(id: string): Pick<ModelOption, 'detail' | 'images'> {
  const { provider: providerId, model } = split(id);
  const images = { images: false };
  if (id === demoModel) return { detail: t('Scripted: shows how Towpath works, is not an assistant'), ...images };
  if (providerId === 'local') return { detail: model, ...images };
  if (providerId === 'vscode-lm') return { detail: t('A model of the editor'), ...images };
  const provider = providerOf(providerId);
  if (!provider) return { detail: '' };
  const label = localize(labelOf(provider));
  const address = isUsable(provider) ? addressOf(provider.id) : '';
  return { detail: isWebAddress(address) ? `${label}, ${new URL(address).host}` : label };
}

const isUsable = ({ id }: Provider): boolean => settingsProblem(settings(), id) === undefined;

/** Returns the reason that a model is unusable, with a solution; undefined if none is known. */
export function problemOf(id: string): LocalizableText | undefined {
  const { provider: providerId, model } = split(id);
  if (id === demoModel)
    return vscode.workspace.isTrusted
      ? undefined
      : message(
          'The demo model makes an edit, and an untrusted workspace allows none. Trust the workspace, or pick another model.',
        );
  if (providerId === 'local')
    return existsSync(model) ? undefined : message('The model file {0} does not exist. Pick another model.', model);
  if (providerId === 'vscode-lm') return undefined;
  const provider = providerOf(providerId);
  if (!provider) {
    const isNamed = namedProviders(settings().providers).includes(providerId);
    const unknown = message('Towpath does not know the provider of “{0}”.', id);
    return joined([(isNamed && otherProvider(providerId)) || unknown, message('Pick another model.')]);
  }
  const problem = settingsProblem(settings(), provider.id);
  if (problem) return problem;
  const address = addressOf(provider.id);
  if (isWebAddress(address)) return undefined;
  const label = labelOf(provider);
  return address
    ? linked(
        message(
          '“{0}” is not an address for {1}. An address starts with https:// or http://. Run *Towpath: Connect to a Provider*.',
          address,
          label,
        ),
        { commands: ['towpath.useEndpoint'] },
      )
    : linked(message('No address is set for {0}. Run *Towpath: Connect to a Provider*.', label), {
        commands: ['towpath.useEndpoint'],
      });
}
