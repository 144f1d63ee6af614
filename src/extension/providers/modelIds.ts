import { existsSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { type Provider, type ProviderId, providerLabel, providers } from '../../llm/models/providers.ts';
import type { ModelOption } from '../../protocol/panel/panelMessages.ts';
import { message, t } from '../../protocol/text/l10n.ts';
import { withMessageLinks } from '../../protocol/text/links.ts';
import { joinLocalizableTexts, type LocalizableText, localize } from '../../protocol/text/localized.ts';
import { type Settings, settings } from '../settings/settings.ts';
import {
  configuredProviderNames,
  providerSettings,
  settingsProblem,
  unknownProviderMessage,
} from './providerSettings.ts';

export const demoModelId = 'local/demo';

type ModelRole = keyof Settings['models'];

const roles: readonly string[] = ['work', 'plan', 'review', 'small'] satisfies ModelRole[];

export const isModelRole = (name: string): name is ModelRole => roles.includes(name);

/** Returns the `provider/model` of a role, else of the main role; empty if neither is configured. */
export const modelIdForRole = (role: ModelRole, { model, models }: Pick<Settings, 'model' | 'models'>): string =>
  models[role] || models.work || model;

export function splitModelId(id: string): { provider: string; model: string } {
  const slash = id.indexOf('/');
  return { provider: id.slice(0, slash), model: id.slice(slash + 1) };
}

export function providerAddress(provider: ProviderId): string {
  return providerSettings(settings(), provider).baseUrl || providerById(provider)?.baseUrl || '';
}

export const contextSizeKey = (id: string): string =>
  `${id} ${providerAddress(splitModelId(id).provider as ProviderId)}`;

export function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

export function providerById(id: string): Provider | undefined {
  return providers.find((provider) => provider.id === id);
}

export function describeModelOption(id: string): ModelOption {
  const problem = unusableModelReason(id);
  return {
    id,
    label: localize(modelDisplayName(id)),
    ...descriptionOf(id),
    ...(problem && { problem: localize(problem) }),
  };
}

export function modelDisplayName(id: string): LocalizableText {
  const { provider, model } = splitModelId(id);
  if (id === demoModelId) return message('Demo model');
  if (provider === 'local') return path.basename(model, '.gguf');
  return provider === 'vscode-lm' || providerById(provider) ? model : id;
}

function descriptionOf(id: string): Pick<ModelOption, 'detail' | 'images'> {
  const { provider: providerId, model } = splitModelId(id);
  const images = { images: false };
  if (id === demoModelId) return { detail: t('Scripted: shows how Towpath works, is not an assistant'), ...images };
  if (providerId === 'local') return { detail: model, ...images };
  if (providerId === 'vscode-lm') return { detail: t('A model of the editor'), ...images };
  const provider = providerById(providerId);
  if (!provider) return { detail: '' };
  const label = localize(providerLabel(provider));
  const address = isUsable(provider) ? providerAddress(provider.id) : '';
  return { detail: isWebAddress(address) ? `${label}, ${new URL(address).host}` : label };
}

const isUsable = ({ id }: Provider): boolean => settingsProblem(settings(), id) === undefined;

/** Returns the reason that a model is unusable, with a solution; undefined if none is known. */
export function unusableModelReason(id: string): LocalizableText | undefined {
  const { provider: providerId, model } = splitModelId(id);
  if (id === demoModelId)
    return vscode.workspace.isTrusted
      ? undefined
      : message(
          'The demo model makes an edit, and an untrusted workspace allows none. Trust the workspace, or pick another model.',
        );
  if (providerId === 'local')
    return existsSync(model) ? undefined : message('The model file {0} does not exist. Pick another model.', model);
  if (providerId === 'vscode-lm') return undefined;
  const provider = providerById(providerId);
  if (!provider) {
    const isNamed = configuredProviderNames(settings().providers).includes(providerId);
    const unknown = message('Towpath does not know the provider of “{0}”.', id);
    return joinLocalizableTexts([
      (isNamed && unknownProviderMessage(providerId)) || unknown,
      message('Pick another model.'),
    ]);
  }
  const problem = settingsProblem(settings(), provider.id);
  if (problem) return problem;
  const address = providerAddress(provider.id);
  if (isWebAddress(address)) return undefined;
  const label = providerLabel(provider);
  return address
    ? withMessageLinks(
        message(
          '“{0}” is not an address for {1}. An address starts with https:// or http://. Run *Towpath: Connect to a Provider*.',
          address,
          label,
        ),
        { commands: ['towpath.useEndpoint'] },
      )
    : withMessageLinks(message('No address is set for {0}. Run *Towpath: Connect to a Provider*.', label), {
        commands: ['towpath.useEndpoint'],
      });
}
