import { createAnthropicClient } from './anthropic/client.ts';
import type { LLMClient } from './client.ts';
import { LLMError } from './errors.ts';
import { createGoogleClient, googleBaseUrl } from './google/client.ts';
import type { FetchLimits } from './http.ts';
import { createOllamaClient } from './ollama/client.ts';
import { createAzureClient } from './openai/azure.ts';
import { createOpenAIClient } from './openai/client.ts';
import { type KeyNeed, type Preset, type PresetId, presets } from './presets.ts';
import { withRescue } from './rescue/rescue.ts';

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

/** Everything a person can choose, in the order in which it is offered. */
export const providers: readonly Provider[] = [
  { id: 'openai', label: 'OpenAI', baseUrl: openAIBaseUrl, key: 'needed' },
  { id: 'openai-responses', label: 'OpenAI (Responses API)', baseUrl: openAIBaseUrl, key: 'needed' },
  { id: 'anthropic', label: 'Anthropic', baseUrl: 'https://api.anthropic.com', key: 'needed' },
  { id: 'google', label: 'Google Gemini', baseUrl: googleBaseUrl, key: 'needed' },
  { id: 'azure', label: 'Azure OpenAI', baseUrl: '', key: 'needed' },
  { id: 'ollama', label: 'Ollama', baseUrl: 'http://127.0.0.1:11434', key: 'optional' },
  ...Object.entries<Preset>(presets).map(([id, { label, baseUrl, key }]) => ({
    id: id as PresetId,
    label,
    baseUrl,
    key,
  })),
  { id: 'openai-compatible', label: 'OpenAI-compatible endpoint', baseUrl: '', key: 'optional' },
];

export interface ProviderChoice {
  provider: ProviderId;
  /** In place of the provider's own; for Azure the resource's endpoint. */
  baseUrl?: string;
  apiKey?: string;
  model: string;
  azure?: { deployment?: string; apiVersion?: string };
  /** `contextSize` in tokens; `keepAlive` in seconds, or as Ollama writes it (`5m`). */
  ollama?: { contextSize?: number; keepAlive?: string | number };
  /** Sent with every request, by their names in lower case. */
  headers?: Record<string, string>;
  /** What of the headers is secret: kept out of every message. */
  secrets?: readonly string[];
  organization?: string;
  /** Of providers on OpenAI's wires: every model is asked through the Responses API, not only those that need it. */
  api?: 'responses';
  fetchLimits?: Partial<FetchLimits>;
  /** What was asked for and is ignored or left out (a thinking budget, a parameter): a sentence for the log. */
  onNote?(note: string): void;
}

/**
 * The client for what a person has chosen. Calls that a model writes as text are read here, for every provider in one
 * place. Throws `LLMError` when there is no address, or no provider of that name.
 */
export function createClient(choice: ProviderChoice): LLMClient {
  return withRescue(createPlainClient(choice));
}

function createPlainClient(choice: ProviderChoice): LLMClient {
  const { provider, label } = providerOf(choice.provider);
  const { apiKey, api, secrets, fetchLimits, onNote } = choice;
  const baseUrl = addressOf(choice);
  const common = { baseUrl, apiKey, headers: headersOf(choice, label), secrets, fetchLimits, onNote };
  const openAI = { ...common, provider, label, api };
  switch (provider) {
    case 'anthropic':
      return createAnthropicClient(common);
    case 'google':
      return createGoogleClient(common);
    case 'ollama':
      return createOllamaClient({ ...common, ...choice.ollama });
    case 'azure':
      return createAzureClient({ ...common, ...choice.azure, api, endpoint: baseUrl });
    case 'openai':
      return createOpenAIClient({ ...openAI, flags: { callIds: 'forty', cacheKey: true } });
    case 'openai-responses':
      return createOpenAIClient({ ...openAI, api: 'responses', flags: { cacheKey: true } });
    case 'openai-compatible':
      return createOpenAIClient(openAI);
    default:
      return createOpenAIClient({ ...openAI, flags: (presets[provider] as Preset).flags });
  }
}

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

/** Throws for a header that says what the key says: both would be sent, and one of them be believed. */
function headersOf({ provider, apiKey, organization, headers }: ProviderChoice, label: string): Record<string, string> {
  const keyHeader = keyHeaderOf(provider);
  if (apiKey && headers?.[keyHeader] !== undefined) {
    const problem = `${label} is sent its API key in the header ${keyHeader}, which towpath.providers sets, too.`;
    throw new LLMError(
      'LLM_AUTH_FAILED',
      `${problem} Take the header out, or forget the key (*Towpath: Forget API Key*).`,
    );
  }
  const inHeader = organization && organizationHeaderOf(provider);
  return { ...(inHeader && { [inHeader]: organization }), ...headers };
}

function providerOf(id: string): { provider: ProviderId; label: string } {
  const found = providers.find((one) => one.id === id);
  if (found) return { provider: found.id, label: found.label };
  const known = providers.map((one) => one.id).join(', ');
  throw new LLMError('UNKNOWN', `There is no provider called ${id}. Choose one of ${known}.`);
}

function addressOf({ provider, baseUrl }: Pick<ProviderChoice, 'provider' | 'baseUrl'>): string {
  const address = baseUrl?.trim() || providers.find(({ id }) => id === provider)?.baseUrl;
  if (address) return address;
  const { label } = providerOf(provider);
  throw new LLMError('LLM_HTTP_ERROR', `No address is set for ${label}. Run *Towpath: Use an Endpoint*.`);
}

/**
 * The origin (`https://api.openai.com`) that a key for this choice belongs to and may be sent to; undefined when there
 * is no usable address.
 */
export function keyOrigin(choice: Pick<ProviderChoice, 'provider' | 'baseUrl'>): string | undefined {
  const address = choice.baseUrl?.trim() || providers.find(({ id }) => id === choice.provider)?.baseUrl;
  return address && URL.canParse(address) ? new URL(address).origin : undefined;
}
