import assert from 'node:assert/strict';
import type { ChatRequest, ChatStreamChunk } from '../../../src/llm/core/client.ts';
import { LLMError } from '../../../src/llm/core/errors.ts';
import { createOllamaClient, type OllamaClient, type OllamaClientOptions } from '../../../src/llm/ollama/client.ts';
import { withTextToolCallParsing } from '../../../src/llm/textCalls/textCalls.ts';
import { message } from '../../../src/protocol/text/l10n.ts';
import { toStoredText } from '../../../src/protocol/text/localized.ts';
import { eventually } from '../../support/eventually.ts';
import { done, type OllamaReply, type OllamaServer, piece, startOllama } from '../../support/ollama.ts';
import { greeting, type Heard, hear } from '../serve.ts';

const canary = 'sk-CANARYKEY1234567890';
const request: ChatRequest = { ...greeting, model: 'scripted' };
const hello: OllamaReply = { steps: [piece({ content: 'Hel' }), piece({ content: 'lo' }), done()] };

describe('Ollama on this machine', () => {
  let server: OllamaServer;
  const client = (options: Partial<OllamaClientOptions> = {}): OllamaClient =>
    createOllamaClient({ baseUrl: server.url, apiKey: canary, ...options });
  const ask = async (script: OllamaReply[], more: Partial<ChatRequest> = {}, options = {}): Promise<Heard> => {
    server.script = script;
    const heard = await hear(client(options).chatStream({ ...request, ...more }));
    assert.ok(!JSON.stringify(heard).includes('CANARY'));
    return heard;
  };

  beforeEach(async () => {
    server = await startOllama();
  });
  afterEach(() => server.close());

  it('streams text, after it has said that it waits', async () => {
    server.script = [hello];
    const chunks: ChatStreamChunk[] = [];
    for await (const chunk of client({ contextSize: 8192 }).chatStream(request)) chunks.push(chunk);
    assert.deepEqual(
      chunks.filter((chunk) => Object.keys(chunk).length > 1),
      [
        {
          progress: toStoredText(message('Ollama loads {0} and reads the prompt', 'scripted')),
          done: false,
        },
        { content: 'Hel', done: false },
        { content: 'lo', done: false },
        {
          done: true,
          finishReason: 'stop',
          usage: { promptTokens: 12, completionTokens: 5, totalTokens: 17 },
          model: 'scripted',
        },
      ],
    );
    assert.deepEqual(server.chats[0]!.body.options, { num_ctx: 8192 });
    assert.equal(server.chats[0]!.headers.authorization, `Bearer ${canary}`);
  });

  it('answers whole in chat', async () => {
    server.script = [{ steps: [piece({ thinking: 'hm' }), ...hello.steps] }];
    assert.deepEqual(await client().chat(request), {
      content: 'Hello',
      thinking: 'hm',
      native: { provider: 'ollama', content: {} },
      usage: { promptTokens: 12, completionTokens: 5, totalTokens: 17 },
      model: 'scripted',
      finishReason: 'stop',
    });
  });

  it('calls tools, in parallel and without arguments', async () => {
    const tool_calls = [
      { function: { name: 'fs_read', arguments: { path: 'a' } } },
      { function: { name: 'fs_write' } },
    ];
    const { calls, finish } = await ask([{ steps: [piece({ tool_calls }), done()] }]);
    assert.deepEqual(
      calls.map(({ name, arguments: given }) => [name, given]),
      [
        ['fs.read', { path: 'a' }],
        ['fs.write', {}],
      ],
    );
    assert.equal(finish, 'tool_calls');
    assert.equal(server.chats[0]!.body.tools?.length, 2);
  });

  it('is asked once what a model can do', async () => {
    server.script = [hello, hello];
    const one = client();
    await hear(one.chatStream(request));
    await hear(one.chatStream(request));
    assert.deepEqual(
      server.others.map(({ path, body }) => [path, body.model]),
      [['/api/show', 'scripted']],
    );
    assert.deepEqual(await one.describe('scripted'), {
      tools: true,
      thinking: true,
      vision: true,
      thinkingLevels: false,
    });
  });

  it('gets no tools for a model that cannot call them, and the person is told once', async () => {
    server.models.scripted = { capabilities: ['completion'] };
    server.script = [hello, hello];
    const one = client();
    const { content, warnings } = await one.chat(request);
    assert.deepEqual(
      [content, warnings],
      ['Hello', ['scripted cannot call tools in Ollama, so it answers without them. Pick a model that can.']],
    );
    assert.equal((await one.chat(request)).warnings, undefined);
    assert.deepEqual(
      server.chats.map(({ body }) => body.tools),
      [undefined, undefined],
    );
  });

  it('teaches what a model cannot do where it does not say', async () => {
    const sent: object[] = [];
    server.models.scripted = {};
    const refused = (error: string): OllamaReply => ({ status: 400, steps: [JSON.stringify({ error })] });
    server.script = [
      refused('scripted does not support tools'),
      refused('"scripted" does not support thinking'),
      hello,
      hello,
    ];
    const one = client();
    const asked = { ...request, thinkingBudget: 100 };
    assert.equal((await one.chat(asked)).content, 'Hello');
    assert.equal((await one.chat(asked)).content, 'Hello');
    for (const { body } of server.chats) sent.push([body.tools !== undefined, body.think]);
    assert.deepEqual(sent, [
      [true, true],
      [false, true],
      [false, undefined],
      [false, undefined],
    ]);
  });

  it('says when it has read less than it was given', async () => {
    server.script = [{ steps: [piece({ content: 'a' }), done({ prompt_eval_count: 4095 })] }];
    const { finishReason, warnings } = await client({ contextSize: 4096 }).chat(request);
    assert.equal(finishReason, 'stop');
    assert.match(warnings![0]!, /read 4,095 tokens, all that its window of 4,096 holds/);
  });

  it('lists its models, whatever the end of its address', async () => {
    server.models.other = {};
    for (const end of ['', '/', '/v1', '/api/']) {
      assert.deepEqual(await client({ baseUrl: server.url + end }).listModels(), [{ id: 'scripted' }, { id: 'other' }]);
    }
  });

  it('needs no key', async () => {
    await ask([hello], {}, { apiKey: undefined });
    assert.equal(server.chats[0]!.headers.authorization, undefined);
  });

  it('says how to get a model that is not there', async () => {
    const { error } = await ask([], { model: 'nowhere' });
    assert.deepEqual(error, {
      code: 'LLM_HTTP_ERROR',
      message: "Ollama: model 'nowhere' not found. Run `ollama pull nowhere`, or select another model.",
      retryable: false,
      retryAfterMs: undefined,
      status: 404,
    });
  });

  const refusals: [
    status: number,
    body: object,
    headers: Record<string, string>,
    code: string,
    retryable: boolean,
    waits?: number,
  ][] = [
    [401, { error: `unauthorized ${canary}` }, {}, 'LLM_AUTH_FAILED', false],
    [429, { error: 'too many requests' }, { 'retry-after': '2' }, 'LLM_RATE_LIMITED', true, 2000],
    [500, { error: 'llama runner process has terminated' }, {}, 'LLM_HTTP_ERROR', true],
    [503, { error: 'server busy, please try again' }, {}, 'LLM_HTTP_ERROR', true],
    [400, { error: 'the input length exceeds the context length' }, {}, 'LLM_CONTEXT_OVERFLOW', false],
  ];
  for (const [status, body, headers, code, retryable, waits] of refusals) {
    it(`refuses with ${status}: ${code}`, async () => {
      const { error } = await ask([{ status, headers, steps: [JSON.stringify(body)] }]);
      assert.deepEqual(
        [error?.code, error?.status, error?.retryable, error?.retryAfterMs],
        [code, status, retryable, waits],
      );
    });
  }

  it('is cut in the middle', async () => {
    const { text, error } = await ask([{ steps: [piece({ content: 'Hel' }), 'cut'] }]);
    assert.deepEqual([text, error?.code, error?.retryable], ['Hel', 'LLM_INCOMPLETE', true]);
  });

  it('hangs in the middle', async () => {
    const { text, error } = await ask(
      [{ steps: [piece({ content: 'Hel' }), 'hang'] }],
      {},
      { fetchLimits: { idleMs: 100 } },
    );
    assert.deepEqual([text, error?.code, error?.retryable], ['Hel', 'LLM_TIMEOUT', true]);
  });

  it('may take its time before the first word, but not for ever where that is asked', async () => {
    const slow = { ...hello, delayMs: 150 };
    assert.equal((await ask([slow], {}, { fetchLimits: { idleMs: 100 } })).text, 'Hello');
    await server.close();
    server = await startOllama();
    const { error } = await ask(
      [{ ...hello, delayMs: Number.POSITIVE_INFINITY }],
      {},
      { fetchLimits: { connectMs: 300 } },
    );
    assert.equal(error?.code, 'LLM_TIMEOUT');
    assert.match(error.message, /does not respond while it loads a model/);
  });

  it('is not there', async () => {
    await server.close();
    const { error } = await ask([]);
    assert.deepEqual([error?.code, error?.retryable], ['LLM_HTTP_ERROR', true]);
    assert.match(
      error!.message,
      /Ollama \(127\.0\.0\.1:\d+\) cannot be reached: the connection was refused\. .*the server runs/,
    );
    server = await startOllama();
  });

  it('may have a model that writes its calls as text', async () => {
    server.script = [
      {
        steps: [
          piece({ content: '<tool_call>\n{"name": "fs_read", ' }),
          piece({ content: '"arguments": {"path": "a"}}\n</tool_call>' }),
          done(),
        ],
      },
    ];
    const { calls, finish, text } = await hear(withTextToolCallParsing(client()).chatStream(request));
    assert.deepEqual(
      calls.map(({ name, arguments: given }) => [name, given]),
      [['fs.read', { path: 'a' }]],
    );
    assert.deepEqual([finish, text], ['tool_calls', '']);
  });

  const stages: [says: string, reply: OllamaReply, stopAt: (chunk: ChatStreamChunk) => boolean][] = [
    [
      'while the model is loaded',
      { ...hello, delayMs: Number.POSITIVE_INFINITY },
      ({ progress }) => progress !== undefined,
    ],
    ['before the first word', { steps: ['hang'] }, (chunk) => Object.keys(chunk).length === 1],
    ['in the middle', { steps: [piece({ content: 'Hel' }), 'hang'] }, ({ content }) => content === 'Hel'],
  ];
  for (const [says, reply, stopAt] of stages) {
    it(`is stopped ${says}, and its socket is closed`, async () => {
      server.script = [reply];
      const stop = new AbortController();
      const reason = new Error('stopped');
      await assert.rejects(async () => {
        for await (const chunk of client().chatStream(request, stop.signal)) {
          if (stopAt(chunk)) setTimeout(() => stop.abort(reason), 20);
        }
      }, reason);
      await eventually('its socket is closed', () => server.openSockets <= 1); // fetch may keep an idle one
    });
  }

  it('is not even asked when stopped before', async () => {
    const reason = new Error('stopped');
    await assert.rejects(client().chat(request, AbortSignal.abort(reason)), reason);
    assert.equal(server.others.length + server.chats.length, 0);
  });

  it('refuses a key that no header can carry without showing it', async () => {
    await assert.rejects(client({ apiKey: 'CANARY\n🙂' }).chat(request), (error) => {
      assert.ok(error instanceof LLMError && error.code === 'LLM_AUTH_FAILED' && !error.message.includes('CANARY'));
      return true;
    });
  });
});
