import { message } from '../../protocol/text/l10n.ts';
import type { ChatRequest } from '../core/client.ts';
import { durationMessage, sleep } from '../core/deadlines.ts';
import { LLMError } from '../core/errors.ts';
import { attachmentTokens } from '../messages/attachments.ts';
import type { RateLimitReservation } from './rateLimit.ts';

export interface RateLimitWait {
  delayMs: number;
  until: number;
}

interface Waiting {
  signal: AbortSignal;
  hurry?: EventTarget;
  onWait?(wait: RateLimitWait): void;
}

/** Waits until the limits allow the request and returns the milliseconds waited. Throws the signal's reason, or `LLMError`. */
export async function waitForRateLimit(
  reservation: RateLimitReservation | undefined,
  deadline: number,
  { signal, hurry, onWait }: Waiting,
): Promise<number> {
  const delayMs = reservation?.waitMs ?? 0;
  if (delayMs === 0) return 0;
  try {
    if (performance.now() + delayMs > deadline) {
      const text = message(
        'The rate limit that is set for this provider requires a wait of {0}, longer than the whole call may take.',
        durationMessage(delayMs),
      );
      throw new LLMError('LLM_RATE_LIMITED', text);
    }
    onWait?.({ delayMs, until: Date.now() + delayMs });
    await sleep(delayMs, signal, hurry);
    return delayMs;
  } catch (error) {
    reservation?.cancel();
    throw error;
  }
}

/**
 * Estimates the tokens of a request before the provider has counted: four characters per token, plus attachments, plus the maximum reply.
 */
export function estimateTokens({ systemPrompt = '', messages, tools = [], maxTokens = 0 }: ChatRequest): number {
  let characters = systemPrompt.length + JSON.stringify(tools).length;
  for (const message of messages) {
    characters += message.content.length;
    if (message.role === 'assistant') characters += JSON.stringify(message.toolCalls ?? []).length;
    if (message.role === 'tool') for (const { content } of message.toolResults) characters += content.length;
  }
  return Math.ceil(characters / 4 + attachmentTokens(messages)) + maxTokens;
}
