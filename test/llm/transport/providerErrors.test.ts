import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { connectionError, connectionInterruptedError } from '../../../src/llm/transport/connectionErrors.ts';
import {
  httpStatusToError,
  reportedContextSize,
  streamErrorToError,
} from '../../../src/llm/transport/providerErrors.ts';
import { redact } from '../../../src/llm/transport/redact.ts';

const canary = 'sk-CANARYKEY1234567890';
const endpoint = { label: 'Somewhere', host: 'models.example', secrets: [canary], hasKey: true };

describe('what providers say when they refuse', () => {
  const bodies: [shape: string, body: unknown, says: string][] = [
    ['OpenAI', { error: { message: 'No such thing.', type: 'x', param: null, code: null } }, 'No such thing.'],
    ['Ollama, xAI', { code: 'x', error: 'No such thing.' }, 'No such thing.'],
    ['FastAPI', { detail: 'No such thing.' }, 'No such thing.'],
    [
      'FastAPI, several',
      { detail: [{ loc: ['a'], msg: 'No such thing' }, { msg: 'nor that' }] },
      'No such thing; nor that',
    ],
    ['vLLM', { object: 'error', message: 'No such thing.', code: 400 }, 'No such thing.'],
    ['Gemini', [{ error: { code: 400, message: 'No such thing.', status: 'X' } }], 'No such thing.'],
    ['a list of errors', { errors: [{ message: 'No such thing' }] }, 'No such thing'],
    ['wrapped twice', { error: { error: { message: 'No such thing.' } } }, 'No such thing.'],
    [
      'OpenRouter',
      { error: { message: 'Provider returned error', metadata: { raw: 'No such thing.' } } },
      'Provider returned error: No such thing.',
    ],
    [
      'HTML',
      '<html><head><style>b{}</style></head><body><b>No</b>\n such&nbsp;thing.</body></html>',
      'No such&nbsp;thing.',
    ],
    ['text', ' No such\tthing. ', 'No such thing.'],
    ['the key itself', { error: `Key ${canary} is not known.` }, 'Key [key] is not known.'],
  ];
  for (const [shape, body, says] of bodies) {
    it(shape, () => {
      const error = httpStatusToError(endpoint, 422, body);
      assert.equal(error.message, `Somewhere (models.example) answered 422: ${says}`);
      assert.ok(!JSON.stringify(error.toInfo()).includes(canary));
    });
  }
  const cut: [where: string, body: unknown][] = [
    ['where a long text ends', { error: `${'word '.repeat(98)}Key ${canary} is not known.` }],
    ['where a page ends that is cut before it is read', `${'<br><hr>'.repeat(2498)}Key: ${canary}`],
    ['in a text without blanks', { error: `${'.'.repeat(492)}${canary}` }],
    ['as the parameter', { error: { message: 'No.', param: canary } }],
  ];
  for (const [where, body] of cut)
    it(`no part of the key ${where}`, () => {
      const told = JSON.stringify(httpStatusToError(endpoint, 422, body).toInfo());
      assert.ok(!told.includes(canary.slice(0, 6)), told);
    });
  it('an answer in a script without blanks is cut, not lost', () => {
    const { message } = httpStatusToError(endpoint, 422, { error: '不'.repeat(600) });
    assert.ok(message.endsWith('不'.repeat(500)), message);
  });
  it('nothing, and what is none of these', () => {
    const messages = ['', {}, [], null, 7, { error: {} }].map((body) => httpStatusToError(endpoint, 422, body).message);
    assert.deepEqual(new Set(messages), new Set(['Somewhere (models.example) answered 422.']));
  });
  const spent: [status: number, words: string, code: string][] = [
    [402, 'Insufficient Balance', 'LLM_HTTP_ERROR'], // DeepSeek, OpenRouter
    [400, 'Your credit balance is too low to access the Anthropic API.', 'LLM_HTTP_ERROR'],
    [429, 'You exceeded your current quota.', 'LLM_RATE_LIMITED'],
  ];
  for (const [status, words, code] of spent) {
    it(`${status} where no credit is left`, () => {
      const error = httpStatusToError(endpoint, status, { error: { message: words } });
      const message = `The account at Somewhere (models.example) has no credit left: ${words}`;
      assert.deepEqual([error.code, error.message, error.retryable], [code, message, false]);
    });
  }
  const slips: [who: string, status: number, error: object][] = [
    [
      'llama-server',
      500,
      { message: 'The model produced output that does not match the expected peg-native format', type: 'server_error' },
    ],
    ['llama-server', 500, { message: 'The model produced output that does not match the expected peg-gemma4 format' }],
    ['llama-server of before', 500, { message: 'Failed to parse input at pos 212: </tool_call>' }],
    ['Ollama', 500, { message: `error parsing tool call: raw='{"path":', err=unexpected end of JSON input` }],
    ['Groq', 400, { message: 'Failed to call a function.', code: 'tool_use_failed', failed_generation: '<fun' }],
  ];
  for (const [who, status, said] of slips)
    it(`${who} cannot read what the model wrote: the model's slip, and one more try`, () => {
      for (const error of [
        httpStatusToError(endpoint, status, { error: said }),
        streamErrorToError(endpoint, { error: said }),
      ]) {
        assert.deepEqual([error.code, error.retryable], ['LLM_BAD_RESPONSE', 'once']);
        assert.match(error.message, /^Somewhere \(models\.example\) could not read the output of its model: \S/);
      }
    });
  it('a history that a template refuses is no slip of the model', () => {
    const said = { message: 'Failed to parse tool call arguments as JSON: syntax error', code: 500 };
    assert.equal(httpStatusToError(endpoint, 500, { error: said }).code, 'LLM_HTTP_ERROR');
  });
  it('Google asks to wait in the body', () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' }];
    assert.equal(httpStatusToError(endpoint, 429, { error: { message: 'x', details } }).retryAfterMs, 34_500);
  });
});

