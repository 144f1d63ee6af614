import type { TokenUsage } from '../../protocol/content/messages.ts';

const maxTokens = 1e12;

const isCount = (count: number | undefined): count is number => count !== undefined && count >= 0 && count <= maxTokens;

/**
 * Returns the reported counts that can be stored and summed. A count that is negative, not finite or too large is dropped. Returns
 * undefined if the prompt, completion or total count is invalid.
 */
export function usableUsage(usage: TokenUsage | undefined): TokenUsage | undefined {
  if (!usage || ![usage.promptTokens, usage.completionTokens, usage.totalTokens].every(isCount)) return undefined;
  if (Object.values(usage).every((count) => count === undefined || isCount(count))) return usage;
  const { promptTokens, completionTokens, totalTokens, cachedTokens, cacheWriteTokens, thinkingTokens, cost } = usage;
  return {
    promptTokens,
    completionTokens,
    totalTokens,
    ...(isCount(cachedTokens) && { cachedTokens }),
    ...(isCount(cacheWriteTokens) && { cacheWriteTokens }),
    ...(isCount(thinkingTokens) && { thinkingTokens }),
    ...(isCount(cost) && { cost }),
  };
}
