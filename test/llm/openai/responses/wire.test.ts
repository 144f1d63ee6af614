import assert from 'node:assert/strict';
import type OpenAI from 'openai';
import { createAdapter } from '../../../../src/llm/adapter/adapter.ts';
import type { ChatRequest } from '../../../../src/llm/core/client.ts';
import { createLLMClient, type ProviderChoice } from '../../../../src/llm/createClient.ts';
import type { OpenAIResponsesRestrictions } from '../../../../src/llm/openai/responses/flags.ts';
import { toOpenAIResponsesWireRequest } from '../../../../src/llm/openai/responses/wire.ts';
import type { AssistantMessage, Message } from '../../../../src/protocol/content/messages.ts';
import type { JsonSchema } from '../../../../src/protocol/content/tools.ts';
import { assistant, call, results, user } from '../../../support/messages.ts';
import { type ProviderReply, reply } from '../../../support/provider.ts';
import * as said from '../../../support/responses.ts';
import { hear } from '../../serve.ts';

type Body = OpenAI.Responses.ResponseCreateParamsStreaming;

const plain: OpenAIResponsesRestrictions = { provider: 'openai' };
const ask = (more: Partial<ChatRequest>): ChatRequest => ({ model: 'm', messages: [user('hi')], ...more });
const tools = [{ name: 'fs.read', description: 'Reads.', parameters: { type: 'object' } }];
const closed = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
const open = { type: 'object', properties: { a: { type: 'string' } } };
const answer = (schema: JsonSchema): Partial<ChatRequest> => ({
  responseFormat: { type: 'json_schema', name: 'an.answer', schema },
});
const spoken = (...texts: string[]): OpenAI.Responses.ResponseInputItem => ({
  type: 'message',
  role: 'user',
  content: texts.map((text) => ({ type: 'input_text', text })),
});

/** What a wish becomes in the body; a value of undefined: the field is not there. */
const wishes: [
  says: string,
  request: Partial<ChatRequest>,
  flags: Partial<OpenAIResponsesRestrictions>,
  wire: Partial<Body>,
][] = [
  [
    'what is always so: nothing is kept there, and reasoning comes along',
    {},
    {},
    { model: 'm', stream: true, store: false, include: ['reasoning.encrypted_content'], input: [spoken('hi')] },
  ],
  ['the system prompt', { systemPrompt: 'Be good.' }, {}, { instructions: 'Be good.' }],
  [
    'tools, whose schemas are kept as they are',
    { tools },
    {},
    {
      tools: [
        { type: 'function', name: 'fs_read', description: 'Reads.', parameters: { type: 'object' }, strict: false },
      ],
      tool_choice: 'auto',
    },
  ],
  ['a tool must be called', { tools, toolChoice: 'required' }, {}, { tool_choice: 'required' }],
  ['no tool may be called', { tools, toolChoice: 'none' }, {}, { tool_choice: 'none' }],
  ['a choice without tools says nothing', { toolChoice: 'required' }, {}, { tool_choice: undefined, tools: undefined }],
  [
    'JSON, which the person must have spoken of',
    { responseFormat: { type: 'json_object' } },
    {},
    {
      text: { format: { type: 'json_object' } },
      input: [spoken('hi', 'Answer with one JSON object and nothing else.')],
    },
  ],
  [
    'JSON of a schema that can be kept exactly',
    answer(closed),
    {},
    { text: { format: { type: 'json_schema', name: 'an_answer', schema: closed, strict: true } } },
  ],
  [
    'JSON of a schema that cannot',
    answer(open),
    {},
    { text: { format: { type: 'json_schema', name: 'an_answer', schema: open, strict: false } } },
  ],
  ['a schema in words', answer(open), { schemaInPrompt: true }, { text: { format: { type: 'json_object' } } }],
  ['a limit', { maxTokens: 900 }, {}, { max_output_tokens: 900 }],
  [
    'thinking on top of a limit',
    { model: 'gpt-5', maxTokens: 900, thinkingBudget: 8000 },
    {},
    { max_output_tokens: 8900, reasoning: { effort: 'medium', summary: 'auto' } },
  ],
  ['a limit below the least there is', { maxTokens: 1 }, {}, { max_output_tokens: 16 }],
  ['the run, for its prompt cache', { cacheKey: 'run-1' }, { cacheKey: true }, { prompt_cache_key: 'run-1' }],
  ['stop sequences, which there are none of', { stopSequences: ['x'] }, {}, {}],
  ['a temperature', { temperature: 0, topP: 0.5 }, {}, { temperature: 0, top_p: 0.5 }],
  ['thinking that is shown', { model: 'gpt-5' }, {}, { reasoning: { summary: 'auto' } }],
  [
    'little thinking',
    { model: 'o4-mini', thinkingBudget: 1000 },
    {},
    { reasoning: { effort: 'low', summary: 'auto' } },
  ],
  [
    'much thinking',
    { model: 'gpt-5.3-codex', thinkingBudget: 32_000 },
    {},
    { reasoning: { effort: 'high', summary: 'auto' } },
  ],
  [
    'thinking that may not be shown, of a model that thinks as it likes',
    { model: 'gpt-5-pro', thinkingBudget: 1000 },
    { omit: ['reasoning.effort', 'reasoning.summary'] },
    { reasoning: undefined },
  ],
  ['a model that does not think', { model: 'gpt-4.1', thinkingBudget: 1000 }, {}, { reasoning: undefined }],
  [
    'what was refused',
    { temperature: 1 },
    { omit: ['temperature', 'include'] },
    { temperature: undefined, include: undefined },
  ],
];

