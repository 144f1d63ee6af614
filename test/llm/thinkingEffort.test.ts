import assert from 'node:assert/strict';
import { createAdapter } from '../../src/llm/adapter/adapter.ts';
import { learnParameterFallback } from '../../src/llm/anthropic/parameterFallback.ts';
import { toAnthropicWireRequest } from '../../src/llm/anthropic/wire.ts';
import type { ChatRequest } from '../../src/llm/core/client.ts';
import { toThinkingFields } from '../../src/llm/core/thinkingEffort.ts';
import { thinkingConfigOf } from '../../src/llm/google/thinking.ts';
import { type OllamaModel, ollamaThinkingEfforts } from '../../src/llm/ollama/model.ts';
import { toOllamaWireRequest } from '../../src/llm/ollama/wire.ts';
import { openAIResponsesReasoningParameter } from '../../src/llm/openai/responses/wire.ts';
import { thinkingParameter } from '../../src/llm/openai/thinking.ts';
import { supportedThinkingEfforts } from '../../src/llm/supportedThinkingEfforts.ts';
import { type ThinkingEffort, thinkingEfforts } from '../../src/protocol/values/thinkingEffort.ts';
import { user } from '../support/messages.ts';
import { scriptedClient } from '../support/scriptedClient.ts';

const request = (model: string, effort?: ThinkingEffort): ChatRequest => ({
  model,
  messages: [user('hi')],
  ...toThinkingFields(effort),
});
const each = (toWire: (effort: ThinkingEffort) => unknown) => thinkingEfforts.map(toWire);

describe('a thinking effort on the wire', () => {
  it('is a budget in tokens; off is no budget at all', () => {
    assert.deepEqual(each(toThinkingFields), [
      { thinkingOff: true },
      { thinkingBudget: 2048 },
      { thinkingBudget: 8192 },
      { thinkingBudget: 24_576 },
    ]);
    assert.deepEqual(toThinkingFields(undefined), {});
  });

  it('replaces the budget of the settings, which is the default', async () => {
    const client = scriptedClient(['one', 'two', 'three'].map((text) => ({ text })));
    const adapter = createAdapter(client, { thinkingBudget: 4096 });
    for (const effort of [undefined, 'off', 'high'] as const)
      await adapter.complete(request('m', effort), { signal: new AbortController().signal });
    assert.deepEqual(
      client.requests.map(({ thinkingBudget, thinkingOff }) => [thinkingBudget, thinkingOff]),
      [
        [4096, undefined],
        [undefined, true],
        [24_576, undefined],
      ],
    );
  });

  it('of OpenAI is the effort of the same name', () => {
    const flags = { provider: 'openai' };
    assert.deepEqual(
      each((effort) => thinkingParameter(request('gpt-5.1', effort), flags)),
      ['none', 'low', 'medium', 'high'].map((reasoning_effort) => ({ reasoning_effort })),
    );
    assert.deepEqual(
      each((effort) => openAIResponsesReasoningParameter(request('gpt-5.1', effort), {})?.effort),
      ['none', 'low', 'medium', 'high'],
    );
    for (const model of ['gpt-5', 'o3', 'gpt-oss-120b', 'gpt-5.1-codex', 'gpt-4.1'])
      assert.equal(thinkingParameter(request(model, 'off'), flags), undefined, model);
    assert.deepEqual(openAIResponsesReasoningParameter(request('o3', 'off'), {}), { summary: 'auto' });
    assert.equal(thinkingParameter(request('gpt-5.1', 'off'), { ...flags, omit: ['reasoning_effort'] }), undefined);
    assert.equal(thinkingParameter(request('gpt-5.1', 'off'), { ...flags, thinking: 'none' }), undefined);
  });

  it('of OpenRouter is a budget, or none', () => {
    const flags = { provider: 'openrouter', thinking: 'reasoning' } as const;
    assert.deepEqual(
      each((effort) => thinkingParameter(request('anthropic/claude-sonnet-4.5', effort), flags)),
      [
        { reasoning: { effort: 'none' } },
        { reasoning: { max_tokens: 2048 } },
        { reasoning: { max_tokens: 8192 } },
        { reasoning: { max_tokens: 24_576 } },
      ],
    );
  });

  it('of Anthropic is a budget or an effort; off is said, as some endpoints think by default', () => {
    const thinking = (model: string) => each((effort) => toAnthropicWireRequest(request(model, effort)).thinking);
    const [off, ...budgets] = thinking('claude-sonnet-4-5');
    assert.deepEqual(off, { type: 'disabled' });
    assert.deepEqual(
      budgets.map((one) => (one as { budget_tokens: number }).budget_tokens),
      [2048, 8192, 24_576],
    );
    assert.deepEqual(
      each((effort) => toAnthropicWireRequest(request('claude-sonnet-5', effort)).output_config?.effort),
      [undefined, 'low', 'medium', 'high'],
    );
    assert.deepEqual(thinking('claude-3-5-haiku-20241022'), [undefined, undefined, undefined, undefined]);
    const cold = { ...request('claude-sonnet-4-5', 'off'), temperature: 0 };
    assert.equal(toAnthropicWireRequest(cold).temperature, 0);
  });

  it('off is left out where Anthropic rejects it, and the other efforts stay', () => {
    const off = request('claude-sonnet-5', 'off');
    const { flags } = learnParameterFallback('"thinking.type.disabled" is not supported for this model.', off, {})!;
    assert.equal(toAnthropicWireRequest(off, flags).thinking, undefined);
    assert.equal(toAnthropicWireRequest(request('claude-sonnet-5', 'low'), flags).output_config?.effort, 'low');
  });

  it('of Google is a budget or one of two levels; off where the model can', () => {
    const config = (model: string) => each((effort) => thinkingConfigOf(request(model, effort), {}));
    const includeThoughts = true;
    assert.deepEqual(config('gemini-2.5-flash'), [
      { thinkingBudget: 0 },
      { includeThoughts, thinkingBudget: 2048 },
      { includeThoughts, thinkingBudget: 8192 },
      { includeThoughts, thinkingBudget: 24_576 },
    ]);
    assert.deepEqual(config('gemini-3-pro-preview'), [
      { includeThoughts },
      { includeThoughts, thinkingLevel: 'low' },
      { includeThoughts, thinkingLevel: 'high' },
      { includeThoughts, thinkingLevel: 'high' },
    ]);
    assert.deepEqual(thinkingConfigOf(request('gemini-2.5-pro', 'off'), {}), { includeThoughts });
  });

  it('of Ollama is a switch, or a level of gpt-oss', () => {
    const think = (model: OllamaModel) =>
      each((effort) => toOllamaWireRequest(request('m', effort), { model }).body.think);
    assert.deepEqual(think({ thinking: true, thinkingLevels: false }), [false, true, true, true]);
    assert.deepEqual(think({ thinking: true, thinkingLevels: true }), [undefined, 'low', 'medium', 'high']);
    assert.deepEqual(think({ thinking: false, thinkingLevels: false }), [undefined, undefined, undefined, undefined]);
    const off = toOllamaWireRequest(request('m', 'off'), { model: { thinking: false, thinkingLevels: false } });
    assert.deepEqual(off.notes, [], 'a model without thinking has nothing to switch off');
  });
});

