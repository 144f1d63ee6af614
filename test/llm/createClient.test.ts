import assert from 'node:assert/strict';
import type { ChatRequest, ModelInfo } from '../../src/llm/core/client.ts';
import { LLMError } from '../../src/llm/core/errors.ts';
import { createLLMClient, type ProviderChoice } from '../../src/llm/createClient.ts';
import { apiKeyDestinationOrigin, providers } from '../../src/llm/models/providers.ts';
import type { AssistantMessage } from '../../src/protocol/content/messages.ts';
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
    await hear(createLLMClient({ model: 'm', ...choice }).chatStream(request));
    return all;
  } finally {
    globalThis.fetch = fetchBefore;
  }
}

const key = 'sk-CANARYKEY1234567890';

describe('every provider', () => {
  const bearer = { authorization: `Bearer ${key}` };
  const azure = 'https://name.openai.azure.com';
  type Place = [choice: Omit<ProviderChoice, 'model'>, url: string, headers: Record<string, string>];
  const places: Place[] = [
    [{ provider: 'openai' }, 'https://api.openai.com/v1/chat/completions', bearer],
    [{ provider: 'openai', baseUrl: 'https://proxy.example/v1/' }, 'https://proxy.example/v1/chat/completions', bearer],
    [{ provider: 'openai-responses' }, 'https://api.openai.com/v1/responses', bearer],
    [{ provider: 'lmstudio', api: 'responses' }, 'http://127.0.0.1:1234/v1/responses', bearer],
    [
      { provider: 'azure', baseUrl: azure, api: 'responses', azure: { deployment: 'mine', apiVersion: '2024-10-21' } },
      `${azure}/openai/v1/responses`,
      { 'api-key': key },
    ],
    [
      { provider: 'openai-responses', baseUrl: 'https://here.example/v1/responses?tenant=a' },
      'https://here.example/v1/responses?tenant=a',
      bearer,
    ],
    [
      { provider: 'openai-compatible', baseUrl: 'https://here.example/v1' },
      'https://here.example/v1/chat/completions',
      bearer,
    ],
    ...[
      'https://here.example/v1/chat/completions',
      ' https://here.example/v1// ',
      'https://here.example/v1/models',
      'https://here.example/v1#top',
    ].map(
      (baseUrl): Place => [
        { provider: 'openai-compatible', baseUrl },
        'https://here.example/v1/chat/completions',
        bearer,
      ],
    ),
    [
      { provider: 'openai-compatible', baseUrl: 'https://here.example/v1/?tenant=a' },
      'https://here.example/v1/chat/completions?tenant=a',
      bearer,
    ],
    [
      { provider: 'anthropic', baseUrl: 'https://here.example/v1/messages?tenant=a' },
      'https://here.example/v1/messages?tenant=a',
      { 'x-api-key': key },
    ],
    [
      { provider: 'google', baseUrl: 'https://here.example/v1beta/models/x:generateContent?tenant=a' },
      'https://here.example/v1beta/models/model:streamGenerateContent?alt=sse&tenant=a',
      { 'x-goog-api-key': key },
    ],
    ...['', '/', '/v1', '/v1/chat/completions', '/api/chat'].map(
      (end): Place => [
        { provider: 'ollama', baseUrl: `http://127.0.0.1:11434${end}` },
        'http://127.0.0.1:11434/api/chat',
        bearer,
      ],
    ),
    [
      { provider: 'azure', baseUrl: `${azure}/?api-version=1` },
      `${azure}/openai/v1/chat/completions`,
      { 'api-key': key },
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
    it(`${choice.provider}${choice.baseUrl ? ` at "${choice.baseUrl}"` : ''} is asked at ${url}`, async () => {
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
        apiKeyDestinationOrigin({ provider: 'openai' }),
        apiKeyDestinationOrigin({ provider: 'openai', baseUrl: 'https://proxy.example:8443/v1' }),
        apiKeyDestinationOrigin({ provider: 'azure' }),
        apiKeyDestinationOrigin({ provider: 'azure', baseUrl: 'nonsense' }),
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
      const create = () => createLLMClient({ model: 'm', ...choice } as ProviderChoice);
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

  const call = { id: 'call_of_another', name: 'fs.read', arguments: {} };
  const said = (provider: string): Partial<AssistantMessage> => ({
    thinking: 'hmm',
    native: { provider, content: { thinkingField: 'reasoning_content' } },
  });
  const history = (provider: string): ChatRequest['messages'] => [
    { role: 'user', content: 'Read.' },
    { role: 'assistant', content: '', toolCalls: [call], ...said(provider) },
    { role: 'tool', content: '', toolResults: [{ toolCallId: call.id, content: '{"ok":true}' }] },
    { role: 'assistant', content: 'Done.', ...said(provider) },
    { role: 'user', content: 'And?' },
  ];
  const given: [provider: ProviderChoice['provider'], thinking: (string | undefined)[], callId: RegExp][] = [
    ['openai', [undefined, undefined], /^call_of_another$/],
    ['deepseek', ['hmm', 'hmm'], /^call_of_another$/],
    ['openrouter', ['hmm', undefined], /^call_of_another$/],
    ['mistral', [undefined, undefined], /^[A-Za-z0-9]{9}$/],
  ];
  for (const [provider, thinking, callId] of given) {
    it(`${provider}: its own thinking goes back where it is wanted, ids of calls as they are taken`, async () => {
      const body = (await sent({ provider }, { ...asked, messages: history(provider) }))[0]?.body;
      type Sent = { role: string; reasoning_content?: string; tool_calls?: { id: string }[]; tool_call_id?: string };
      const messages = body?.messages as Sent[];
      const [first, second] = messages.filter(({ role }) => role === 'assistant');
      assert.deepEqual([first?.reasoning_content, second?.reasoning_content], thinking);
      const wanted = first?.tool_calls?.[0]?.id;
      assert.match(wanted ?? '', callId);
      assert.equal(messages.find(({ role }) => role === 'tool')?.tool_call_id, wanted);
    });
  }
});

/** Runs a client of this provider while `answer` stands in for the provider. */
async function asked(
  choice: Pick<ProviderChoice, 'provider' | 'baseUrl'>,
  answer: (url: string) => Response,
  request: Partial<ChatRequest> = {},
): Promise<{ notes: string[]; error?: unknown }> {
  const notes: string[] = [];
  const fetchBefore = globalThis.fetch;
  globalThis.fetch = async (url) => answer(String(url));
  const client = createLLMClient({ ...choice, model: 'model', onNote: (note) => notes.push(note) });
  try {
    for (let count = 0; count < 2; count++) await client.chat({ ...greeting, ...request });
    return { notes };
  } catch (error) {
    return { notes, error };
  } finally {
    globalThis.fetch = fetchBefore;
  }
}

describe('what was asked for and goes nowhere is told once', () => {
  const openai = () => Response.json({ choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] });
  const anthropic = () => Response.json({ content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn' });
  const google = () => Response.json({ candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] });
  const ollama = (capabilities: string[]) => (url: string) =>
    url.endsWith('/api/show')
      ? Response.json({ capabilities })
      : new Response('{"message":{"content":"Hi"},"done":true,"done_reason":"stop"}\n');
  const format = { type: 'json_schema', name: 'x', schema: { type: 'object' } } as const;
  const image = { mediaType: 'image/png', data: 'AAAA' };
  const ignored = (model: string) => `${model} has no setting for a thinking budget here; it is ignored.`;
  /** Refuses the first request, takes the rest. */
  const refusing = (message: string, then: () => Response) => {
    let refused = false;
    return () => {
      if (refused) return then();
      refused = true;
      return Response.json({ error: { message } }, { status: 400 });
    };
  };

  const rows: [
    says: string,
    provider: ProviderChoice['provider'],
    answer: (url: string) => Response,
    request: Partial<ChatRequest>,
    notes: string[],
  ][] = [
    ['a thinking budget', 'mistral', openai, { thinkingBudget: 1000 }, [ignored('model')]],
    ['a thinking budget', 'ollama', ollama(['tools']), { thinkingBudget: 1000 }, [ignored('model')]],
    [
      'a thinking budget',
      'anthropic',
      anthropic,
      { model: 'claude-3-haiku-20240307', thinkingBudget: 2000, maxTokens: 9999 },
      [
        ignored('claude-3-haiku-20240307'),
        'claude-3-haiku-20240307 answers with 4096 tokens at the most; 9999 were asked for.',
      ],
    ],
    [
      'a thinking budget',
      'google',
      refusing('Thinking is not enabled for models/model', google),
      { thinkingBudget: 9 },
      [ignored('model')],
    ],
    [
      'a budget below the least',
      'anthropic',
      anthropic,
      { thinkingBudget: 10 },
      ['A thinking budget of 10 tokens is not possible for model; it gets 1024.'],
    ],
    [
      'a parameter it refused',
      'openai-compatible',
      refusing("Unknown parameter: 'top_p'", openai),
      { topP: 1 },
      ['model does not take top_p; it is left out.'],
    ],
    [
      'a longer answer than it gives',
      'openai-compatible',
      refusing('max_tokens is too large: 9000. This model supports at most 4096 completion tokens.', openai),
      { maxTokens: 9000 },
      ['model answers with 4096 tokens at the most; 9000 were asked for.'],
    ],
    [
      'a longer answer than the conversation leaves room for',
      'openai-compatible',
      refusing(
        "'max_tokens' is too large: 9000. This model's maximum context length is 8192 tokens and your request has 1500 input tokens (9000 > 8192 - 1500).",
        openai,
      ),
      { maxTokens: 9000 },
      ['model answers with 6692 tokens at the most; 9000 were asked for.'],
    ],
    [
      'a parameter it refused',
      'anthropic',
      refusing('top_p is not supported', anthropic),
      { topP: 1 },
      ['model does not take top_p here; it is left out.'],
    ],
    [
      'a temperature above its range',
      'anthropic',
      anthropic,
      { temperature: 1.5 },
      ['model takes temperature up to 1.'],
    ],
    [
      'images',
      'ollama',
      ollama(['tools']),
      { messages: [{ role: 'user', content: 'see', attachments: [image] }] },
      ['model does not accept images, so they are left out. Pick a model that does.'],
    ],
    [
      'images',
      'openai-compatible',
      refusing('image_url is not supported', openai),
      { messages: [{ role: 'user', content: 'see', attachments: [image] }] },
      ['model does not accept images, so they are left out. Pick a model that does.'],
    ],
    [
      'a format beside tools',
      'google',
      google,
      { responseFormat: format },
      ['model cannot keep to a format while it has tools; the format is left out.'],
    ],
    [
      'a schema',
      'deepseek',
      openai,
      { responseFormat: format },
      ['model cannot be held to a schema; it is asked for it in words.'],
    ],
    ['nothing', 'anthropic', anthropic, { temperature: 0.5, thinkingBudget: 0, maxTokens: 100 }, []],
  ];
  for (const [says, provider, answer, request, notes] of rows) {
    it(`${provider}: ${says}`, async () => {
      const baseUrl = provider === 'openai-compatible' ? 'https://models.example/v1' : undefined;
      const told = await asked({ provider, baseUrl }, answer, request);
      assert.deepEqual(told, { notes });
    });
  }
});

describe('an address or a model that is not there', () => {
  const rows: [provider: ProviderChoice['provider'], hint: RegExp][] = [
    ['openai', /most end in \/v1/],
    ['openai-compatible', /most end in \/v1/],
    ['azure', /the name of the deployment and the API version/],
    ['anthropic', /without \/v1/],
    ['google', /it ends in \/v1beta/],
    ['ollama', /`ollama list` shows the models/],
  ];
  for (const [provider, hint] of rows) {
    it(provider, async () => {
      const answer = () => new Response('404 page', { status: 404 });
      const { error } = await asked({ provider, baseUrl: 'https://models.example' }, answer);
      assert.ok(error instanceof LLMError);
      assert.match(error.message, /answered 404: 404 page\. /);
      assert.match(error.message, hint);
    });
    it(`${provider}: a proxy's page, a path that takes no questions, another server's greeting`, async () => {
      const answers = [
        new Response('<h1>404 Not Found</h1>nginx', { status: 404, headers: { 'content-type': 'text/html' } }),
        Response.json({ detail: 'Method Not Allowed' }, { status: 405 }),
        new Response('<p>Welcome', { headers: { 'content-type': 'text/html' } }),
        new Response('It is running'),
      ];
      for (const answer of answers) {
        const { error } = await asked({ provider, baseUrl: 'https://models.example' }, () => answer.clone());
        assert.ok(error instanceof LLMError);
        assert.match(error.message, /\(models\.example\) (answered|sent).*(Found nginx|Allowed|Welcome|running)\. /);
        assert.match(error.message, hint);
      }
    });
  }
  it('LM Studio answers 200 to a wrong path: said as what it is, in a chat and in the list, and not repeated', async () => {
    const words = { error: 'Unexpected endpoint or method. (POST /chat/completions)' };
    const choice = { provider: 'lmstudio', baseUrl: 'http://127.0.0.1:1234' } as const;
    const says = {
      name: 'LLMError',
      code: 'LLM_HTTP_ERROR',
      retryable: false,
      message: /^LM Studio \(127.* answered 404: Unexpected endpoint.*\. Check the address \(most end in \/v1\)/,
    };
    const { error } = await asked(choice, () => Response.json(words));
    assert.throws(() => {
      throw error;
    }, says);
    await assert.rejects(listed(choice, words), says);
  });
});

describe('a tool whose name is longer than providers take', () => {
  const name = `mcp.${'server'.repeat(8)}.${'tool'.repeat(8)}`;
  const rows: [provider: ProviderChoice['provider'], answer: (wireName: string) => Response][] = [
    [
      'openai',
      (wireName) => Response.json({ choices: [{ message: { tool_calls: [{ function: { name: wireName } }] } }] }),
    ],
    ['anthropic', (wireName) => Response.json({ content: [{ type: 'tool_use', id: 'c', name: wireName, input: {} }] })],
    [
      'google',
      (wireName) =>
        Response.json({ candidates: [{ content: { parts: [{ functionCall: { name: wireName, args: {} } }] } }] }),
    ],
    [
      'ollama',
      (wireName) =>
        new Response(
          `${JSON.stringify({ message: { tool_calls: [{ function: { name: wireName } }] }, done: true })}\n`,
        ),
    ],
  ];
  for (const [provider, answer] of rows) {
    it(`${provider} has a short one, and the call comes back under its own`, async () => {
      const fetchBefore = globalThis.fetch;
      const wireNames = new Set<string>();
      globalThis.fetch = async (url, init) => {
        if (String(url).endsWith('/api/show')) return Response.json({});
        const [wireName = ''] = /mcp_[\w-]+/.exec(String(init?.body)) ?? [];
        wireNames.add(wireName);
        return answer(wireName);
      };
      const client = createLLMClient({ provider, model: 'model' });
      const tools = [{ name, description: '', parameters: { type: 'object' } }];
      const { toolCalls } = await client.chat({ ...greeting, tools });
      globalThis.fetch = fetchBefore;
      assert.deepEqual(
        [[...wireNames].map(({ length }) => length), toolCalls?.map((call) => call.name)],
        [[64], [name]],
      );
    });
  }
});

/** What a provider lists whose answer this is. */
async function listed(choice: Omit<ProviderChoice, 'model'>, answer: object): Promise<ModelInfo[] | undefined> {
  const fetchBefore = globalThis.fetch;
  globalThis.fetch = async () => Response.json(answer);
  try {
    return await createLLMClient({ model: 'm', ...choice }).listModels?.();
  } finally {
    globalThis.fetch = fetchBefore;
  }
}

describe('a list without models', () => {
  const lists: [provider: ProviderChoice['provider'], field: string][] = [
    ['openai-compatible', 'data'],
    ['anthropic', 'data'],
    ['google', 'models'],
    ['ollama', 'models'],
  ];
  for (const [provider, field] of lists) {
    for (const none of [[], null]) {
      it(`is none: ${JSON.stringify(none)} from ${provider}`, async () => {
        assert.deepEqual(
          await listed({ provider, baseUrl: 'https://here.example' }, { object: 'list', [field]: none }),
          [],
        );
      });
    }
  }
});

describe('half a character', () => {
  const half = 'x\ud83dy';
  const attachments = [
    { mediaType: 'image/png', data: 'iVBORw0KGgo=', name: half },
    { mediaType: 'text/plain', data: 'aGk=', name: half },
    { mediaType: 'application/pdf', data: 'aGk=', name: half },
  ];
  const schema = { type: 'object', properties: { [half]: { type: 'string', description: half, enum: [half] } } };
  const call = { id: half, name: `fs.${half}`, arguments: { [half]: half } };
  const request: ChatRequest = {
    model: 'claude-sonnet-4-5',
    systemPrompt: half,
    messages: [
      { role: 'system', content: half },
      { role: 'user', content: half, attachments },
      { role: 'assistant', content: half, thinking: half, toolCalls: [call] },
      { role: 'tool', content: '', toolResults: [{ toolCallId: half, content: half, attachments }] },
      { role: 'user', content: half },
    ],
    tools: [{ name: `fs.${half}`, description: half, parameters: schema }],
    stopSequences: [half],
  };
  const asked: [says: string, request: ChatRequest][] = [
    ['tools', request],
    ['a format', { ...request, tools: [], responseFormat: { type: 'json_schema', name: half, schema } }],
  ];
  for (const { id } of providers) {
    for (const [says, one] of asked) {
      it(`is sent to nobody: ${id} with ${says}`, async () => {
        const baseUrl = id === 'azure' || id === 'openai-compatible' ? 'https://here.example' : undefined;
        const text = JSON.stringify((await sent({ provider: id, baseUrl, apiKey: key }, one)).at(-1)?.body);
        assert.ok(text.includes('x\ufffdy'), text);
        assert.doesNotMatch(text, /(?<!\\)\\ud[89a-f]/i);
      });
    }
  }
});
