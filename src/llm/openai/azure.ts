import { message } from '../../protocol/text/l10n.ts';
import type { LLMClient } from '../core/client.ts';
import type { LLMClientOptions } from '../transport/endpoint.ts';
import { createOpenAIClient, type OpenAIClientOptions } from './client.ts';

interface AzureClientOptions
  extends Pick<LLMClientOptions, 'apiKey' | 'headers' | 'secrets' | 'onNote' | 'fetchLimits'>,
    Pick<OpenAIClientOptions, 'api'> {
  /** URL of the resource: `https://name.openai.azure.com`. A suffix from the portal (`/openai/…`) is removed. */
  endpoint: string;
  /** Name of the deployment; absent: the requested model is the name. */
  deployment?: string;
  /** A dated version (`2024-10-21`) selects the deployment route; absent or `v1`: the versionless route with the Responses API. */
  apiVersion?: string;
}

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
    /** Azure lists deployable models, not deployments; the request still verifies the address and key. */
    async listModels(signal) {
      await client.listModels?.(signal);
      return [{ id: deployment }];
    },
  };
}
