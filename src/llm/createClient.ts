import { message } from '../protocol/text/l10n.ts';
import { withMessageLinks } from '../protocol/text/links.ts';
import { createAnthropicClient } from './anthropic/client.ts';
import type { LLMClient } from './core/client.ts';
import { LLMError } from './core/errors.ts';
import { createGoogleClient } from './google/client.ts';
import { type ProviderPreset, providerPresets } from './models/providerPresets.ts';
import {
  apiKeyHeaderName,
  organizationHeaderName,
  type ProviderId,
  providerLabel,
  providers,
} from './models/providers.ts';
import { createOllamaClient } from './ollama/client.ts';
import { createAzureClient } from './openai/azure.ts';
import { createOpenAIClient } from './openai/client.ts';
import { withTextToolCallParsing } from './textCalls/textCalls.ts';
import type { FetchLimits } from './transport/http.ts';

export interface ProviderChoice {
  provider: ProviderId;
  baseUrl?: string;
  apiKey?: string;
  model: string;
  azure?: { deployment?: string; apiVersion?: string };
  /** `contextSize` in tokens; `keepAlive` in seconds or in Ollama's format (`5m`). */
  ollama?: { contextSize?: number; keepAlive?: string | number };
  /** Headers of every request, by lower-case name. `secrets` are their confidential parts, redacted in every message. */
  headers?: Record<string, string>;
  secrets?: readonly string[];
  organization?: string;
  /** Forces the Responses API for every model of an OpenAI-compatible provider; absent: only for models that need the API. */
  api?: 'responses';
  fetchLimits?: Partial<FetchLimits>;
  onNote?(note: string): void;
}

/**
 * Creates the client for the user's choice. Reads text calls for every provider. Throws `LLMError` if the address is missing or the
 * provider is unknown.
 */
export function createLLMClient(choice: ProviderChoice): LLMClient {
  return withTextToolCallParsing(createPlainClient(choice));
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
      return createOpenAIClient({ ...openAI, flags: (providerPresets[provider] as ProviderPreset).flags });
  }
}

/** Builds the headers. Throws if a header duplicates the API key header: both would be sent. */
function headersOf({ provider, apiKey, organization, headers }: ProviderChoice, label: string): Record<string, string> {
  const keyHeader = apiKeyHeaderName(provider);
  if (apiKey && headers?.[keyHeader] !== undefined) {
    const problem = withMessageLinks(
      message(
        'The API key of {0} is sent in the header {1}, which towpath.providers also sets. Remove the header, or delete the key (*Towpath: Delete API Key*).',
        providerLabel({ label }),
        keyHeader,
      ),
      { commands: ['towpath.deleteKey'], setting: 'towpath.providers' },
    );
    throw new LLMError('LLM_AUTH_FAILED', problem);
  }
  const inHeader = organization && organizationHeaderName(provider);
  return { ...(inHeader && { [inHeader]: organization }), ...headers };
}

function providerOf(id: string): { provider: ProviderId; label: string } {
  const found = providers.find((one) => one.id === id);
  if (found) return { provider: found.id, label: found.label };
  const known = providers.map((one) => one.id).join(', ');
  throw new LLMError('UNKNOWN', message('There is no provider called {0}. Choose one of {1}.', id, known));
}

function addressOf({ provider, baseUrl }: Pick<ProviderChoice, 'provider' | 'baseUrl'>): string {
  const address = baseUrl?.trim() || providers.find(({ id }) => id === provider)?.baseUrl;
  if (address) return address;
  const label = providerLabel(providerOf(provider));
  throw new LLMError(
    'LLM_HTTP_ERROR',
    withMessageLinks(message('No address is set for {0}. Run *Towpath: Connect to a Provider*.', label), {
      commands: ['towpath.useEndpoint'],
    }),
  );
}
