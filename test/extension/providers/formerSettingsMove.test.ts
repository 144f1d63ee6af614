import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  type FormerSettingValues,
  planFormerSettingsMove,
} from '../../../src/extension/providers/formerSettingsMove.ts';
import { providerSettings } from '../../../src/extension/providers/providerSettings.ts';
import {
  type FormerSettingName,
  type FormerSettings,
  formerSettingNames,
  formerSettingSchemas,
} from '../../../src/extension/settings/formerSettings.ts';
import { lookUpByModel } from '../../../src/llm/models/lookupByModel.ts';
import { providers } from '../../../src/llm/models/providers.ts';

const price = (input: number) => ({ input, output: input });
const models = ['gpt-5', 'gpt-5-mini', 'gpt-4', 'o3', 'qwen3', 'a/b', 'gpt*'];

/** What applies to each model, as the program sees it: also to models of no provider, which have prices at most. */
function effective(values: FormerSettingValues, written: unknown) {
  const former = Object.fromEntries(
    formerSettingNames.map((name) => [name, formerSettingSchemas[name].parse(values[name])]),
  ) as FormerSettings;
  const ofProviders = providers.map(({ id }) => {
    const { baseUrl, priceOf, windowOf, ...rest } = providerSettings({ ...former, providers: written }, id);
    // The blanks around an address are no part of it.
    const address = baseUrl.trim() || baseUrl;
    return { id, ...rest, address, models: models.map((model) => [model, priceOf(model), windowOf(model)]) };
  });
  return { ofProviders, local: models.map((model) => lookUpByModel(former.prices, `local/${model}`)) };
}

/** Moves, as the window does it, and sees to it that nothing else applies then. */
function move(values: FormerSettingValues, written: unknown) {
  const plan = planFormerSettingsMove(values, written);
  const left = Object.fromEntries(
    Object.entries(values).filter(([name]) => !plan.moved.includes(name as FormerSettingName)),
  );
  const before = effective(values, written);
  assert.deepEqual(effective(values, plan.providers), before, 'where the old settings could not be removed');
  assert.deepEqual(effective(left, plan.providers), before);
  return plan;
}

const groq = { groq: { headers: { 'x-a': 'b' } } };
const cases: [says: string, values: FormerSettingValues, written: unknown, after: unknown, staying?: [FormerSettingName, key?: string][]][] = [
  ['nothing', {}, undefined, undefined],
  ['an address of one’s own', { 'endpoint.baseUrl': 'http://127.0.0.1:1/v1' }, undefined, { 'openai-compatible': { baseUrl: 'http://127.0.0.1:1/v1' } }],
  ['an address beside what the entry says already', { baseUrls: { groq: 'https://g.example' } }, groq, { groq: { ...groq.groq, baseUrl: 'https://g.example' } }],
  ['an address that the entry has another for', { baseUrls: { groq: 'https://g.example' } }, { groq: { baseUrl: 'https://now.example' } }, { groq: { baseUrl: 'https://now.example' } }],
  ['an address in place of blanks', { baseUrls: { groq: 'https://g.example' } }, { groq: { baseUrl: ' ' } }, { groq: { baseUrl: 'https://g.example' } }],
  ['an address that is none, which stays an error', { baseUrls: { groq: 'g.example' } }, {}, { groq: { baseUrl: 'g.example' } }],
  ['nothing in the place of an address', { 'endpoint.baseUrl': '', baseUrls: { groq: '' } }, groq, groq],
  ['an address of blanks, which would become none', { baseUrls: { groq: ' ' } }, {}, {}, [['baseUrls', 'groq']]],
  ['an address of no provider', { baseUrls: { groq: 'https://g.example', gateway: 'https://x.example' } }, {}, {}, [['baseUrls', 'gateway']]],
  ['an address that never counted', { baseUrls: { 'openai-compatible': 'https://x.example' } }, {}, {}, [['baseUrls', 'openai-compatible']]],
  ['what is no address', { baseUrls: { groq: 5 }, 'endpoint.baseUrl': 'g.example' }, {}, {}, [['endpoint.baseUrl'], ['baseUrls']]],
  ['an entry that is wrong already', { baseUrls: { groq: 'https://g.example' } }, { groq: { odd: 1 } }, { groq: { odd: 1 } }, [['baseUrls', 'groq']]],
  ['a value that is no object', { 'ollama.contextSize': 4096 }, 'text', 'text', [['ollama.contextSize']]],
  ['a version', { 'azure.apiVersion': '2024-10-21' }, undefined, { azure: { apiVersion: '2024-10-21' } }],
  ['a version that the entry has another for', { 'azure.apiVersion': '2024-10-21' }, { azure: { apiVersion: 'v1' } }, { azure: { apiVersion: 'v1' } }],
  ['a version that is too long for an entry', { 'azure.apiVersion': 'v'.repeat(101) }, undefined, undefined, [['azure.apiVersion']]],
  ['a window', { 'ollama.contextSize': 4096 }, undefined, { ollama: { window: 4096 } }],
  ['a window for all others', { 'ollama.contextSize': 4096 }, { ollama: { window: { qwen3: 8192 } } }, { ollama: { window: { qwen3: 8192, '*': 4096 } } }],
  ['a window where there is one for all', { 'ollama.contextSize': 4096 }, { ollama: { window: 8192 } }, { ollama: { window: 8192 } }],
  ['a window that is none', { 'ollama.contextSize': 5 }, undefined, undefined, [['ollama.contextSize']]],
  ['prices of two', { prices: { 'openai/*': price(1), 'openai/gpt-5': price(2), 'groq/a/b': price(3) } }, undefined, { openai: { prices: { '*': price(1), 'gpt-5': price(2) } }, groq: { prices: { 'a/b': price(3) } } }],
  ['prices that the entry’s own cover', { prices: { 'openai/gpt-5*': price(1), 'openai/gpt-5': price(2), 'openai/*': price(3) } }, { openai: { prices: { 'gpt*': price(9) } } }, { openai: { prices: { 'gpt*': price(9), '*': price(3) } } }],
  ['a price of several', { prices: { 'openai/*': price(1), '*': price(2) } }, undefined, undefined, [['prices', '*']]],
  ['a price of a name that goes on', { prices: { 'openai*': price(1) } }, undefined, undefined, [['prices', 'openai*']]],
  ['a price of models of this machine', { prices: { 'local/*': price(1) } }, undefined, undefined, [['prices', 'local/*']]],
  ['a price that is none', { prices: { 'openai/*': { input: 1 } } }, undefined, undefined, [['prices']]],
]; // biome-ignore format: a table

