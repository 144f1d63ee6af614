import type { TokenUsage } from '../../protocol/content/messages.ts';

/** Larger than any count of tokens; a server that reports more has made a mistake. */
const maxTokens = 1e12;

const isCount = (count: number | undefined): count is number => count !== undefined && count >= 0 && count <= maxTokens;

/**
 * Returns the counts that a server reported and that can be stored and summed. A count that is negative, not finite or larger than
 * any context window is absent; undefined if the prompt, the completion or their total is.
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
