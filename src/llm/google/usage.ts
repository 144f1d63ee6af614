import * as z from 'zod';
import type { TokenUsage } from '../../protocol/content/messages.ts';
import { countField } from '../transport/wireFields.ts';

export const usageSchema = z.object({
  promptTokenCount: countField,
  candidatesTokenCount: countField,
  totalTokenCount: countField,
  cachedContentTokenCount: countField,
  thoughtsTokenCount: countField,
  toolUsePromptTokenCount: countField,
});

/**
 * Each event has the whole count so far: the last one is right, and they are never summed. The prompt includes what
 * was cached; Google's own tools and the thinking are counted apart there, and are part of prompt and completion here.
 */
export function toUsage(told: z.infer<typeof usageSchema> | undefined): TokenUsage | undefined {
  if (!told) return undefined;
  const { promptTokenCount: prompt, candidatesTokenCount: candidates, totalTokenCount: total } = told;
  if (prompt === undefined && candidates === undefined && total === undefined) return undefined; // `trafficType` alone
  const { cachedContentTokenCount: cachedTokens, thoughtsTokenCount: thinkingTokens } = told;
  const promptTokens = (prompt ?? 0) + (told.toolUsePromptTokenCount ?? 0);
  const completionTokens = (candidates ?? 0) + (thinkingTokens ?? 0);
  return {
    promptTokens,
    completionTokens,
    totalTokens: total ?? promptTokens + completionTokens,
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(thinkingTokens !== undefined && { thinkingTokens }),
  };
}
