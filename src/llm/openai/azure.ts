import { message } from '../../protocol/text/l10n.ts';
import type { LLMClient } from '../core/client.ts';
import type { ClientOptions } from '../transport/endpoint.ts';
import { createOpenAIClient, type OpenAIClientOptions } from './client.ts';

interface AzureClientOptions
  extends Pick<ClientOptions, 'apiKey' | 'headers' | 'secrets' | 'onNote' | 'fetchLimits'>,
    Pick<OpenAIClientOptions, 'api'> {
  /** The resource: `https://name.openai.azure.com`. What the portal shows behind it (`/openai/…`) is taken off. */
  endpoint: string;
  /** What the model is deployed as; without it the request's model is taken for its name. */
  deployment?: string;
  /**
   * A dated version (`2024-10-21`) takes the route of deployments; without it, or with `v1`, the route without versions,
   * which is the one that has the Responses API.
   */
  apiVersion?: string;
}

/** A client for OpenAI's models at Azure: the same wire under other addresses, the key in the header `api-key`. */
export function createAzureClient(options: AzureClientOptions): LLMClient {
  const { deployment, api, apiKey, headers, secrets, onNote, fetchLimits } = options;
  const resource = `${options.endpoint
    .trim()
    .replace(/[?#].*$/, '')
    .replace(/\/openai(\/.*)?$/, '')
    .replace(/\/+$/, '')}/openai`;
  const version = options.apiVersion?.trim() || 'v1';
  const dated = version === 'v1' || version === 'preview' ? undefined : `api-version=${encodeURIComponent(version)}`;
  const client = createOpenAIClient({
    provider: 'azure',
    label: 'Azure OpenAI',
    baseUrl: `${resource}/v1`,
    keyHeader: 'api-key',
    notFoundHint: message('Check the endpoint, the name of the deployment and the API version.'),
    flags: { completionTokens: true, callIds: 'forty' },
    api,
    apiKey,
    headers,
    secrets,
    onNote,
    fetchLimits,
    ...(dated && {
      chatUrl: (model: string) =>
        `${resource}/deployments/${encodeURIComponent(deployment || model)}/chat/completions?${dated}`,
      modelsUrl: `${resource}/models?${dated}`,
    }),
  });
  if (!deployment) return client;
  return {
    chatStream: (request, signal) => client.chatStream({ ...request, model: deployment }, signal),
    chat: (request, signal) => client.chat({ ...request, model: deployment }, signal),
    /** Azure lists what could be deployed, not what is; asking still shows that the address and the key are right. */
    async listModels(signal) {
      await client.listModels?.(signal);
      return [{ id: deployment }];
    },
  };
}
