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
 * Converts usage. Each event contains cumulative counts, so the last event is right and nothing is added. The prompt count includes cached
 * tokens. Tokens of Google's own tools and of thinking are separate and are added to prompt and completion here.
 */
export function toUsage(told: z.infer<typeof usageSchema> | undefined): TokenUsage | undefined {
  if (!told) return undefined;
  const { promptTokenCount: prompt, candidatesTokenCount: candidates, totalTokenCount: total } = told;
  if (prompt === undefined && candidates === undefined && total === undefined) return undefined; // only `trafficType`
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
