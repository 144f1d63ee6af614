import assert from 'node:assert/strict';
import { createAdapter } from '../../../src/llm/adapter/adapter.ts';
import type { ChatRequest, ChatStreamChunk, LLMClient } from '../../../src/llm/core/client.ts';
import { createGoogleClient, type GoogleClientOptions } from '../../../src/llm/google/client.ts';
import { googleBaseUrl } from '../../../src/llm/models/providers.ts';
import type { AssistantMessage, Message } from '../../../src/protocol/content/messages.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import {
  callPart,
  type GoogleScript,
  type GoogleServer,
  googleKey,
  googleReply,
  startGoogle,
} from '../../support/google.ts';
import { greeting, hear, served } from '../serve.ts';

let google: GoogleServer;
beforeEach(async () => {
  google = await startGoogle();
});
afterEach(() => google.close());

function clientOf(options: Partial<GoogleClientOptions> = {}): LLMClient {
  return createGoogleClient({ baseUrl: google.url, apiKey: googleKey, ...options });
}

const request: ChatRequest = { ...greeting, model: 'gemini-2.5-pro' };

async function ask(script: GoogleScript, more: Partial<ChatRequest> = {}, options: Partial<GoogleClientOptions> = {}) {
  google.script = script;
  return hear(clientOf(options).chatStream({ ...request, ...more }));
}

describe('an answer of Gemini that is none', () => {
  const rows: [says: string, candidate: object, attempts: number, message: string][] = [
    ['STOP with nothing is asked once more', { finishReason: 'STOP' }, 2, 'The model returned an empty answer.'],
    [
      'a malformed call is asked again, and its words are told',
      { finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'print(1)' },
      4,
      'gemini-2.5-pro ended its answer with an error: print(1)',
    ],
    [
      'a filter is not asked again, and its words are told',
      { finishReason: 'SAFETY', finishMessage: 'Not this.' },
      1,
      'The provider of gemini-2.5-pro filtered this answer: Not this.',
    ],
  ];
  for (const [says, candidate, attempts, message] of rows) {
    it(says, async () => {
      const adapter = createAdapter(clientOf(), { baseDelayMs: 1 });
      const run = () => adapter.complete(request, { signal: new AbortController().signal });
      const result = await served(
        { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ candidates: [candidate] }) },
        'whole',
        run,
      );
      assert.deepEqual([result.attempts, result.error?.message], [attempts, message]);
    });
  }
});

