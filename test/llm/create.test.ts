import assert from 'node:assert/strict';
import { createClient, keyOrigin, type ProviderChoice, providers } from '../../src/llm/create.ts';
import { LLMError } from '../../src/llm/errors.ts';
import { greeting, hear } from './serve.ts';

interface Sent {
  url: string;
  headers: Record<string, string>;
  body: Record<string, unknown> | undefined;
}

/** What goes out for a choice; nothing really does. */
async function sent(choice: Omit<ProviderChoice, 'model'>, request = greeting): Promise<Sent[]> {
  const all: Sent[] = [];
  const fetchBefore = globalThis.fetch;
  globalThis.fetch = async (url, init = {}) => {
    const body = init.body ? JSON.parse(String(init.body)) : undefined;
    all.push({ url: String(url), headers: init.headers as Record<string, string>, body });
    return Response.json({ error: { message: 'Nobody is here.' } }, { status: 418 });
  };
  try {
    await hear(createClient({ model: 'm', ...choice }).chatStream(request));
    return all;
  } finally {
    globalThis.fetch = fetchBefore;
  }
}

const key = 'sk-CANARYKEY1234567890';

describe('every provider', () => {
  const bearer = { authorization: `Bearer ${key}` };
  const azure = 'https://name.openai.azure.com';
  const places: [choice: Omit<ProviderChoice, 'model'>, url: string, headers: Record<string, string>][] = [
    [{ provider: 'openai' }, 'https://api.openai.com/v1/chat/completions', bearer],
    [{ provider: 'openai', baseUrl: 'https://proxy.example/v1/' }, 'https://proxy.example/v1/chat/completions', bearer],
    [
      { provider: 'openai-compatible', baseUrl: 'https://here.example/v1' },
      'https://here.example/v1/chat/completions',
      bearer,
    ],
    [{ provider: 'deepseek' }, 'https://api.deepseek.com/v1/chat/completions', bearer],
    [{ provider: 'openrouter' }, 'https://openrouter.ai/api/v1/chat/completions', bearer],
    [{ provider: 'groq' }, 'https://api.groq.com/openai/v1/chat/completions', bearer],
    [{ provider: 'mistral' }, 'https://api.mistral.ai/v1/chat/completions', bearer],
    [{ provider: 'xai' }, 'https://api.x.ai/v1/chat/completions', bearer],
    [{ provider: 'together' }, 'https://api.together.xyz/v1/chat/completions', bearer],
    [{ provider: 'lmstudio' }, 'http://127.0.0.1:1234/v1/chat/completions', bearer],
    [{ provider: 'llama-server' }, 'http://127.0.0.1:8080/v1/chat/completions', bearer],
    [{ provider: 'vllm' }, 'http://127.0.0.1:8000/v1/chat/completions', bearer],
    [{ provider: 'azure', baseUrl: azure }, `${azure}/openai/v1/chat/completions`, { 'api-key': key }],
    [
      { provider: 'azure', baseUrl: `${azure}/`, azure: { deployment: 'mine', apiVersion: '2024-10-21' } },
      `${azure}/openai/deployments/mine/chat/completions?api-version=2024-10-21`,
      { 'api-key': key },
    ],
    [
      {
        provider: 'azure',
        baseUrl: `${azure}/openai/deployments/x/chat/completions?api-version=1`,
        azure: { apiVersion: '2025-01-01-preview' },
      },
      `${azure}/openai/deployments/model/chat/completions?api-version=2025-01-01-preview`,
      { 'api-key': key },
    ],
    [{ provider: 'anthropic' }, 'https://api.anthropic.com/v1/messages', { 'x-api-key': key }],
    [
      { provider: 'google' },
      'https://generativelanguage.googleapis.com/v1beta/models/model:streamGenerateContent?alt=sse',
      { 'x-goog-api-key': key },
    ],
    [{ provider: 'ollama' }, 'http://127.0.0.1:11434/api/chat', bearer],
  ];
  for (const [choice, url, headers] of places) {
    it(`${choice.provider} is asked at ${url}`, async () => {
      const last = (await sent({ ...choice, apiKey: key })).at(-1);
      assert.equal(last?.url, url);
      for (const [name, value] of Object.entries(headers)) assert.equal(last?.headers[name], value);
      const others = Object.entries(last?.headers ?? {}).filter(([name]) => !(name in headers));
      assert.ok(!JSON.stringify([last?.url, others, last?.body]).includes(key), 'the key is in one header only');
    });
  }

  it('is in the table', () => {
    const told = new Set(places.map(([{ provider }]) => provider));
    assert.deepEqual(
      providers.filter(({ id }) => !told.has(id)),
      [],
    );
    assert.equal(new Set(providers.map(({ label }) => label)).size, providers.length);
  });

  it('has an address the key belongs to', () => {
    assert.deepEqual(
      [
        keyOrigin({ provider: 'openai' }),
        keyOrigin({ provider: 'openai', baseUrl: 'https://proxy.example:8443/v1' }),
        keyOrigin({ provider: 'azure' }),
        keyOrigin({ provider: 'azure', baseUrl: 'nonsense' }),
      ],
      ['https://api.openai.com', 'https://proxy.example:8443', undefined, undefined],
    );
  });

  const wrong: [choice: object, message: RegExp][] = [
    [{ provider: 'openai-compatible' }, /No address is set for OpenAI-compatible endpoint/],
    [{ provider: 'azure', baseUrl: ' ' }, /No address is set for Azure OpenAI/],
    [{ provider: 'constructor' }, /no provider called constructor/],
  ];
  for (const [choice, message] of wrong) {
    it(`says what is wrong with ${JSON.stringify(choice)}`, () => {
      const create = () => createClient({ model: 'm', ...choice } as ProviderChoice);
      assert.throws(create, (error) => error instanceof LLMError && message.test(error.message));
    });
  }
});

describe('where presets differ', () => {
  const asked = { ...greeting, maxTokens: 9, cacheKey: 'run-1' };
  const rows: [provider: ProviderChoice['provider'], present: string[], absent: string[]][] = [
    ['openai', ['max_completion_tokens', 'prompt_cache_key', 'stream_options'], ['max_tokens']],
    ['groq', ['max_completion_tokens'], ['max_tokens', 'prompt_cache_key']],
    ['deepseek', ['max_tokens', 'stream_options'], ['max_completion_tokens', 'prompt_cache_key']],
    ['mistral', ['max_tokens'], ['stream_options', 'prompt_cache_key']],
  ];
  for (const [provider, present, absent] of rows) {
    it(provider, async () => {
      const body = (await sent({ provider }, asked))[0]?.body ?? {};
      assert.deepEqual([present.filter((name) => !(name in body)), absent.filter((name) => name in body)], [[], []]);
    });
  }

  it('a thinking budget that goes nowhere is told once', async () => {
    const notes: string[] = [];
    const fetchBefore = globalThis.fetch;
    globalThis.fetch = async () => Response.json({ choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] });
    const client = createClient({ provider: 'mistral', model: 'm', onNote: (note) => notes.push(note) });
    for (let count = 0; count < 2; count++) await client.chat({ ...greeting, thinkingBudget: 1000 });
    globalThis.fetch = fetchBefore;
    assert.deepEqual(notes, ['model has no setting for a thinking budget here; it is ignored.']);
  });
});
