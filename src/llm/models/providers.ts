import { message } from '../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import { type KeyNeed, type PresetId, type ProviderPreset, providerPresets } from './providerPresets.ts';

/** Providers behind an address. (`local` and `vscode-lm` are made where processes and the editor are.) */
export type ProviderId =
  | 'openai'
  | 'openai-responses'
  | 'openai-compatible'
  | 'azure'
  | 'ollama'
  | 'google'
  | 'anthropic'
  | PresetId;

export interface Provider {
  id: ProviderId;
  /** What people call it. */
  label: string;
  /** Where it is; empty: the person has to say. */
  baseUrl: string;
  key: KeyNeed;
}

const openAIBaseUrl = 'https://api.openai.com/v1';
export const googleBaseUrl = 'https://generativelanguage.googleapis.com/v1beta';

const compatible = 'OpenAI-compatible endpoint';

/** Everything a person can choose, in the order in which it is offered. */
export const providers: readonly Provider[] = [
  { id: 'openai', label: 'OpenAI', baseUrl: openAIBaseUrl, key: 'needed' },
  { id: 'openai-responses', label: 'OpenAI (Responses API)', baseUrl: openAIBaseUrl, key: 'needed' },
  { id: 'anthropic', label: 'Anthropic', baseUrl: 'https://api.anthropic.com', key: 'needed' },
  { id: 'google', label: 'Google Gemini', baseUrl: googleBaseUrl, key: 'needed' },
  { id: 'azure', label: 'Azure OpenAI', baseUrl: '', key: 'needed' },
  { id: 'ollama', label: 'Ollama', baseUrl: 'http://127.0.0.1:11434', key: 'optional' },
  ...Object.entries<ProviderPreset>(providerPresets).map(([id, { label, baseUrl, key }]) => ({
    id: id as PresetId,
    label,
    baseUrl,
    key,
  })),
  { id: 'openai-compatible', label: compatible, baseUrl: '', key: 'optional' },
];

/** What people call a provider, where others than people read it, too: one label is no name. */
export const labelOf = ({ label }: Pick<Provider, 'label'>): LocalizableText =>
  label === compatible ? message(label) : label;

/** The header in which a provider's API key is sent. */
export const keyHeaderOf = (provider: ProviderId): string =>
  (({ anthropic: 'x-api-key', google: 'x-goog-api-key', azure: 'api-key' }) as Partial<Record<ProviderId, string>>)[
    provider
  ] ?? 'authorization';

/** Whether a provider speaks OpenAI's wires: chat completions and, with some or all of its models, Responses. */
export const isOpenAIWire = (provider: ProviderId): boolean => !['anthropic', 'google', 'ollama'].includes(provider);

/** Whose key a provider is sent: OpenAI's is one for both of its APIs. */
export const keyOwner = (provider: string): string => (provider === 'openai-responses' ? 'openai' : provider);

/** The header in which an organization is told; undefined where there is no such thing. */
export const organizationHeaderOf = (provider: ProviderId): string | undefined =>
  ['openai', 'openai-responses', 'openai-compatible'].includes(provider) ? 'openai-organization' : undefined;

/**
 * The origin (`https://api.openai.com`) that a key for this choice belongs to and may be sent to; undefined when there
 * is no usable address.
 */
export function keyOrigin(choice: { provider: ProviderId; baseUrl?: string }): string | undefined {
  const address = choice.baseUrl?.trim() || providers.find(({ id }) => id === choice.provider)?.baseUrl;
  return address && URL.canParse(address) ? new URL(address).origin : undefined;
}