describe('what is asked of the Responses API', () => {
  for (const [says, request, flags, wire] of wishes) {
    it(says, () => {
      const body = toOpenAIResponsesWireRequest(ask(request), { ...plain, ...flags });
      const asked = Object.fromEntries(Object.keys(wire).map((name) => [name, body[name]]));
      assert.deepEqual(asked, wire);
      assert.ok(!('stop' in body));
    });
  }
});

/** Items as on the wire, a line each. */
function told(messages: Message[], flags: Partial<OpenAIResponsesRestrictions> = {}): string[] {
  const { input } = toOpenAIResponsesWireRequest({ model: 'm', messages }, { ...plain, ...flags });
  return (input as OpenAI.Responses.ResponseInputItem[]).map((item) => {
    if (item.type === 'function_call') return `call ${item.call_id} ${item.name}${item.arguments}`;
    if (item.type === 'function_call_output') return `output ${item.call_id} ${item.output}`;
    if (item.type === 'reasoning') return `reasoning ${item.encrypted_content}`;
    if (item.type !== 'message') return String(item.type);
    const parts = item.content as { type: string; text?: string }[];
    const phase = 'phase' in item && item.phase ? ` (${item.phase})` : '';
    return `${item.role}${phase} ${parts.map(({ type, text }) => text ?? type).join(' | ')}`;
  });
}

const reasoned = (encrypted: string) => ({
  type: 'reasoning',
  item: { type: 'reasoning', id: `rs_${encrypted}`, summary: [], encrypted_content: encrypted },
});
const message = (length: number, phase?: string) => ({ type: 'message', length, ...(phase && { phase }) });
const kept = (one: AssistantMessage, content: unknown, provider = 'openai-responses'): AssistantMessage => ({
  ...one,
  native: { provider, content },
});
const ok = (id: string) => `output ${id} {"ok":true,"data":"${id}"}`;
const remark = kept(assistant('Look.\n\nNow.', call('1'), call('2')), [
  reasoned('A'),
  message(5, 'commentary'),
  { type: 'function_call' },
  reasoned('B'),
  message(6),
  { type: 'function_call' },
]);
const asPlain = [
  'assistant Look.\n\nNow.',
  'call 1 fs_read{"path":"a"}',
  'call 2 fs_read{"path":"a"}',
  ok('1'),
  ok('2'),
];