describe('a conversation with Gemini', () => {
  it('text, thinking, usage and model', async () => {
    const heard = await ask([googleReply.thinking('Hm, a greeting.').text('Hello 🙂, wörld!')]);
    assert.deepEqual(heard, {
      text: 'Hello 🙂, wörld!',
      thinking: 'Hm, a greeting.',
      calls: [],
      finish: 'stop',
      usage: { promptTokens: 12, completionTokens: 5, totalTokens: 17 },
      model: 'gemini-test',
      order: ['thinking', 'text'],
    });
    const [{ path, headers, body }] = google.requests as [GoogleServer['requests'][0]];
    assert.equal(path, '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse');
    assert.equal(headers['x-goog-api-key'], googleKey);
    assert.equal(headers.authorization, undefined);
    assert.deepEqual(body.contents, [{ role: 'user', parts: [{ text: 'hi' }] }]);
  });

  it('one call', async () => {
    const { calls, finish } = await ask([googleReply.text('Reading.').call('fs_read', { path: 'a' })]);
    assert.deepEqual([calls[0]?.name, calls[0]?.arguments, finish], ['fs.read', { path: 'a' }, 'tool_calls']);
  });

  it('parallel calls', async () => {
    const both = googleReply.together(callPart('fs_read', { path: 'a' }), callPart('fs_write', { path: 'b' }));
    const { calls } = await ask([both]);
    assert.deepEqual(
      calls.map(({ name, arguments: given }) => [name, given]),
      [
        ['fs.read', { path: 'a' }],
        ['fs.write', { path: 'b' }],
      ],
    );
  });

  it('a call without arguments', async () => {
    const { calls } = await ask([googleReply.call('fs_read')]);
    assert.deepEqual([calls[0]?.arguments, calls[0]?.malformed], [{}, undefined]);
  });

  it('malformed arguments are told, not run', async () => {
    const { calls, finish } = await ask([googleReply.call('fs_read', 'path=a')]);
    assert.deepEqual([calls[0]?.arguments, calls[0]?.malformed, finish], [{}, '"path=a"', 'tool_calls']);
  });

  it('a whole turn of Gemini 3: signatures and ids go back as they came, or it would refuse', async () => {
    google.script = [
      googleReply
        .thinking('Two files.')
        .together(
          callPart('fs_read', { path: 'a' }, { id: 'x1', thoughtSignature: 's1' }),
          callPart('fs_read', { path: 'b' }, { id: 'x2' }),
        ),
      googleReply.text('Done.'),
    ];
    const client = clientOf();
    const model = 'gemini-3-pro-preview';
    const first = await client.chat({ ...request, model });
    const { content, thinking, toolCalls = [], native } = first;
    const said: AssistantMessage = { role: 'assistant', content: content ?? '', thinking, toolCalls, native };
    const results: Message = {
      role: 'tool',
      content: '',
      toolResults: toolCalls.map(({ id }) => ({ toolCallId: id, content: '{"ok":true,"data":1}' })),
    };
    const stored = JSON.parse(JSON.stringify([...request.messages, said, results])) as Message[];
    const second = await client.chat({ ...request, model, messages: stored });
    assert.deepEqual([second.content, second.finishReason], ['Done.', 'stop']);
    assert.deepEqual(google.requests[1]?.body.contents.slice(1), [
      {
        role: 'model',
        parts: [
          { text: 'Two files.', thought: true },
          callPart('fs_read', { path: 'a' }, { id: 'x1', thoughtSignature: 's1' }),
          callPart('fs_read', { path: 'b' }, { id: 'x2' }),
        ],
      },
      {
        role: 'user',
        parts: ['x1', 'x2'].map((id) => ({
          functionResponse: { id, name: 'fs_read', response: { ok: true, data: 1 } },
        })),
      },
    ]);
  });

  it('a conversation another provider began goes on with Gemini 3, and no signature is invented', async () => {
    const messages: Message[] = [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'call_1', name: 'fs.read', arguments: { path: 'a' } }],
        native: { provider: 'anthropic', content: [{ type: 'thinking', signature: 'foreign' }] },
      },
      { role: 'tool', content: '', toolResults: [{ toolCallId: 'call_1', content: '{"ok":true,"data":"text"}' }] },
    ];
    const model = 'gemini-3-pro-preview';
    google.script = () => googleReply.text('Done.');
    const client = clientOf();
    const heard = await hear(client.chatStream({ ...request, model, messages }));
    assert.deepEqual([heard.text, heard.error, google.requests.length], ['Done.', undefined, 2]);
    const sent = JSON.stringify(google.requests[1]!.body.contents);
    assert.ok(!/ignature/.test(sent) && sent.includes('was called with'), sent);
    await hear(client.chatStream({ ...request, model, messages }));
    assert.equal(google.requests.length, 3, 'it is learned once');
  });

  it('a model that does not think is asked once more without', async () => {
    const heard = await ask(({ generationConfig }) =>
      generationConfig?.thinkingConfig
        ? googleReply.error(400, 'INVALID_ARGUMENT', 'Thinking is not enabled for models/gemini-2.5-flash-image')
        : googleReply.text('ok'),
    );
    assert.deepEqual([heard.text, google.requests.length], ['ok', 2]);
  });

  it('the tools of Towpath are taken', async () => {
    const tools = builtinTools().map(({ definition }) => definition);
    const { text, error } = await ask([googleReply.text('ok')], { tools });
    assert.deepEqual([text, error], ['ok', undefined]);
    const declared = google.requests[0]!.body.tools![0]!.functionDeclarations;
    assert.equal(declared.length, tools.length);
    assert.ok(declared.every(({ parameters }) => parameters));
  });
});

