import { message } from '../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import {
  type ApiKeyRequirement,
  type ProviderPreset,
  type ProviderPresetId,
  providerPresets,
} from './providerPresets.ts';

export type ProviderId =
  | 'openai'
  | 'openai-responses'
  | 'openai-compatible'
  | 'azure'
  | 'ollama'
  | 'google'
  | 'anthropic'
  | ProviderPresetId;

export interface Provider {
  id: ProviderId;
  label: string;
  baseUrl: string;
  key: ApiKeyRequirement;
}

const openAIBaseUrl = 'https://api.openai.com/v1';
export const googleBaseUrl = 'https://generativelanguage.googleapis.com/v1beta';

const compatible = 'OpenAI-compatible endpoint';

export const providers: readonly Provider[] = [
  { id: 'openai', label: 'OpenAI', baseUrl: openAIBaseUrl, key: 'needed' },
  { id: 'openai-responses', label: 'OpenAI (Responses API)', baseUrl: openAIBaseUrl, key: 'needed' },
  { id: 'anthropic', label: 'Anthropic', baseUrl: 'https://api.anthropic.com', key: 'needed' },
  { id: 'google', label: 'Google Gemini', baseUrl: googleBaseUrl, key: 'needed' },
  { id: 'azure', label: 'Azure OpenAI', baseUrl: '', key: 'needed' },
  { id: 'ollama', label: 'Ollama', baseUrl: 'http://127.0.0.1:11434', key: 'optional' },
  ...Object.entries<ProviderPreset>(providerPresets).map(([id, { label, baseUrl, key }]) => ({
    id: id as ProviderPresetId,
    label,
    baseUrl,
    key,
  })),
  { id: 'openai-compatible', label: compatible, baseUrl: '', key: 'optional' },
];

export const providerLabel = ({ label }: Pick<Provider, 'label'>): LocalizableText =>
  label === compatible ? message(label) : label;

export const apiKeyHeaderName = (provider: ProviderId): string =>
  (({ anthropic: 'x-api-key', google: 'x-goog-api-key', azure: 'api-key' }) as Partial<Record<ProviderId, string>>)[
    provider
  ] ?? 'authorization';

export const isOpenAIWire = (provider: ProviderId): boolean => !['anthropic', 'google', 'ollama'].includes(provider);

export const apiKeyProviderId = (provider: string): string => (provider === 'openai-responses' ? 'openai' : provider);

export const organizationHeaderName = (provider: ProviderId): string | undefined =>
  ['openai', 'openai-responses', 'openai-compatible'].includes(provider) ? 'openai-organization' : undefined;

/** Returns the origin (`https://api.openai.com`) to which the key of this choice may be sent; undefined without a valid address. */
export function apiKeyDestinationOrigin(choice: { provider: ProviderId; baseUrl?: string }): string | undefined {
  const address = choice.baseUrl?.trim() || providers.find(({ id }) => id === choice.provider)?.baseUrl;
  return address && URL.canParse(address) ? new URL(address).origin : undefined;
}
