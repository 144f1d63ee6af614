import type { LocalizableText } from '../../protocol/text/localized.ts';
import type { ChatRequest } from '../core/client.ts';
import type { LLMError } from '../core/errors.ts';
import type { FetchLimits, HttpAnswer } from '../transport/http.ts';
import type { Endpoint, ProviderErrorDetails } from '../transport/providerErrors.ts';
import type { ReplyReader } from '../transport/replyStream.ts';

export interface OpenAIConnection {
  provider: string;
  endpoint: Endpoint;
  headers: Record<string, string>;
  limits: FetchLimits;
  note(text: string): void;
}

export interface ProviderResponse {
  answer: HttpAnswer;
  reader: ReplyReader;
  warnings: readonly LocalizableText[];
  /** Learns from an error inside the answer; returns the error to throw, possibly retryable. */
  learn?(error: LLMError): LLMError;
}

export type SendOpenAIRequest = (request: ChatRequest, signal: AbortSignal | undefined) => Promise<ProviderResponse>;

/**
 * Returns the provider's message if the request itself was rejected. 422: FastAPI servers (Mistral, vLLM) reject a parameter. 500:
 * llama-server rejects by the chat template.
 */
export function requestRejection(error: unknown): ProviderErrorDetails | undefined {
  const { code, status, details } = error as Partial<LLMError>;
  if (code !== 'LLM_HTTP_ERROR') return undefined;
  const refusal = details as ProviderErrorDetails;
  const isTemplate = status === 500 && /jinja|template/i.test(refusal.words);
  return status === 400 || status === 422 || isTemplate ? refusal : undefined;
}