describe('when Gemini refuses', () => {
  const wrong = 'AIzaSyWRONGCANARY_9876543210zyxwvutsrqp';
  it('a wrong key, which is a 400', async () => {
    const { error } = await ask([], {}, { apiKey: wrong });
    assert.deepEqual([error?.code, error?.status, error?.retryable], ['LLM_AUTH_FAILED', 400, false]);
    assert.match(error!.message, /rejected the API key.*Set API Key/);
  });

  it('no key', async () => {
    const { error } = await ask([], {}, { apiKey: undefined });
    assert.equal(error?.code, 'LLM_AUTH_FAILED');
    assert.match(error!.message, /^No API key for Google Gemini/);
  });

  it('401', async () => {
    const { error } = await ask([googleReply.error(401, 'UNAUTHENTICATED', 'Request had invalid credentials.')]);
    assert.equal(error?.code, 'LLM_AUTH_FAILED');
  });

  it('a key that no header can carry', async () => {
    const { error } = await ask([], {}, { apiKey: `${wrong}…` });
    assert.deepEqual(
      [error?.code, error?.message.includes('CANARY'), google.requests.length],
      ['LLM_AUTH_FAILED', false, 0],
    );
  });

  const violation = (quotaId: string) => [
    { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId }] },
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' },
  ];
  const quota = 'You exceeded your current quota, please check your plan and billing details.';
  const limits: [says: string, reply: typeof googleReply, retryable: boolean, retryAfterMs?: number][] = [
    [
      '429 with Retry-After',
      googleReply.status(429, { error: { message: 'Slow down.' } }, { 'retry-after': '3' }),
      true,
      3000,
    ],
    [
      '429 with the wait in the body',
      googleReply.error(429, 'RESOURCE_EXHAUSTED', quota, violation('PerMinute')),
      true,
      7000,
    ],
    [
      '429 for today',
      googleReply.error(429, 'RESOURCE_EXHAUSTED', quota, violation('RequestsPerDayPerProject')),
      false,
      7000,
    ],
    ['429 without a word', googleReply.status(429, ''), true],
  ];
  for (const [says, reply, retryable, retryAfterMs] of limits) {
    it(says, async () => {
      const { error } = await ask([reply]);
      assert.deepEqual(
        [error?.code, error?.retryable, error?.retryAfterMs],
        ['LLM_RATE_LIMITED', retryable, retryAfterMs],
      );
    });
  }

  const others: [says: string, reply: typeof googleReply, code: string, retryable: boolean, words: RegExp][] = [
    [
      '500',
      googleReply.error(500, 'INTERNAL', 'An internal error has occurred.'),
      'LLM_HTTP_ERROR',
      true,
      /internal error/,
    ],
    ['503', googleReply.error(503, 'UNAVAILABLE', 'The model is overloaded.'), 'LLM_HTTP_ERROR', true, /overloaded/],
    ['502 of a proxy', googleReply.status(502, '<html><h1>Bad gateway</h1>'), 'LLM_HTTP_ERROR', true, /Bad gateway/],
    [
      'an error in a list',
      googleReply.status(500, [{ error: { message: 'In a list.' } }]),
      'LLM_HTTP_ERROR',
      true,
      /In a list/,
    ],
    [
      '404',
      googleReply.error(404, 'NOT_FOUND', 'models/x is not found.'),
      'LLM_HTTP_ERROR',
      false,
      /models\/x is not found/,
    ],
    [
      'a full window',
      googleReply.error(
        400,
        'INVALID_ARGUMENT',
        'The input token count (9) exceeds the maximum number of tokens allowed (8).',
      ),
      'LLM_CONTEXT_OVERFLOW',
      false,
      /longer than the model's context window/,
    ],
    [
      'a page instead of a stream',
      googleReply.status(200, '<html>Sign in</html>'),
      'LLM_BAD_RESPONSE',
      false,
      /Sign in/,
    ],
    [
      'a redirect',
      googleReply.status(302, '', { location: 'http://elsewhere.example/' }),
      'LLM_HTTP_ERROR',
      false,
      /not followed/,
    ],
  ];
  for (const [says, reply, code, retryable, words] of others) {
    it(says, async () => {
      const { error } = await ask([reply]);
      assert.deepEqual([error?.code, error?.retryable], [code, retryable]);
      assert.match(error!.message, words);
    });
  }

  it('a key in its words is not passed on', async () => {
    const { error } = await ask([
      googleReply.error(400, 'INVALID_ARGUMENT', `Key ${googleKey} and AIzaSyOTHERCANARY_123456789012345 are odd.`),
    ]);
    assert.match(error!.message, /\[key\]/);
    assert.ok(!/CANARY/.test(JSON.stringify(error)), error!.message);
  });

  it('an address without encryption gets no key', async () => {
    const { error } = await ask([], {}, { baseUrl: 'http://models.example/v1beta' });
    assert.match(error!.message, /without encryption/);
  });
});

