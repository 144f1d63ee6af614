import * as z from 'zod';
import type { TokenUsage } from '../../../protocol/content/messages.ts';
import { count } from '../../transport/wireFields.ts';

const usageSchema = z.object({
  input_tokens: count,
  output_tokens: count,
  total_tokens: count,
  input_tokens_details: z.object({ cached_tokens: count, cache_write_tokens: count }).catch({}),
  output_tokens_details: z.object({ reasoning_tokens: count }).catch({}),
});

/** As sent: input includes what was read from the cache and kept in it, output the reasoning. */
export function toUsage(usage: unknown): { usage?: TokenUsage } {
  const { success, data: told } = usageSchema.safeParse(usage);
  if (!success) return {};
  const { cached_tokens: cachedTokens, cache_write_tokens: cacheWriteTokens } = told.input_tokens_details;
  const { reasoning_tokens: thinkingTokens } = told.output_tokens_details;
  const promptTokens = told.input_tokens ?? 0;
  const completionTokens = told.output_tokens ?? 0;
  return {
    usage: {
      promptTokens,
      completionTokens,
      totalTokens: told.total_tokens ?? promptTokens + completionTokens,
      ...(cachedTokens !== undefined && { cachedTokens }),
      ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
      ...(thinkingTokens !== undefined && { thinkingTokens }),
    },
  };
}