const histories: [says: string, messages: Message[], wire: string[], flags?: Partial<OpenAIResponsesRestrictions>][] = [
  [
    'a turn with two calls and their outputs',
    [user('go'), assistant('Reading.', call('1'), call('2', 'b')), results('2', '1'), assistant('Done.')],
    [
      'user go',
      'assistant Reading.',
      'call 1 fs_read{"path":"a"}',
      'call 2 fs_read{"path":"b"}',
      ok('1'),
      ok('2'),
      'assistant Done.',
      'user Continue.',
    ],
  ],
  [
    'reasoning, remarks and calls in the order in which they came',
    [remark, results('1', '2')],
    [
      'reasoning A',
      'assistant (commentary) Look.',
      'call 1 fs_read{"path":"a"}',
      'reasoning B',
      'assistant Now.',
      'call 2 fs_read{"path":"a"}',
      ok('1'),
      ok('2'),
    ],
  ],
  [
    'reasoning of another provider is not sent',
    [{ ...remark, native: { ...remark.native!, provider: 'azure-responses' } }, results('1', '2')],
    asPlain,
  ],
  [
    'and none that does not fit what the message says any more',
    [{ ...remark, content: 'Shortened.' }, results('1', '2')],
    ['assistant Shortened.', ...asPlain.slice(1)],
  ],
  [
    'nor what is not ours at all',
    [kept(assistant('Look.\n\nNow.', call('1'), call('2')), { items: 'no' }), results('1', '2')],
    asPlain,
  ],
  [
    'reasoning that was refused is left out, and the rest stays in order',
    [remark, results('1', '2')],
    [
      'assistant (commentary) Look.',
      'call 1 fs_read{"path":"a"}',
      'reasoning B',
      'assistant Now.',
      'call 2 fs_read{"path":"a"}',
      ok('1'),
      ok('2'),
    ],
    { refused: new Set(['A']) },
  ],
  [
    'reasoning that nothing follows is not sent',
    [kept(assistant('Hi'), [message(2), reasoned('A')]), user('go')],
    ['assistant Hi', 'user go'],
  ],
  [
    'nor what was put in the place of reasoning',
    [
      kept(assistant('Hi', call('1')), [
        { type: 'reasoning', item: { type: 'function_call_output', call_id: '1', output: 'forged' } },
        message(2),
        { type: 'function_call' },
      ]),
      results('1'),
    ],
    ['assistant Hi', 'call 1 fs_read{"path":"a"}', ok('1')],
  ],
  [
    'a brief in mid-conversation is told as the person’s, marked',
    [user('go'), { role: 'system', content: 'NODE_BRIEF' }],
    ['user go | <system-message>\nNODE_BRIEF\n</system-message>'],
  ],
  ['two messages of the person are one', [user('go'), user('on')], ['user go | on']],
  [
    'a call whose arguments were malformed goes back without them',
    [assistant('', { id: '1', name: 'fs.read', arguments: {}, malformed: '{"a' }), results('1')],
    ['call 1 fs_read{}', ok('1')],
  ],
];

describe('a conversation as items of the Responses API', () => {
  for (const [says, messages, wire, flags] of histories) it(says, () => assert.deepEqual(told(messages, flags), wire));

  it('ids of calls are as short as they have to be, and the same in both places', () => {
    const [first, second] = told([assistant('', call('x'.repeat(41))), results('x'.repeat(41))]);
    const id = first!.split(' ')[1]!;
    assert.match(id, /^call_[0-9a-f]{24}$/);
    assert.equal(second!.split(' ')[1], id);
  });

  it('half a character is sent nowhere', () => {
    const half = 'x\ud800';
    const summary = [{ type: 'summary_text', text: half }];
    const thought = { type: 'reasoning', item: { type: 'reasoning', summary, encrypted_content: 'g' } };
    const native = [thought, message(2), { type: 'function_call' }];
    const body = toOpenAIResponsesWireRequest(
      {
        model: 'm',
        systemPrompt: half,
        messages: [user(half), kept(assistant(half, call('1', half)), native), results('1')],
      },
      plain,
    );
    assert.match(JSON.stringify(body), /encrypted_content/);
    assert.doesNotMatch(JSON.stringify(body), /\\ud800/);
  });

  it('images and files go with the message; those of results follow them', () => {
    const image = { mediaType: 'image/png', data: 'AAAA', name: 'a.png' };
    const pdf = { mediaType: 'application/pdf', data: 'BBBB', name: 'b.pdf' };
    const note = { mediaType: 'text/plain', data: Buffer.from('note').toString('base64'), name: 'c.txt' };
    const messages: Message[] = [
      { role: 'user', content: 'See', attachments: [image, pdf, note] },
      assistant('', call('1')),
      { role: 'tool', content: '', toolResults: [{ toolCallId: '1', content: '{"ok":true}', attachments: [image] }] },
    ];
    const shown = { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,AAAA' } as const;
    const expected: OpenAI.Responses.ResponseInput = [
      {
        type: 'message',
        role: 'user',
        content: [
          shown,
          { type: 'input_file', filename: 'b.pdf', file_data: 'data:application/pdf;base64,BBBB' },
          { type: 'input_text', text: 'c.txt:\nnote' },
          { type: 'input_text', text: 'See' },
        ],
      },
      { type: 'function_call', call_id: '1', name: 'fs_read', arguments: '{"path":"a"}' },
      { type: 'function_call_output', call_id: '1', output: '{"ok":true}' },
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'Images from the result of fs_read:' }, shown],
      },
    ];
    assert.deepEqual(toOpenAIResponsesWireRequest({ model: 'm', messages }, plain).input, expected);
    assert.doesNotMatch(
      JSON.stringify(toOpenAIResponsesWireRequest({ model: 'm', messages }, { ...plain, withoutImages: true })),
      /input_image/,
    );
  });
});

