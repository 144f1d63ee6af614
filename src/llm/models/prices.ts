import * as z from 'zod';
import type { TokenUsage } from '../../protocol/content/messages.ts';

const dollars = z.number().nonnegative();

/**
 * Prices in US dollars per million tokens. `cached`: prompt tokens read from the provider's cache (default: `input`). `cacheWrite`: prompt
 * tokens written to the cache (default: 125 % of `input`, as at Anthropic).
 */
export const priceSchema = z.strictObject({
  input: dollars,
  output: dollars,
  cached: dollars.optional(),
  cacheWrite: dollars.optional(),
});

/** `above`: price of the whole call if the prompt exceeds `tokens`; the last matching entry counts. */
export type Price = z.infer<typeof priceSchema> & {
  above?: (z.infer<typeof priceSchema> & { tokens: number })[];
};

export const freeModelPrice: Price = { input: 0, output: 0 };

export function withUsageCost(usage: TokenUsage, price: Price | undefined): TokenUsage {
  if (!price) return usage;
  const { promptTokens, completionTokens, cachedTokens = 0, cacheWriteTokens = 0 } = usage;
  const {
    input,
    output,
    cached = input,
    cacheWrite = input * 1.25,
  } = price.above?.findLast(({ tokens }) => promptTokens > tokens) ?? price;
  const fresh = Math.max(0, promptTokens - cachedTokens - cacheWriteTokens);
  const prompt = fresh * input + cachedTokens * cached + cacheWriteTokens * cacheWrite;
  return { ...usage, cost: (prompt + completionTokens * output) / 1_000_000 };
}

export function minRequestCost(promptTokens: number, price: Price | undefined): number | undefined {
  const usage = { promptTokens, completionTokens: 1, totalTokens: promptTokens + 1 };
  const fresh = withUsageCost(usage, price).cost;
  const cached = withUsageCost({ ...usage, cachedTokens: promptTokens }, price).cost;
  return fresh === undefined || cached === undefined ? undefined : Math.min(fresh, cached);
}
