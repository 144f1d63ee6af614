import * as z from 'zod';
import type { TokenUsage } from '../../protocol/content/messages.ts';

const dollars = z.number().nonnegative();

/**
 * US dollars for a million tokens. Of the prompt, `cached` is what was read from the provider's cache (without a price
 * as `input`), `cacheWrite` what was kept in it (without one a quarter more than `input`, as Anthropic has it).
 */
export const priceSchema = z.strictObject({
  input: dollars,
  output: dollars,
  cached: dollars.optional(),
  cacheWrite: dollars.optional(),
});

/** `above`: all of a call costs this much where its prompt has more `tokens`; the last one that holds counts. */
export type Price = z.infer<typeof priceSchema> & {
  above?: (z.infer<typeof priceSchema> & { tokens: number })[];
};

/** What nobody is paid for. */
export const free: Price = { input: 0, output: 0 };

/** The usage with what it cost, in US dollars; without a price as it is. */
export function withCost(usage: TokenUsage, price: Price | undefined): TokenUsage {
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

/** What a call with a prompt of so many tokens costs at least, in US dollars: with all of it read from a cache, and one token as its answer. */
export function leastCost(promptTokens: number, price: Price | undefined): number | undefined {
  const usage = { promptTokens, completionTokens: 1, totalTokens: promptTokens + 1 };
  const fresh = withCost(usage, price).cost;
  const cached = withCost({ ...usage, cachedTokens: promptTokens }, price).cost;
  return fresh === undefined || cached === undefined ? undefined : Math.min(fresh, cached);
}
