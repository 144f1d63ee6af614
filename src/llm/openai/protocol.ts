import type { LocalizableText } from '../../protocol/text/localized.ts';
import type { ChatRequest } from '../core/client.ts';
import type { LLMError } from '../core/errors.ts';
import type { FetchLimits, HttpAnswer } from '../transport/http.ts';
import type { Endpoint, ProviderText } from '../transport/providerErrors.ts';
import type { ReplyReader } from '../transport/replyStream.ts';

/** What OpenAI's two protocols, chat completions and Responses, are spoken through. */
export interface Connection {
  /** The provider's id: `openai`, `openai-compatible`, a preset's. */
  provider: string;
  endpoint: Endpoint;
  headers: Record<string, string>;
  limits: FetchLimits;
  /** Told once each. */
  note(text: string): void;
}

/** A good answer, and who reads it. */
export interface Asked {
  answer: HttpAnswer;
  reader: ReplyReader;
  /** Told before the reply. */
  warnings: readonly LocalizableText[];
  /** What an error within the answer teaches: the one to throw in its place, which may be worth another try. */
  learn?(error: LLMError): LLMError;
}

export type Ask = (request: ChatRequest, signal: AbortSignal | undefined) => Promise<Asked>;

/**
 * The provider's words in a refusal of the request itself. 422: servers built on FastAPI (Mistral's, vLLM's) refuse a
 * parameter with it. 500: llama-server what a chat template refuses.
 */
export function refusalIn(error: unknown): ProviderText | undefined {
  const { code, status, details } = error as Partial<LLMError>;
  if (code !== 'LLM_HTTP_ERROR') return undefined;
  const refusal = details as ProviderText;
  const isTemplate = status === 500 && /jinja|template/i.test(refusal.words);
  return status === 400 || status === 422 || isTemplate ? refusal : undefined;
}