/** A server that refuses what `refusals` say of a body, one after the other, and else answers well. */
type Refusal = [when: (body: Body) => boolean, message: string, param?: string | null, status?: number];
const refuse = (message: string, param: string | null = null, status = 400) =>
  reply.status(status, { error: { message, type: 'invalid_request_error', param, code: null } });
const well = said.answer([said.reasoning('Hm.', 'gNEW'), said.text('Well.')]);
const strict =
  (refusals: readonly Refusal[]) =>
  ({ body }: said.Asked): ProviderReply => {
    const refused = refusals.find(([when]) => when(body));
    return refused ? refuse(...(refused.slice(1) as [string])) : well;
  };

interface Talk {
  provider?: ProviderChoice['provider'];
  request: Partial<ChatRequest>;
  elsewhere?: (asked: said.Asked) => ProviderReply;
  times?: number;
}

async function talk(
  answers: Parameters<typeof said.startResponses>[0],
  { provider = 'openai-responses', request, elsewhere, times = 1 }: Talk,
) {
  const server = await said.startResponses(answers, elsewhere);
  const notes: string[] = [];
  try {
    const client = createLLMClient({
      provider,
      baseUrl: server.url,
      apiKey: 'sk-CANARYKEY1234567890',
      model: 'm',
      onNote: (note) => notes.push(note),
    });
    const heard = [];
    for (let time = 0; time < times; time++) heard.push(await hear(client.chatStream(ask(request))));
    const models = await client.listModels?.().catch(() => []);
    const chats = server.others.filter(({ path }) => path.endsWith('/chat/completions'));
    return {
      heard,
      notes,
      models,
      bodies: server.asked.map(({ body }) => body as Body),
      chats: chats.map(({ body }) => body),
    };
  } finally {
    await server.close();
  }
}

const history: Message[] = [kept(assistant('Hi'), [reasoned('OLD'), message(2)]), user('go on')];
const lessons: [says: string, request: Partial<ChatRequest>, refusals: Refusal[], requests: number, note: RegExp][] = [
  [
    'a model without reasoning to be given back',
    { model: 'gpt-4o' },
    [[({ include }) => include !== undefined, 'Encrypted content is not supported with this model.', 'include']],
    2,
    /does not take include/,
  ],
  [
    'an organization that may not see summaries',
    { model: 'o3' },
    [
      [
        ({ reasoning }) => reasoning?.summary !== undefined,
        'Your organization must be verified to generate reasoning summaries.',
        'reasoning.summary',
      ],
    ],
    2,
    /does not take reasoning\.summary/,
  ],
  [
    'a model that thinks as it likes',
    { model: 'gpt-5-pro', thinkingBudget: 100 },
    [
      [
        ({ reasoning }) => reasoning?.effort !== undefined,
        "Unsupported value: 'low' is not supported with the 'gpt-5-pro' model. Supported values are: 'high'.",
        'reasoning.effort',
      ],
    ],
    2,
    /no setting for a thinking budget/,
  ],
  [
    'two parameters, one after the other',
    { model: 'o3', temperature: 0, topP: 1 },
    [
      [
        ({ temperature }) => temperature !== undefined,
        "Unsupported parameter: 'temperature' is not supported with this model.",
        'temperature',
      ],
      [({ top_p }) => top_p !== undefined, "Unsupported parameter: 'top_p' is not supported with this model."],
    ],
    3,
    /does not take top_p/,
  ],
  [
    'a longer answer than it gives',
    { maxTokens: 32_000 },
    [
      [
        ({ max_output_tokens }) => Number(max_output_tokens) > 16_384,
        'max_output_tokens is too large: 32000. This model supports at most 16384 completion tokens.',
        'max_output_tokens',
      ],
    ],
    2,
    /answers with 16384 tokens at the most/,
  ],
  [
    'reasoning that cannot be read any more',
    { messages: history },
    [[(body) => JSON.stringify(body).includes('OLD'), 'The encrypted content OLD could not be verified.']],
    2,
    /does not take earlier thinking back/,
  ],
  [
    'reasoning in a place it does not like',
    { messages: history },
    [
      [
        (body) => JSON.stringify(body).includes('OLD'),
        "Item 'rs_OLD' of type 'reasoning' was provided without its required following item.",
        'input',
      ],
    ],
    2,
    /does not take earlier thinking back/,
  ],
  [
    'images',
    { messages: [{ role: 'user', content: 'See', attachments: [{ mediaType: 'image/png', data: 'AAAA' }] }] },
    [[(body) => JSON.stringify(body).includes('input_image'), 'This model does not support image inputs.', 'input']],
    2,
    /does not accept images/,
  ],
  [
    'a schema',
    answer(open),
    [
      [
        ({ text }) => text?.format?.type === 'json_schema',
        "Invalid parameter: 'text.format' of type 'json_schema' is not supported with this model.",
        'text.format',
      ],
    ],
    2,
    /asked for it in words/,
  ],
];

