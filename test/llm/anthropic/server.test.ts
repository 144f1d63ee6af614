import assert from 'node:assert/strict';
import { type AdapterLimits, type AdapterResult, createAdapter } from '../../../src/llm/adapter/adapter.ts';
import { type AnthropicClientOptions, createAnthropicClient } from '../../../src/llm/anthropic/client.ts';
import type { ChatRequest } from '../../../src/llm/core/client.ts';
import type { Message } from '../../../src/protocol/content/messages.ts';
import {
  type Answer,
  type AnthropicServer,
  type Asked,
  broken,
  call,
  events,
  refusal,
  reply,
  sse,
  startAnthropic as startServer,
  text,
  thinking,
  whole,
} from '../../support/anthropic.ts';
import { eventually } from '../../support/eventually.ts';
import { greeting } from '../serve.ts';

const canary = 'sk-ant-CANARYKEY1234567890';
const request: ChatRequest = { ...greeting, model: 'claude-sonnet-4-5' };
const limits: Partial<AdapterLimits> = { connectMs: 30_000, firstTokenMs: 30_000, idleMs: 30_000, baseDelayMs: 10 };
/** Of a server that falls silent; one that answers has time enough on a busy machine. */
const soon = { connectMs: 500, idleMs: 500, eventMs: 900, closeMs: 50 };

const clientFor = (url: string, options: AnthropicClientOptions = {}) =>
  createAnthropicClient({
    baseUrl: url,
    apiKey: canary,
    fetchLimits: { connectMs: 30_000, idleMs: 30_000, eventMs: 30_000, closeMs: 50 },
    ...options,
  });

const servers: AnthropicServer[] = [];
async function startAnthropic(answers: Parameters<typeof startServer>[0]): Promise<AnthropicServer> {
  const server = await startServer(answers);
  servers.push(server);
  return server;
}
afterEach('no server outlives its test', async () => {
  for (const one of servers.splice(0)) await one.close();
});

interface Outcome {
  result: AdapterResult;
  asked: Asked[];
}

/** One call against a server that answers as it is told; afterwards no socket is open and the key was told to nobody. */
async function ask(
  answers: readonly Answer[] | ((asked: Asked) => Answer),
  {
    retries = 0,
    asking = request,
    ...options
  }: { retries?: number; asking?: ChatRequest } & AnthropicClientOptions = {},
): Promise<Outcome> {
  const server = await startAnthropic(answers);
  const adapter = createAdapter(clientFor(server.url, options), { ...limits, retries });
  const chunks: object[] = [];
  const signal = new AbortController().signal;
  const result = await adapter.complete(asking, { signal, onChunk: (chunk) => chunks.push(chunk) });
  await quiet(server);
  assert.ok(!JSON.stringify([result, chunks]).includes('CANARY'), 'the key is told to nobody');
  return { result, asked: server.asked };
}

async function quiet(server: AnthropicServer): Promise<void> {
  await eventually('no socket is open', () => server.openSockets === 0);
}

const says = text('Half of');
const wants = call('fs_read', { path: 'x' }, 'a');

interface Case {
  says: string;
  gives: Answer[];
  retries?: number;
  expects: {
    code?: string;
    text?: string;
    thinking?: string;
    calls?: object[];
    finish?: string;
    attempts?: number;
    message?: RegExp;
  };
}

