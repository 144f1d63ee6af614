import assert from 'node:assert/strict';
import { lookUpByModel } from '../../../src/llm/models/lookupByModel.ts';
import { type Price, withUsageCost } from '../../../src/llm/models/prices.ts';
import type { TokenUsage } from '../../../src/protocol/content/messages.ts';

describe('the price of a model', () => {
  const [all, mini, exact] = [1, 2, 3].map((input) => ({ input, output: 10 }));
  const prices = { 'openai/*': all!, 'openai/gpt-mini*': mini!, 'openai/gpt-mini-1': exact! };
  const cases: [modelId: string, price: object | undefined][] = [
    ['openai/other', all],
    ['openai/gpt-mini-2', mini],
    ['openai/gpt-mini-1', exact],
    ['anthropic/other', undefined],
    ['constructor', undefined],
  ];
  for (const [modelId, price] of cases)
    it(`${modelId}: ${price ? JSON.stringify(price) : 'unknown'}`, () =>
      assert.equal(lookUpByModel(prices, modelId), price));

  const usage = { promptTokens: 1_000_000, completionTokens: 500_000, totalTokens: 1_500_000 };
  const read = { ...usage, cachedTokens: 400_000 };
  const written = { ...read, cacheWriteTokens: 200_000 };
  const costs: [says: string, usage: TokenUsage, price: Price, cost: number][] = [
    ['all tokens alike, where none was cached', usage, { input: 3, output: 15, cached: 0.3 }, 3 + 7.5],
    ['cached tokens at their own price', read, { input: 3, output: 15, cached: 0.3 }, 1.8 + 0.12 + 7.5],
    ['cached tokens as the others, without one', read, { input: 3, output: 15 }, 3 + 7.5],
    [
      'tokens that were kept at theirs',
      written,
      { input: 4, output: 15, cached: 1, cacheWrite: 6 },
      1.6 + 0.4 + 1.2 + 7.5,
    ],
    ['tokens that were kept at a quarter more, without one', written, { input: 4, output: 2 }, 1.6 + 1.6 + 1 + 1],
  ];
  for (const [says, used, price, cost] of costs)
    it(`counts ${says}`, () => assert.equal(withUsageCost(used, price).cost?.toFixed(9), cost.toFixed(9)));

  it('is not guessed', () => assert.deepEqual(withUsageCost(usage, undefined), usage));
});