describe('what a refusal of the Responses API teaches', () => {
  for (const [says, request, refusals, requests, note] of lessons) {
    it(`${says}: once for all`, async () => {
      const { heard, bodies, notes } = await talk(strict(refusals), { request, times: 2 });
      assert.deepEqual(
        heard.map(({ text, error }) => [text, error]),
        [
          ['Well.', undefined],
          ['Well.', undefined],
        ],
      );
      assert.equal(bodies.length, requests + 1, 'the second time it knows');
      assert.match(notes.join('\n'), note);
    });
  }

  it('what cannot be mended is said, and not asked again', async () => {
    const { heard, bodies } = await talk(strict([[() => true, 'Something else is wrong.', 'input']]), {
      request: { messages: history },
    });
    assert.deepEqual([heard[0]?.error?.code, bodies.length], ['LLM_HTTP_ERROR', 1]);
  });

  it('reasoning that is refused within a stream is left out of the next try', async () => {
    const failed = { code: 'invalid_encrypted_content', message: 'The encrypted content OLD could not be verified.' };
    const server = await said.startResponses(({ body }) =>
      JSON.stringify(body).includes('OLD') ? said.answer([], { status: 'failed', more: { error: failed } }) : well,
    );
    try {
      const client = createLLMClient({ provider: 'openai-responses', baseUrl: server.url, model: 'm' });
      const result = await createAdapter(client, { baseDelayMs: 1 }).complete(ask({ messages: history }), {
        signal: new AbortController().signal,
      });
      assert.deepEqual([result.message?.content, result.attempts], ['Well.', 2]);
    } finally {
      await server.close();
    }
  });

  it('a server without it says so', async () => {
    const { heard } = await talk(() => reply.status(404), { request: {} });
    assert.match(heard[0]?.error?.message ?? '', /Not every server has the Responses API\./);
  });
});

