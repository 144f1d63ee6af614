import type { ChatRequest } from '../../llm/core/client.ts';
import type { ContextUsage } from '../../protocol/content/contextUsage.ts';
import type { RunConversation } from '../core/loopConversation.ts';
import { nextPromptTokens, promptPrefixTokens, systemPromptTokens, tokensOfTools } from '../core/tokenCount.ts';
import { type PromptTokenParts, promptTokenPartsOf } from './promptMessages.ts';

/** Shares of the context window. Compaction is late and large, because each compaction invalidates the provider's cache. */
export const compactionContextWindowRatio = 0.85;
const leastFull = 0.25;

export const compactionThreshold = (window: number, { maxTokens = 0 }: Omit<ChatRequest, 'messages'>): number =>
  Math.max(window * compactionContextWindowRatio - maxTokens, window * leastFull);

export function contextUsageOf(
  run: RunConversation,
  prefix: Omit<ChatRequest, 'messages'>,
  window: number | undefined,
): ContextUsage {
  const parts = promptTokenPartsOf(run);
  return contextUsageFromParts(parts, prefix, window, nextPromptTokens(run, promptPrefixTokens(prefix) + parts.sent));
}

export const contextUsageFiles = (files: ContextUsage['files']): Pick<ContextUsage, 'files'> =>
  files?.length ? { files } : {};

export function contextUsageFromParts(
  { instructions, leftOut, messages: messageTokens, output, answers, summary }: PromptTokenParts,
  prefix: Omit<ChatRequest, 'messages'>,
  window: number | undefined,
  total: number,
): ContextUsage {
  return {
    total: Math.round(total),
    ...(window !== undefined && { size: window, roomAt: Math.round(compactionThreshold(window, prefix)) }),
    instructions: instructions + systemPromptTokens(prefix),
    tools: tokensOfTools(prefix),
    ...{ words: messageTokens, output, answers, summary, leftOut },
  };
}