const cases: Case[] = [
  { says: 'text', gives: [reply([text('Hello 🙂')])], expects: { text: 'Hello 🙂', finish: 'stop' } },
  {
    says: 'one call',
    gives: [reply([says, wants])],
    expects: { calls: [{ id: 'a', name: 'fs.read', arguments: { path: 'x' } }], finish: 'tool_calls' },
  },
  {
    says: 'parallel calls',
    gives: [reply([wants, call('fs_write', { path: 'y' }, 'b')])],
    expects: {
      calls: [
        { id: 'a', name: 'fs.read', arguments: { path: 'x' } },
        { id: 'b', name: 'fs.write', arguments: { path: 'y' } },
      ],
    },
  },
  {
    says: 'a call without arguments',
    gives: [reply([call('fs_read', '', 'a')])],
    expects: { calls: [{ id: 'a', name: 'fs.read', arguments: {} }] },
  },
  {
    says: 'malformed arguments',
    gives: [reply([call('fs_read', '{"path":', 'a')])],
    expects: { calls: [{ id: 'a', name: 'fs.read', arguments: {}, malformed: '{"path":' }] },
  },
  {
    says: 'thinking',
    gives: [reply([thinking('Let me think.', 's1'), text('Hello')])],
    expects: { thinking: 'Let me think.', text: 'Hello' },
  },
  {
    says: '401',
    gives: [refusal(401, 'authentication_error', `invalid x-api-key ${canary}`)],
    retries: 2,
    expects: {
      code: 'LLM_AUTH_FAILED',
      attempts: 1,
      message: /Anthropic \(127.*rejected the API key.*\[key\].*Set API Key/,
    },
  },
  {
    says: '429 with Retry-After, then well',
    gives: [refusal(429, 'rate_limit_error', 'slow down', { 'retry-after': '0.05' }), reply([text('Hello')])],
    retries: 2,
    expects: { text: 'Hello', attempts: 2 },
  },
  {
    says: '429 for longer than anybody waits',
    gives: [refusal(429, 'rate_limit_error', 'slow down', { 'retry-after': '7200' })],
    retries: 2,
    expects: { code: 'LLM_RATE_LIMITED', attempts: 1, message: /slow down\. It requires a wait of 2 h/ },
  },
  {
    says: '500, then well',
    gives: [refusal(500, 'api_error', 'Internal server error'), reply([text('Hello')])],
    retries: 2,
    expects: { text: 'Hello', attempts: 2 },
  },
  {
    says: '529 overloaded for ever',
    gives: [0, 1, 2].map(() => refusal(529, 'overloaded_error', 'Overloaded')),
    retries: 2,
    expects: { code: 'LLM_HTTP_ERROR', attempts: 3, message: /answered 529: Overloaded/ },
  },
  {
    says: 'overloaded before the first word, then well',
    gives: [
      { steps: [sse([{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }])] },
      reply([text('Hello')]),
    ],
    retries: 2,
    expects: { text: 'Hello', attempts: 2 },
  },
  {
    says: 'overloaded in the middle: what was shown is kept',
    gives: [broken([says], sse([{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }]))],
    retries: 2,
    expects: { code: 'LLM_HTTP_ERROR', text: 'Half of', attempts: 1, message: /Overloaded/ },
  },
  {
    says: 'the window is full',
    gives: [refusal(400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum')],
    retries: 2,
    expects: { code: 'LLM_CONTEXT_OVERFLOW', attempts: 1 },
  },
  {
    says: 'a model that is not there',
    gives: [refusal(404, 'not_found_error', 'model: claude-9')],
    expects: { code: 'LLM_HTTP_ERROR', message: /answered 404: model: claude-9\. Check/ },
  },
  {
    says: 'a stream that is closed: no call of it counts',
    gives: [broken([says, wants], 'cut')],
    expects: { code: 'LLM_INCOMPLETE', text: 'Half of', calls: [] },
  },
  {
    says: 'a stream that is reset',
    gives: [broken([says, wants], 'reset')],
    expects: { code: 'LLM_INCOMPLETE', text: 'Half of', calls: [] },
  },
  {
    says: 'a stream that ends as if it were whole',
    gives: [broken([says, wants])],
    expects: { code: 'LLM_INCOMPLETE', text: 'Half of', calls: [] },
  },
  {
    says: 'silence in the middle',
    gives: [broken([says, wants], 'hang')],
    expects: { code: 'LLM_TIMEOUT', text: 'Half of', calls: [], message: /stopped responding/ },
  },
  {
    says: 'no answer at all',
    gives: [{ ...reply([says]), lateMs: Number.POSITIVE_INFINITY }],
    expects: { code: 'LLM_TIMEOUT', message: /did not answer/ },
  },
  {
    says: 'the last event, and the server stays: the socket is closed by us',
    gives: [{ steps: [sse(events([text('Hello')])), 'hang'] }],
    expects: { text: 'Hello', finish: 'stop' },
  },
  {
    says: 'a stop reason without a last event, and the server stays',
    gives: [{ steps: [sse(events([text('Hello')]).slice(0, -1)), 'hang'] }],
    expects: { text: 'Hello', finish: 'stop' },
  },
  {
    says: 'a refusal',
    gives: [reply([text('Hi')], { stop: 'refusal' })],
    expects: { code: 'LLM_CONTENT_FILTERED', text: 'Hi' },
  },
  {
    says: 'a web page',
    gives: [{ headers: { 'content-type': 'text/html' }, steps: ['<html>Sign in</html>'] }],
    expects: { code: 'LLM_BAD_RESPONSE', message: /Sign in/ },
  },
  { says: 'nothing', gives: [{ steps: [] }], expects: { code: 'LLM_BAD_RESPONSE' } },
];

describe('Anthropic over the network', () => {
  for (const { says: name, gives, retries, expects } of cases) {
    it(name, async () => {
      const { result, asked } = await ask(gives, {
        retries,
        ...(expects.code === 'LLM_TIMEOUT' && { fetchLimits: soon }),
      });
      const context = JSON.stringify(result);
      assert.equal(result.success, expects.code === undefined, context);
      assert.equal(result.error?.code, expects.code, context);
      assert.equal(asked.length, expects.attempts ?? 1);
      assert.equal(result.attempts, expects.attempts ?? 1);
      if (expects.text !== undefined) assert.equal(result.message?.content, expects.text, context);
      if (expects.thinking !== undefined) assert.equal(result.message?.thinking, expects.thinking);
      if (expects.calls) assert.deepEqual(result.message?.toolCalls ?? [], expects.calls);
      if (expects.finish) assert.equal(result.finishReason, expects.finish);
      if (expects.message) assert.match(result.error?.message ?? '', expects.message);
    });
  }

  it('asks as Anthropic wants to be asked', async () => {
    const { asked } = await ask([reply([text('Hello')])]);
    const { method, path, headers, body } = asked[0]!;
    assert.deepEqual(
      [
        method,
        path,
        headers['x-api-key'],
        headers['anthropic-version'],
        headers['content-type'],
        headers.authorization,
      ],
      ['POST', '/v1/messages', canary, '2023-06-01', 'application/json', undefined],
    );
    assert.deepEqual([body.model, body.stream, body.max_tokens], ['claude-sonnet-4-5', true, 32_000]);
  });

  for (const end of ['/', '/v1', '/v1/']) {
    it(`an address that ends in ${end} is the same`, async () => {
      const server = await startAnthropic([reply([text('Hello')])]);
      assert.equal((await clientFor(`${server.url}${end}`).chat(request)).content, 'Hello');
      assert.equal(server.asked[0]?.path, '/v1/messages');
    });
  }

  it('after a stop reason only a moment is waited for the last event', async () => {
    const stays: Answer = { steps: [sse(events([text('Hello')]).slice(0, -1)), 'hang'] };
    const { result } = await ask([stays], { fetchLimits: { idleMs: 60_000, eventMs: 60_000, closeMs: 50 } });
    assert.deepEqual([result.message?.content, result.finishReason], ['Hello', 'stop']);
  });

  it('without a key none is sent, and 401 says how to give one', async () => {
    const { result, asked } = await ask([refusal(401, 'authentication_error', 'x-api-key header is required')], {
      apiKey: '',
    });
    assert.equal(asked[0]?.headers['x-api-key'], undefined);
    assert.match(result.error?.message ?? '', /^No API key for Anthropic \(127.*Run \*Towpath: Set API Key\*\.$/);
  });

  it('a whole turn: thinking and calls come back as they were said, with their results', async () => {
    const blocks = [thinking('hm', 's1'), whole({ type: 'redacted_thinking', data: 'x' }), text('Reading.'), wants];
    const server = await startAnthropic([reply(blocks), reply([text('Done.')])]);
    const client = clientFor(server.url);
    const { content, toolCalls, native } = await client.chat({ ...request, thinkingBudget: 2000 });
    const messages: Message[] = [
      ...request.messages,
      { role: 'assistant', content: content ?? '', toolCalls, native },
      { role: 'tool', content: '', toolResults: [{ toolCallId: 'a', content: '{"ok":true}' }] },
    ];
    await client.chat({ ...request, thinkingBudget: 2000, messages: JSON.parse(JSON.stringify(messages)) });
    const cache_control = { type: 'ephemeral' };
    assert.deepEqual(server.asked[1]?.body.messages, [
      { role: 'user', content: [{ type: 'text', text: 'hi', cache_control }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's1' },
          { type: 'redacted_thinking', data: 'x' },
          { type: 'text', text: 'Reading.' },
          { type: 'tool_use', id: 'a', name: 'fs_read', input: { path: 'x' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: '{"ok":true}', cache_control }] },
    ]);
  });

  it('what a 400 teaches is remembered', async () => {
    const tooMuch = 'max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for it';
    const server = await startAnthropic(({ body }) =>
      body.max_tokens > 8192 ? refusal(400, 'invalid_request_error', tooMuch) : reply([text('Hello')]),
    );
    const client = clientFor(server.url);
    for (const count of [2, 3]) {
      assert.equal((await client.chat(request)).content, 'Hello');
      assert.equal(server.asked.length, count);
    }
  });

  it('what a 400 says of one request is not', async () => {
    const noRoom = 'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000';
    const server = await startAnthropic(({ body }) =>
      body.max_tokens > 10_000 ? refusal(400, 'invalid_request_error', noRoom) : reply([text('Hello')]),
    );
    const client = clientFor(server.url);
    for (const count of [2, 4]) {
      assert.equal((await client.chat(request)).content, 'Hello');
      assert.equal(server.asked.length, count);
    }
  });

  it('a server that refuses everything is left in peace at last', async () => {
    const words = 'thinking adaptive temperature top_p cache_control stop_sequences max_tokens > 1 not supported';
    const asking = { ...request, thinkingBudget: 2000, temperature: 0, topP: 1, stopSequences: ['x'] };
    const { result, asked } = await ask(() => refusal(400, 'invalid_request_error', words), { asking });
    assert.equal(result.error?.code, 'LLM_HTTP_ERROR');
    assert.ok(asked.length < 12, `${asked.length}`);
  });
});

describe('Anthropic, stopped', () => {
  const stages: [stage: string, answer: Answer, when: (chunk: object | undefined) => boolean][] = [
    ['before it answers', { ...reply([says]), lateMs: Number.POSITIVE_INFINITY }, () => true],
    ['before its first word', { steps: ['hang'] }, (chunk) => chunk !== undefined],
    ['in the middle of text', broken([says], 'hang'), (chunk) => 'content' in (chunk ?? {})],
    ['in the middle of thinking', broken([thinking('hm', 's')], 'hang'), (chunk) => 'thinking' in (chunk ?? {})],
    ['in the middle of a call', broken([wants], 'hang'), (chunk) => 'toolCallDelta' in (chunk ?? {})],
  ];
  for (const [stage, answer, when] of stages) {
    it(`${stage}: at once, and its socket is closed`, async () => {
      const server = await startAnthropic([answer]);
      const stop = new AbortController();
      const reason = new Error('stopped by the person');
      const chunks = clientFor(server.url).chatStream(request, stop.signal);
      const listening = (async () => {
        for await (const chunk of chunks) {
          assert.ok(!stop.signal.aborted, 'nothing arrives after a stop');
          if (when(chunk)) stop.abort(reason);
        }
      })();
      if (when(undefined)) {
        while (server.asked.length === 0) await new Promise((done) => setTimeout(done, 5));
        stop.abort(reason);
      }
      await assert.rejects(listening, reason);
      await quiet(server);
      assert.equal(server.asked[0]?.abandoned, true);
    });
  }
});

describe('the models of Anthropic', () => {
  const list = (body: object): Answer => ({
    headers: { 'content-type': 'application/json' },
    steps: [JSON.stringify(body)],
  });

  it('are listed page by page', async () => {
    const server = await startAnthropic([
      list({ data: [{ id: 'a', max_input_tokens: 200_000 }, { id: 7 }], has_more: true, last_id: 'a/1' }),
      list({ data: [{ id: 'b', type: 'model' }, null], has_more: false, last_id: 'b' }),
    ]);
    const models = await clientFor(server.url).listModels?.();
    assert.deepEqual(models, [{ id: 'a', contextWindow: 200_000 }, { id: 'b' }]);
    assert.deepEqual(
      server.asked.map(({ method, path, headers }) => [method, path, headers['x-api-key']]),
      [
        ['GET', '/v1/models?limit=1000', canary],
        ['GET', '/v1/models?limit=1000&after_id=a%2F1', canary],
      ],
    );
  });

  it('a list that never ends is left', async () => {
    const server = await startAnthropic(() => list({ data: [{ id: 'a' }], has_more: true, last_id: 'a' }));
    assert.equal((await clientFor(server.url).listModels?.())?.length, 10);
  });

  it('something else is refused', async () => {
    const server = await startAnthropic([list({ ok: true })]);
    await assert.rejects(async () => clientFor(server.url).listModels?.(), { code: 'LLM_BAD_RESPONSE' });
  });
});