describe('settings of before, moved to towpath.providers', () => {
  for (const [says, values, written, after, staying = []] of cases)
    it(`${says}: ${staying.length === 0 ? 'is moved' : 'stays'}, and nothing else applies`, () => {
      const plan = move(values, written);
      assert.deepEqual(plan.providers, after);
      assert.deepEqual(
        plan.staying,
        staying.map(([name, key]) => ({ name, ...(key !== undefined && { key }) })),
      );
      const stay = staying.map(([name]) => name);
      assert.deepEqual(
        plan.moved,
        formerSettingNames.filter((name) => name in values && !stay.includes(name)),
      );
      assert.deepEqual(planFormerSettingsMove({}, plan.providers), { providers: after, moved: [], staying: [] });
    });

  it('whatever stands there, what applies to a model stays the same', () => {
    const ids = fc.constantFrom('openai', 'openai-compatible', 'azure', 'ollama', 'groq');
    const address = fc.constantFrom('', ' ', 'https://a.example', ' https://b.example ', 'c.example');
    const names = fc.constantFrom('*', 'gpt-5', 'gpt-5*', 'gpt*', 'gpt**', 'o3', 'a/b', 'a*', '');
    const prices = (key: fc.Arbitrary<string>) => fc.dictionary(key, fc.integer({ min: 0, max: 9 }).map(price));
    const tokens = fc.integer({ min: 1024, max: 9999 });
    const version = fc.constantFrom('v1', '2024-10-21');
    const odd = <Value>(value: fc.Arbitrary<Value>) => fc.oneof({ weight: 9, arbitrary: value }, fc.constant(5));
    const values = fc.record(
      {
        'endpoint.baseUrl': odd(address),
        baseUrls: odd(fc.dictionary(fc.oneof(ids, fc.constant('gateway')), address)),
        'azure.apiVersion': odd(fc.oneof(version, fc.constant(''))),
        'ollama.contextSize': odd(tokens),
        prices: odd(
          prices(
            fc
              .tuple(ids, names)
              .map((parts) => parts.join('/'))
              .chain((key) => fc.constantFrom(key, key, key, '*', 'o*')),
          ),
        ),
      },
      { requiredKeys: [] },
    );
    const entry = fc.record(
      {
        baseUrl: address,
        apiVersion: version,
        window: fc.oneof(tokens, fc.dictionary(names, tokens)),
        prices: prices(names),
        headers: fc.constantFrom({ 'x-a': 'b' }, 5),
      },
      { requiredKeys: [] },
    );
    const written = fc.oneof(fc.constant(undefined), odd(fc.dictionary(ids, entry)));
    fc.assert(
      fc.property(values, written, (values, written) => void move(values, written)),
      { numRuns: 1000 },
    );
  });
});
