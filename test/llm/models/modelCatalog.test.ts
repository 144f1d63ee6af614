import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { catalogDate, findCatalogEntry } from '../../../src/llm/models/modelCatalog.ts';
import { withUsageCost } from '../../../src/llm/models/prices.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const source = JSON.parse(readFileSync(path.join(root, 'src/llm/models/catalog.json'), 'utf8'));
const openai = 'https://api.openai.com/v1';
const compatible = 'https://generativelanguage.googleapis.com/v1beta/openai';

describe('what is known of models when Towpath is packaged', () => {
  it('is of the package that the lock file names, and says of which day', () => {
    const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
    const { version, integrity } = packages[`node_modules/${source.source.package}`];
    assert.deepEqual([source.source.version, source.source.integrity], [version, integrity], 'npm run catalog');
    assert.match(catalogDate, /^20\d\d-\d\d-\d\d$/);
  });

  const known: [says: string, address: string, model: string, input: number | undefined, window: number | undefined][] = [
    ['a model at its maker’s', openai, 'gpt-4o', 2.5, 128_000],
    ['by a name of a day', openai, 'gpt-4o-2024-08-06', 2.5, 128_000],
    ['in whatever case', openai, 'GPT-4o', 2.5, 128_000],
    ['of a day that is not listed', 'https://api.anthropic.com', 'claude-opus-5-20301231', 5, 1_000_000],
    ['by the provider’s other interface', compatible, 'gemini-2.5-flash', 0.3, 1_048_576],
    ['in a company’s own place', 'https://mine.openai.azure.com', 'gpt-4o', 2.5, 128_000],
    ['behind a preset', 'https://api.x.ai/v1', 'grok-4', 3, 256_000],
    ['a model that is not listed', openai, 'gpt-99', undefined, undefined],
    ['the same name at another address', 'https://gateway.example/v1', 'gpt-4o', undefined, undefined],
    ['an address that only begins so', 'https://api.openai.com.evil.example/v1', 'gpt-4o', undefined, undefined],
    ['an address that has it in its path', 'https://evil.example/https://api.openai.com', 'gpt-4o', undefined, undefined],
    ['without encryption', 'http://api.openai.com/v1', 'gpt-4o', undefined, undefined],
    ['this machine', 'http://127.0.0.1:1234/v1', 'gpt-4o', undefined, undefined],
    ['no address', '', 'gpt-4o', undefined, undefined],
    ['a name of every object', openai, 'constructor', undefined, undefined],
  ]; // biome-ignore format: a table
  for (const [says, address, model, input, window] of known)
    it(`${says}: ${input === undefined ? 'no price' : `$${input}`}`, () => {
      const found = findCatalogEntry(address, model);
      assert.deepEqual([(found?.price as { input?: number })?.input, found?.window], [input, window]);
    });

  it('counts what was read from the cache as such', () => {
    const { price } = findCatalogEntry('https://api.anthropic.com', 'claude-opus-5')!;
    const usage = { promptTokens: 1_000_000, completionTokens: 0, totalTokens: 1_000_000, cachedTokens: 1_000_000 };
    assert.deepEqual(
      [withUsageCost({ ...usage, cachedTokens: 0 }, price).cost, withUsageCost(usage, price).cost],
      [5, 0.5],
    );
  });

  it('counts all of a long prompt as long ones are', () => {
    const { price } = findCatalogEntry(compatible, 'gemini-2.5-pro')!;
    const of = (promptTokens: number) =>
      withUsageCost({ promptTokens, completionTokens: 0, totalTokens: promptTokens }, price).cost;
    assert.deepEqual([of(200_000), of(200_001)!.toFixed(2)], [0.25, '0.50']);
  });

  it('knows prices that begin later, or count at some hours', () => {
    const at = (address: string, model: string, time: string) =>
      findCatalogEntry(address, model, new Date(time))?.price?.input;
    assert.equal(at(compatible, 'gemini-3.6-flash', '2026-12-31T23:59:59Z'), 0.75);
    assert.equal(at(compatible, 'gemini-3.6-flash', '2027-01-01T00:00:00Z'), 1.5);
    assert.equal(at('https://api.deepseek.com', 'deepseek-chat', '2026-11-23T12:00:00Z'), 0.27);
    assert.equal(at('https://api.deepseek.com', 'deepseek-chat', '2026-11-23T20:00:00Z'), 0.135);
  });

  it('has no price that is no number, and no window that is none', () => {
    for (const { models } of source.providers)
      for (const { name, window, price } of models) {
        assert.ok(new RegExp(name, 'i'));
        assert.ok(window === undefined || window > 0, name);
        for (const one of Array.isArray(price) ? price : price ? [price] : [])
          assert.ok(one.input >= 0 && one.output >= 0, name);
      }
  });
});
