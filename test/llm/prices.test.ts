import assert from 'node:assert/strict';
import { priceOf, withCost } from '../../src/llm/prices.ts';

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
    it(`${modelId}: ${price ? JSON.stringify(price) : 'unknown'}`, () => assert.equal(priceOf(prices, modelId), price));

  it('counts cached tokens at their own price, and what is not known not at all', () => {
    const usage = { promptTokens: 1_000_000, completionTokens: 500_000, totalTokens: 1_500_000, cachedTokens: 400_000 };
    assert.equal(withCost(usage, { input: 3, output: 15, cached: 0.3 }).cost, 1.8 + 0.12 + 7.5);
    assert.equal(withCost(usage, { input: 3, output: 15 }).cost, 3 + 7.5);
    assert.deepEqual(withCost(usage, undefined), usage);
  });
});