describe('when the stream of Gemini goes wrong', () => {
  it('cut in the middle: what came stays, no call counts', async () => {
    const { text, calls, error } = await ask([googleReply.text('Hello').call('fs_read', { path: 'a' }).cut()]);
    assert.deepEqual([text, calls, error?.code, error?.retryable], ['Hello', [], 'LLM_INCOMPLETE', true]);
  });

  it('it ends without its end', async () => {
    const { error } = await ask([googleReply.text('Hello').with({ ends: false })]);
    assert.equal(error?.code, 'LLM_INCOMPLETE');
  });

  it('silence', async () => {
    const fetchLimits = { connectMs: 100, idleMs: 50 };
    const late = await ask([googleReply.late(Number.POSITIVE_INFINITY)], {}, { fetchLimits });
    assert.deepEqual([late.error?.code, late.error?.retryable], ['LLM_TIMEOUT', true]);
    google.requests.length = 0;
    const hung = await ask([googleReply.text('Hello').hang()], {}, { fetchLimits: { idleMs: 50 } });
    assert.deepEqual([hung.text, hung.error?.code], ['Hello', 'LLM_TIMEOUT']);
  });

  it('a server that does not close after the end is not waited for', async () => {
    const { steps } = googleReply.with({ steps: googleReply.text('Hello').allSteps() }).hang();
    const { text, finish, error } = await ask(
      [googleReply.with({ steps, ends: false })],
      {},
      { fetchLimits: { closeMs: 30 } },
    );
    assert.deepEqual([text, finish, error], ['Hello', 'stop', undefined]);
  });

  const stages: [says: string, reply: typeof googleReply, chunks: number][] = [
    ['before the headers', googleReply.late(Number.POSITIVE_INFINITY), 0],
    ['before the first event', googleReply.hang(), 1],
    ['between events', googleReply.text('Hello').hang(), 2],
    ['in the middle of a flood', googleReply.endless(0), 20],
    ['after a call', googleReply.call('fs_read', { path: 'a' }).hang(), 2],
  ];
  for (const [says, reply, count] of stages) {
    it(`stopped ${says}`, async () => {
      google.script = [reply];
      const stop = new AbortController();
      const reason = new Error('stopped');
      const chunks: ChatStreamChunk[] = [];
      const stream = clientOf().chatStream(request, stop.signal);
      const end = (async () => {
        for await (const chunk of stream) if (chunks.push(chunk) >= count && count > 0) stop.abort(reason);
      })();
      if (count === 0) {
        while (google.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
        stop.abort(reason);
      }
      await assert.rejects(end, reason);
      assert.ok(chunks.every(({ toolCall }) => !toolCall));
      while (google.openSockets > 0) await new Promise((resolve) => setTimeout(resolve, 5));
      assert.equal(google.requests[0]?.abandoned, true);
    });
  }

  it('stopped before it began, nothing is asked', async () => {
    const reason = new Error('stopped');
    await assert.rejects(clientOf().chat(request, AbortSignal.abort(reason)), reason);
    assert.equal(google.requests.length, 0);
  });
});

describe('the models of Gemini', () => {
  const model = (name: string, more: object = {}) => ({
    name,
    inputTokenLimit: 1_048_576,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
    ...more,
  });

  it('are those that can hold a conversation', async () => {
    google.models = {
      models: [
        model('models/gemini-2.5-pro'),
        model('tunedModels/mine', { inputTokenLimit: undefined }),
        model('models/embedding-001', { supportedGenerationMethods: ['embedContent'] }),
        model('', {}),
        null,
        'x',
        { name: 'models/plain' },
      ],
    };
    assert.deepEqual(await clientOf().listModels!(), [
      { id: 'gemini-2.5-pro', contextWindow: 1_048_576 },
      { id: 'tunedModels/mine' },
      { id: 'plain' },
    ]);
    const [{ path, headers }] = google.otherRequests as [GoogleServer['requests'][0]];
    assert.deepEqual([path, headers['x-goog-api-key']], ['/v1beta/models?pageSize=1000', googleKey]);
  });

  it('come in pages, and never without end', async () => {
    google.models = { models: [model('models/a')], nextPageToken: 'a/b' };
    const models = await clientOf().listModels!();
    assert.equal(models.length, 10);
    assert.equal(google.otherRequests[1]?.path, '/v1beta/models?pageSize=1000&pageToken=a%2Fb');
  });

  it('none at all', async () => {
    google.models = {};
    assert.deepEqual(await clientOf().listModels!(), []);
  });

  it('a list that is none', async () => {
    google.models = { data: [] };
    await assert.rejects(clientOf().listModels!(), { code: 'LLM_BAD_RESPONSE' });
    await assert.rejects(clientOf({ apiKey: 'AIzaSyWRONG' }).listModels!(), { code: 'LLM_AUTH_FAILED' });
  });

  it('are asked for by the names they are listed with', async () => {
    google.script = () => googleReply.text('ok');
    for (const name of ['models/gemini-2.5-pro', 'tunedModels/mine', 'odd name?x#y']) {
      await clientOf({ baseUrl: ` ${google.url}/ ` }).chat({ ...request, model: name });
    }
    assert.deepEqual(
      google.requests.map(({ path }) => path.replace(':streamGenerateContent?alt=sse', '')),
      ['/v1beta/models/gemini-2.5-pro', '/v1beta/tunedModels/mine', '/v1beta/models/odd%20name%3Fx%23y'],
    );
  });

  it('without an address it is Google’s own', async () => {
    const fetchBefore = globalThis.fetch;
    let asked = '';
    globalThis.fetch = async (url) => {
      asked = String(url);
      return Response.json({ models: [] });
    };
    try {
      await createGoogleClient({ apiKey: googleKey }).listModels!();
    } finally {
      globalThis.fetch = fetchBefore;
    }
    assert.equal(asked, `${googleBaseUrl}/models?pageSize=1000`);
    assert.ok(!asked.includes(googleKey));
  });
});

describe('byte soup instead of Gemini', () => {
  it('is an error of the model layer, never anything else', async () => {
    let state = 7;
    const next = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return state % below;
    };
    const crumbs = [
      'data: ',
      '{',
      '}',
      '[',
      ']',
      '"candidates":',
      '"parts":',
      '"functionCall":',
      '"text":',
      'null',
      ',',
      '\n\n',
      '1e9',
      '"x"',
      '\u{1F642}',
      '\0',
      ': ',
    ];
    for (let round = 0; round < 300; round++) {
      const body = Array.from({ length: next(40) }, () => crumbs[next(crumbs.length)]).join('');
      const headers = { 'content-type': next(2) ? 'text/event-stream' : 'application/json' };
      const heard = await served({ headers, body }, 'sevens', () => hear(clientOf().chatStream(request)));
      assert.ok(heard.error, body);
    }
  });
});
