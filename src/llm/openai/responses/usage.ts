import * as z from 'zod';
import type { TokenUsage } from '../../../protocol/content/messages.ts';
import { countField } from '../../transport/wireFields.ts';

const usageSchema = z.object({
  input_tokens: countField,
  output_tokens: countField,
  total_tokens: countField,
  input_tokens_details: z.object({ cached_tokens: countField, cache_write_tokens: countField }).catch({}),
  output_tokens_details: z.object({ reasoning_tokens: countField }).catch({}),
});

/** Converts usage: input includes cached tokens, output includes reasoning. */
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