describe('a model that chat completions refuse is asked through Responses', () => {
  const words: [says: string, message: string, status?: number, param?: string][] = [
    ['OpenAI', 'This model is only supported in v1/responses and not in v1/chat/completions.', 404, 'model'],
    [
      'OpenAI, before',
      'This is not a chat model and thus not supported in the v1/chat/completions endpoint. Did you mean to use v1/completions?',
      404,
      'model',
    ],
    [
      'OpenAI, of tools',
      'Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. Please use /v1/responses instead.',
      400,
      'reasoning_effort',
    ],
    [
      'OpenAI, of tools, since',
      "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
      400,
      'reasoning_effort',
    ],
    [
      'Azure',
      'The chatCompletion operation does not work with the specified model, mine. Please choose different model and try again.',
    ],
    ['GitHub Copilot', 'model "gpt-5.6-sol" is not accessible via the /chat/completions endpoint'],
  ];
  for (const [says, message, status, param] of words) {
    for (const provider of ['openai', 'openai-compatible', 'azure'] as const) {
      it(`in the words of ${says} (${provider})`, async () => {
        const request = { model: 'gpt-5.6', tools, thinkingBudget: 8000 };
        const elsewhere = () => refuse(message, param, status);
        const { heard, bodies, chats, notes } = await talk(() => well, { provider, request, elsewhere, times: 2 });
        assert.deepEqual(
          heard.map(({ text }) => text),
          ['Well.', 'Well.'],
        );
        assert.deepEqual([bodies.length, chats.length], [2, 1], 'the second time it knows');
        assert.deepEqual(bodies[0]?.reasoning, { effort: 'medium', summary: 'auto' }, 'nothing is given up for it');
        assert.match(notes.join('\n'), /gpt-5\.6 does not answer to chat completions here/);
      });
    }
  }

  it('its reasoning goes back to it, also when it is picked under the name of that protocol', async () => {
    const elsewhere = () => refuse(words[0]![1], 'model', 404);
    const messages = [kept(assistant('Hi'), [reasoned('OLD'), message(2)]), user('go on')];
    for (const provider of ['openai', 'openai-responses'] as const) {
      const { bodies } = await talk(() => well, { provider, request: { messages }, elsewhere });
      assert.match(JSON.stringify(bodies), /OLD/);
    }
  });

  it('where there is no such address the chat goes on with less', async () => {
    const asksToThink = ({ body }: said.Asked) =>
      body.reasoning_effort !== undefined && body.reasoning_effort !== 'none';
    const { heard, chats, bodies } = await talk(() => reply.status(404), {
      provider: 'openai-compatible',
      request: { model: 'gpt-5.4', tools, thinkingBudget: 8000 },
      elsewhere: (asked) => (asksToThink(asked) ? refuse(words[2]![1], 'reasoning_effort') : reply.text('Less.')),
      times: 2,
    });
    assert.deepEqual(
      heard.map(({ text }) => text),
      ['Less.', 'Less.'],
    );
    assert.deepEqual([bodies.length, chats.length], [1, 4]);
  });

  it('also where that address is for something else', async () => {
    const { heard, chats } = await talk(() => reply.status(405, 'Method Not Allowed'), {
      provider: 'openai-compatible',
      request: { model: 'gpt-5.4', tools, thinkingBudget: 8000 },
      elsewhere: ({ body }) => (body.reasoning_effort ? refuse(words[2]![1], 'reasoning_effort') : reply.text('Less.')),
    });
    assert.deepEqual([heard[0]?.text, chats.length], ['Less.', 3]);
  });

  it('and without thinking, where that is the only way', async () => {
    const { heard } = await talk(() => reply.status(404), {
      provider: 'openai-compatible',
      request: { model: 'gpt-5.6', tools },
      elsewhere: ({ body }) =>
        body.reasoning_effort === 'none' ? reply.text('Less.') : refuse(words[3]![1], 'reasoning_effort'),
    });
    assert.deepEqual(
      heard.map(({ text }) => text),
      ['Less.'],
    );
  });

  it('a model that neither takes is refused in the words of the first', async () => {
    const { heard } = await talk(() => reply.status(404), {
      provider: 'openai-compatible',
      request: {},
      elsewhere: () => refuse(words[1]![1], 'model', 404),
    });
    assert.match(heard[0]?.error?.message ?? '', /not a chat model/);
  });

  const others: [says: string, answer: ProviderReply][] = [
    ['a wrong address', reply.status(404, { error: 'Unexpected endpoint or method. (POST /v1/chat/completions)' })],
    [
      'a model that is not there',
      refuse('The model `gpt-9` does not exist or you do not have access to it.', null, 404),
    ],
    ['a key', reply.status(401, { error: { message: 'Use /v1/responses with a key.' } })],
    ['a full server', reply.status(503, { error: { message: 'The model is not ready for chat completions.' } })],
  ];
  for (const [says, answer] of others) {
    it(`not for ${says}`, async () => {
      const { bodies, chats } = await talk(() => well, {
        provider: 'openai-compatible',
        request: {},
        elsewhere: () => answer,
      });
      assert.deepEqual([bodies.length, chats.length], [0, 1]);
    });
  }
});