describe('the efforts that are offered', () => {
  const levels: ThinkingEffort[] = ['low', 'medium', 'high'];
  const offers: [...Parameters<typeof supportedThinkingEfforts>, efforts: readonly ThinkingEffort[]][] = [
    ['openai', 'gpt-5.1', thinkingEfforts],
    ['openai-responses', 'gpt-6', thinkingEfforts],
    ['azure', 'gpt-5.2', thinkingEfforts],
    ['openai', 'gpt-5', levels],
    ['openai', 'gpt-5.1-codex', levels],
    ['openai', 'o3', levels],
    ['openai', 'gpt-5-pro', []],
    ['openai', 'gpt-5.2-pro', ['medium', 'high']],
    ['openai', 'gpt-5.1-chat-latest', []],
    ['openai', 'gpt-4.1', []],
    ['openai-compatible', 'qwen3-coder', []],
    ['vllm', 'openai/gpt-oss-120b', levels],
    ['xai', 'grok-3-mini', ['low', 'high']],
    ['xai', 'grok-4', []],
    ['llama-server', 'gpt-oss-20b', []],
    ['mistral', 'magistral-medium', []],
    ['deepseek', 'deepseek-reasoner', []],
    ['openrouter', 'anthropic/claude-sonnet-4.5', thinkingEfforts],
    ['openrouter', 'google/gemini-2.5-pro', levels],
    ['openrouter', 'openai/gpt-5.1', thinkingEfforts],
    ['openrouter', 'mistralai/devstral', []],
    ['anthropic', 'claude-opus-4-5', thinkingEfforts],
    ['anthropic', 'claude-3-5-haiku-20241022', []],
    ['anthropic', 'kimi-k2', []],
    ['google', 'gemini-2.5-flash', thinkingEfforts],
    ['google', 'gemini-2.5-pro', levels],
    ['google', 'gemini-3-pro-preview', ['low', 'high']],
    ['google', 'gemma-3-27b-it', []],
  ];
  for (const [provider, model, efforts] of offers)
    it(`${provider}, ${model}: ${efforts.join(', ') || 'none'}`, () =>
      assert.deepEqual(supportedThinkingEfforts(provider, model), efforts));

  it('Ollama: what the server says of the model', () => {
    const efforts = (model: OllamaModel) => ollamaThinkingEfforts(model);
    assert.deepEqual(efforts({ thinking: true, thinkingLevels: false }), ['off']);
    assert.deepEqual(efforts({ thinking: true, thinkingLevels: true }), levels);
    assert.deepEqual(efforts({ thinking: false, thinkingLevels: false }), []);
    assert.deepEqual(efforts({ thinkingLevels: false }), [], 'an older server does not say');
  });

  it('every effort that is offered changes the request', () => {
    for (const [provider, model, efforts] of offers) {
      if (!['openai', 'xai', 'vllm'].includes(provider)) continue;
      const sent = efforts.map((effort) => JSON.stringify(thinkingParameter(request(model, effort), { provider })));
      assert.equal(new Set(sent).size, efforts.length, model);
      assert.ok(!sent.includes(undefined as never), model);
    }
  });
});
