import * as z from 'zod';
import type { TokenUsage } from '../../protocol/content/messages.ts';
import { countField } from '../transport/wireFields.ts';

export const usageSchema = z.object({
  input_tokens: countField,
  output_tokens: countField,
  cache_read_input_tokens: countField,
  cache_creation_input_tokens: countField,
  output_tokens_details: z.object({ thinking_tokens: countField }).optional().catch(undefined),
});
export type WireUsage = z.infer<typeof usageSchema>;

/** Merges usage counts. A later count replaces an earlier count and is never added. Absent and null counts are ignored. */
export function merged(before: WireUsage | undefined, told: WireUsage | undefined): WireUsage | undefined {
  if (!told) return before;
  return { ...before, ...Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined)) };
}

/** Converts Anthropic's usage. `input_tokens` excludes tokens read from the cache or written to the cache. */
export function toUsage(usage: WireUsage | undefined): { usage?: TokenUsage } {
  if (!usage) return {};
  const { cache_read_input_tokens: cachedTokens, cache_creation_input_tokens: cacheWriteTokens } = usage;
  const thinkingTokens = usage.output_tokens_details?.thinking_tokens;
  const promptTokens = (usage.input_tokens ?? 0) + (cachedTokens ?? 0) + (cacheWriteTokens ?? 0);
  const completionTokens = usage.output_tokens ?? 0;
  return {
    usage: {
      promptTokens,
      completionTokens,
      totalTokens: promptTokens + completionTokens,
      ...(cachedTokens !== undefined && { cachedTokens }),
      ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
      ...(thinkingTokens !== undefined && { thinkingTokens }),
    },
  };
}
