import { message } from '../protocol/text/l10n.ts';
import { linked } from '../protocol/text/links.ts';
import { createAnthropicClient } from './anthropic/client.ts';
import type { LLMClient } from './core/client.ts';
import { LLMError } from './core/errors.ts';
import { createGoogleClient } from './google/client.ts';
import { type ProviderPreset, providerPresets } from './models/providerPresets.ts';
import { keyHeaderOf, labelOf, organizationHeaderOf, type ProviderId, providers } from './models/providers.ts';
import { createOllamaClient } from './ollama/client.ts';
import { createAzureClient } from './openai/azure.ts';
import { createOpenAIClient } from './openai/client.ts';
import { withRescue } from './textCalls/textCalls.ts';
import type { FetchLimits } from './transport/http.ts';

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
      return createOpenAIClient({ ...openAI, flags: (providerPresets[provider] as ProviderPreset).flags });
  }
}

/** Throws for a header that says what the key says: both would be sent, and one of them be believed. */
function headersOf({ provider, apiKey, organization, headers }: ProviderChoice, label: string): Record<string, string> {
  const keyHeader = keyHeaderOf(provider);
  if (apiKey && headers?.[keyHeader] !== undefined) {
    const problem = linked(
      message(
        'The API key of {0} is sent in the header {1}, which towpath.providers also sets. Remove the header, or delete the key (*Towpath: Delete API Key*).',
        labelOf({ label }),
        keyHeader,
      ),
      { commands: ['towpath.deleteKey'], setting: 'towpath.providers' },
    );
    throw new LLMError('LLM_AUTH_FAILED', problem);
  }
  const inHeader = organization && organizationHeaderOf(provider);
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
  const label = labelOf(providerOf(provider));
  throw new LLMError(
    'LLM_HTTP_ERROR',
    linked(message('No address is set for {0}. Run *Towpath: Connect to a Provider*.', label), {
      commands: ['towpath.useEndpoint'],
    }),
  );
}