describe('how large the window is, of a conversation that did not fit', () => {
  const says: [who: string, words: string, window: number | undefined][] = [
    [
      'OpenAI',
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9120 tokens. Please reduce the length of the messages.",
      8192,
    ],
    [
      'vLLM',
      "This model's maximum context length is 6048 tokens. However, you requested 6616 tokens (568 in the messages, 6048 in the completion).",
      6048,
    ],
    ['llama.cpp', 'the request exceeds the available context size (4096 tokens), try increasing it', 4096],
    [
      'LM Studio',
      'Trying to keep the first 6269 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
      4096,
    ],
    ['xAI', "This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072],
    ['Moonshot', 'Invalid request: Your request exceeded model token limit: 8192', 8192],
    ['llama-cpp-python', 'Requested tokens (5120) exceed context window of 2048', 2048],
    ['Anthropic', 'prompt is too long: 210000 tokens > 200000 maximum', 200_000],
    [
      'Anthropic, with the answer',
      'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length',
      200_000,
    ],
    ['Google', 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', 1_048_576],
    [
      'Mistral',
      'Prompt contains 40000 tokens, too large for model with 32768 maximum context length, reduce the length of the prompt',
      32_768,
    ],
    ['TensorRT-LLM', 'Prompt length (5056) exceeds maximum sequence length (2048)', 2048],
    ['Poolside', 'Input length 262200 exceeds the maximum allowed input length of 262144 tokens.', 262_144],
    ['DashScope', 'InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]', 129_024],
    ['TGI', '`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens', 8193],
    ['SiliconFlow', 'length of prompt_tokens (45232) must be less than max_seq_len (32768).', 32_768],
    ['tabbyAPI', 'Request length 71599 + 2048 is greater than max_seq_len 65536', 65_536],
    ['GitHub Copilot', 'prompt token count of 140001 exceeds the limit of 128000', 128_000],
    ['Bedrock', 'Too many input tokens. Max input tokens: 8192, request input token count: 9279', 8192],
    ['LM Studio, of the beginning', 'is greater than the context length (n_keep: 5000>= n_ctx: 4096).', 4096],
    ['Groq', 'Request too large on tokens per minute (TPM): Limit 6000, Requested 14810', 6000],
    ['MiniMax, whose number is a code', 'invalid params, context window exceeds limit (2013)', undefined],
    ['nobody', 'context_length_exceeded: the conversation is too long', undefined],
    [
      'what cannot be',
      "This model's maximum context length is 3 tokens. However, your request has 800 input tokens.",
      undefined,
    ],
  ];
  for (const [who, words, window] of says)
    it(who, () => {
      const error = httpStatusToError(endpoint, 400, { error: { message: words } }).toInfo();
      assert.deepEqual([error.code, reportedContextSize(error)], ['LLM_CONTEXT_OVERFLOW', window]);
    });

  it('nothing of another error', () => {
    const error = httpStatusToError(endpoint, 429, {
      error: { message: 'maximum context length is 8192 tokens' },
    }).toInfo();
    assert.equal(reportedContextSize(error), undefined);
  });
});

describe('a bad key that is a 400', () => {
  const words = [
    'Incorrect API key provided: xa***ey. You can obtain an API key from https://console.x.ai.',
    'API key not valid. Please pass a valid API key.',
    'Invalid API Key',
    'Missing API key',
    'You must provide a valid API key.',
    'The api_key is expired.',
    { code: 'API_KEY_INVALID', message: 'No.' },
  ];
  for (const said of words)
    it(JSON.stringify(said), () =>
      assert.equal(httpStatusToError(endpoint, 400, { error: said }).code, 'LLM_AUTH_FAILED'),
    );
  it('is not every 400 with a key in its words', () => {
    for (const said of ['The key "a" is missing in the schema.', 'Invalid cache key.'])
      assert.equal(httpStatusToError(endpoint, 400, { error: said }).code, 'LLM_HTTP_ERROR');
  });
});

describe('a connection that fails', () => {
  const failing = (code: string) =>
    new TypeError('fetch failed', { cause: Object.assign(new Error('it failed'), { code }) });
  const rows: [code: string, before: string, within: string, retried: boolean][] = [
    ['ECONNREFUSED', 'LLM_HTTP_ERROR', 'LLM_INCOMPLETE', true],
    ['ECONNRESET', 'LLM_HTTP_ERROR', 'LLM_INCOMPLETE', true],
    ['UND_ERR_CONNECT_TIMEOUT', 'LLM_TIMEOUT', 'LLM_TIMEOUT', true],
    ['UND_ERR_HEADERS_TIMEOUT', 'LLM_TIMEOUT', 'LLM_TIMEOUT', true],
    ['UND_ERR_BODY_TIMEOUT', 'LLM_TIMEOUT', 'LLM_TIMEOUT', true],
    ['CERT_HAS_EXPIRED', 'LLM_HTTP_ERROR', 'LLM_INCOMPLETE', false],
  ];
  for (const [code, before, within, retried] of rows)
    it(code, () => {
      const early = connectionError(endpoint, failing(code));
      const late = connectionInterruptedError(endpoint, failing(code));
      assert.deepEqual([early.code, early.retryable, late.code], [before, retried, within]);
      for (const { message, details } of [early, late]) {
        assert.match(message, /Somewhere \(models\.example\)/);
        assert.doesNotMatch(message, new RegExp(`${code}|it failed`));
        assert.deepEqual(details, { reason: code, text: `${code}: it failed` });
      }
    });
  it('every code of the system is in the details alone', () => {
    for (const code of [
      ...Object.keys(constants.errno),
      'ENOTFOUND',
      'EAI_AGAIN',
      'HPE_INVALID_CONSTANT',
      'Z_DATA_ERROR',
    ])
      for (const error of [
        connectionError(endpoint, failing(code)),
        connectionInterruptedError(endpoint, failing(code)),
      ]) {
        assert.ok(!error.message.includes(code), error.message);
        assert.match(JSON.stringify(error.details), new RegExp(code));
      }
  });
  it('a text without a code: its reason is told where it is known, and is in the details', () => {
    const cause = (message: string) => new TypeError('fetch failed', { cause: new Error(message) });
    const rows: [text: string, message: string][] = [
      [
        'bad port',
        'Somewhere (models.example) cannot be reached: this port is blocked. Check the address, the network, and that the server runs.',
      ],
      [
        'net::ERR_NAME_NOT_RESOLVED',
        'Somewhere (models.example) cannot be reached: the host name was not found. Check the address, the network, and that the server runs.',
      ],
      [
        'net::ERR_CERT_AUTHORITY_INVALID',
        "The certificate of Somewhere (models.example) was not accepted: the issuer of the certificate is unknown. Fix it on the server, or add its authority to this system's.",
      ],
      [
        `something odd ${canary}`,
        'Somewhere (models.example) cannot be reached. Check the address, the network, and that the server runs.',
      ],
    ];
    for (const [text, message] of rows) {
      const error = connectionError(endpoint, cause(text));
      assert.equal(error.message, message);
      assert.equal((error.details as { text: string }).text, text.replace(canary, '[key]'));
    }
  });
});

describe('whether another attempt may help', () => {
  const rows: [status: number, body: unknown, says: string | undefined, retryable: boolean][] = [
    [500, '', undefined, true],
    [500, '', 'false', false],
    [429, '', ' False', false],
    [409, '', undefined, false],
    [409, '', 'true', true],
    [400, '', 'true', true],
    [400, '', 'perhaps', false],
    [401, '', 'true', false],
    [400, { error: { code: 'context_length_exceeded' } }, 'true', false],
  ];
  for (const [status, body, says, retryable] of rows) {
    it(`${status} ${JSON.stringify(body)}, x-should-retry: ${says}`, () => {
      const headers = new Headers(says === undefined ? {} : { 'x-should-retry': says });
      assert.equal(httpStatusToError(endpoint, status, body, headers).retryable, retryable);
    });
  }
});

describe('keys in texts', () => {
  const texts: [text: string, clean: string][] = [
    [`before ${canary} after ${canary}`, 'before [key] after [key]'],
    ['p%40ss%20word', '[key]'],
    ['another sk-proj-abcdefgh12345678', 'another [key]'],
    ['Authorization: Bearer abcdefgh12345678', 'Authorization: [key]'],
    ['AIzaSyA1234567890abcdefghijk', '[key]'],
    [
      'Incorrect API key provided: sk-. A bearer token is wanted.',
      'Incorrect API key provided: sk-. A bearer token is wanted.',
    ],
  ];
  // With signs that mean something in addresses, regular expressions and JSON.
  const odd = 'a+b/c=$&(d)[e]*"f\\g?.h|i^j';
  const inBase64 = (text: string) => Buffer.from(text).toString('base64');
  const written: [how: string, text: string][] = [
    ['as it is', odd],
    ['in an address', encodeURIComponent(odd)],
    ['in an address of .NET', encodeURIComponent(odd).replace(/%../g, (escaped) => escaped.toLowerCase())],
    ['in JSON', JSON.stringify(odd).slice(1, -1)],
    ['in base64', inBase64(odd)],
    ['as the password of no user', inBase64(`:${odd}`)],
    ['as the password of a user', inBase64(`me:${odd}`)],
    ['as a user without a password', inBase64(`${odd}:`)],
    ['in base64 for addresses', Buffer.from(`${odd}~~~`).toString('base64url')],
  ];
  for (const [how, text] of written)
    it(`the key ${how}`, () => assert.equal(redact(`Basic ${text}, you said.`, [odd]), 'Basic [key], you said.'));
  for (const [text, clean] of texts) it(clean, () => assert.equal(redact(text, [canary, 'p@ss word', 'x']), clean));
});
