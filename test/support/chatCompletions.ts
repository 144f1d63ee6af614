import { createAdapter } from '../../src/llm/adapter/adapter.ts';
import type { ChatRequest, LLMClient } from '../../src/llm/core/client.ts';
import { LLMError } from '../../src/llm/core/errors.ts';
import { createLLMClient } from '../../src/llm/createClient.ts';
import type { ProviderId } from '../../src/llm/models/providers.ts';
import {
  fromOpenAIWireMessages,
  fromOpenAIWireTools,
  type OpenAIWireReply,
  type OpenAIWireUsage,
  toOpenAIWireReply,
  toOpenAIWireUsage,
} from '../../src/llm/openai/messages.ts';
import type { ErrorInfo } from '../../src/protocol/content/messages.ts';
import { message } from '../../src/protocol/text/l10n.ts';
import { messageOf, toErrorInfo } from '../../src/protocol/text/localized.ts';

export interface ChatCompletionsConfig {
  provider: ProviderId;
  /** Empty: the provider's own. */
  baseUrl: string;
  model: string;
  /** Empty: none is sent. */
  apiKey: string;
  /** For the whole call with its retries; 0: no limit. */
  timeoutSeconds: number;
}

export interface ChatCompletionsResult {
  success: boolean;
  /** With `success: false`: what had been said when the answer broke off, without its calls. */
  message?: OpenAIWireReply;
  usage?: OpenAIWireUsage;
  /** Present whenever `success` is false; the codes are `LLMErrorCode`, or `ENGINE_ABORTED` after a stop. */
  error?: ErrorInfo;
  /** Stopped by the signal. */
  aborted?: boolean;
}

export interface ChatCompletionsRequest {
  /** As OpenAI has them: `role`, `content`, `tool_calls`, `tool_call_id`. */
  messages: unknown[];
  /** As OpenAI has them: `{type: 'function', function: {name, description, parameters}}`. */
  tools?: unknown[];
  config: ChatCompletionsConfig;
  signal?: AbortSignal;
}

/**
 * One model call with OpenAI's messages in and out, whatever protocol the provider speaks. Never throws.
 * `clientFor` makes the client; the one it makes for a choice may as well be local.
 */
export async function chatCompletions(
  { messages, tools = [], config, signal = new AbortController().signal }: ChatCompletionsRequest,
  clientFor: (config: ChatCompletionsConfig) => LLMClient = createLLMClient,
): Promise<ChatCompletionsResult> {
  try {
    const request: ChatRequest = {
      model: config.model,
      messages: fromOpenAIWireMessages(messages),
      ...(tools.length > 0 && { tools: fromOpenAIWireTools(tools) }),
    };
    const totalMs = Math.max(0, config.timeoutSeconds * 1000);
    const result = await createAdapter(clientFor(config), { totalMs }).complete(request, { signal });
    const usage = result.usage && { usage: toOpenAIWireUsage(result.usage) };
    if (result.success && result.message)
      return { success: true, message: toOpenAIWireReply(result.message), ...usage };
    const { toolCalls: _, ...said } = result.message ?? { role: 'assistant', content: '' };
    return {
      success: false,
      ...(result.message && { message: toOpenAIWireReply(said) }),
      ...usage,
      error: result.error ?? { code: 'ENGINE_ABORTED', ...toErrorInfo(message('Stopped.')) },
      ...(result.aborted && { aborted: true }),
    };
  } catch (error) {
    const info = error instanceof LLMError ? error.toInfo() : { code: 'UNKNOWN', ...toErrorInfo(messageOf(error)) };
    return { success: false, error: info };
  }
}
