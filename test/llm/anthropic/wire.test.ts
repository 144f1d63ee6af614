import assert from 'node:assert/strict';
import { anthropicModelFacts } from '../../../src/llm/anthropic/models.ts';
import { learnParameterFallback } from '../../../src/llm/anthropic/parameterFallback.ts';
import { type AnthropicRequestRestrictions, toAnthropicWireRequest } from '../../../src/llm/anthropic/wire.ts';
import type { ChatRequest } from '../../../src/llm/core/client.ts';
import type { Message } from '../../../src/protocol/content/messages.ts';
import { assistant, call, user } from '../../support/messages.ts';

const model = 'claude-sonnet-4-5';
const results = (...ids: string[]): Message => ({
  role: 'tool',
  content: '',
  toolResults: ids.map((id) => ({ toolCallId: id, content: `result of ${id}` })),
});
const thought = (message: Message, ...content: object[]): Message =>
  ({ ...message, native: { provider: 'anthropic', content } }) as Message;
const hm = { type: 'thinking', thinking: 'hm', signature: 's1' };
const sealed = { type: 'redacted_thinking', data: 'x1' };

const uncached: AnthropicRequestRestrictions = { omit: ['cache_control'] };
const wire = (request: Partial<ChatRequest>, flags: AnthropicRequestRestrictions = uncached) =>
  toAnthropicWireRequest({ model, messages: [user('hi')], ...request }, flags);

/** Messages as on the wire, a line each. */
function told(messages: Message[], flags: AnthropicRequestRestrictions = {}): string[] {
  const lines = (block: Record<string, unknown>): string => {
    if (block.type === 'text') return String(block.text);
    if (block.type === 'tool_use') return `→ ${block.id}:${block.name}${JSON.stringify(block.input)}`;
    if (block.type === 'tool_result') return `${block.tool_use_id}${block.is_error ? '!' : ''}: ${block.content}`;
    return `<${block.signature ?? block.data ?? JSON.stringify(block.source)}>`;
  };
  return wire({ messages }, { ...uncached, ...flags }).messages.map(
    ({ role, content }) => `${role} ${content.map((block) => lines({ ...block })).join(' | ')}`,
  );
}

const interrupted =
  '{"ok":false,"error":{"code":"TOOL_INTERRUPTED","message":"Stopped before there was a result; it may or may not have run."}}';

const histories: [says: string, messages: Message[], wire: string[]][] = [
  [
    'the results of a turn are one user message, right after it and in the order asked',
    [
      user('go'),
      assistant('Reading.', call('1'), call('2', 'b')),
      results('2'),
      results('1'),
      assistant('Done.'),
      user('!'),
    ],
    [
      'user go',
      'assistant Reading. | → 1:fs_read{"path":"a"} | → 2:fs_read{"path":"b"}',
      'user 1: result of 1 | 2: result of 2',
      'assistant Done.',
      'user !',
    ],
  ],
  [
    'a call without a result gets one, before what the person says next',
    [user('go'), assistant('', call('1'), call('2')), results('1'), user('and now?')],
    [
      'user go',
      'assistant → 1:fs_read{"path":"a"} | → 2:fs_read{"path":"a"}',
      `user 1: result of 1 | 2!: ${interrupted} | and now?`,
    ],
  ],
  [
    'results that nobody asked for, or a second time, are left out',
    [user('go'), results('0'), assistant('', call('1')), results('1', '1', '9')],
    ['user go', 'assistant → 1:fs_read{"path":"a"}', 'user 1: result of 1'],
  ],
  [
    'a failed call says so',
    [
      user('go'),
      assistant('', call('1')),
      { role: 'tool', content: '', toolResults: [{ toolCallId: '1', content: 'no', error: 'TOOL_DENIED' }] },
    ],
    ['user go', 'assistant → 1:fs_read{"path":"a"}', 'user 1!: no'],
  ],
  [
    'ids from elsewhere: no strange characters, and each once',
    [user('go'), assistant('', call('a.b/1')), results('a.b/1'), assistant('', call('a_b_1')), results('a_b_1')],
    [
      'user go',
      'assistant → a_b_1:fs_read{"path":"a"}',
      'user a_b_1: result of a.b/1',
      'assistant → a_b_1_2:fs_read{"path":"a"}',
      'user a_b_1_2: result of a_b_1',
    ],
  ],
  [
    'a server that counts its ids from the start each time',
    [user('go'), assistant('', call('0')), results('0'), assistant('', call('0', 'b')), results('0')],
    [
      'user go',
      'assistant → 0:fs_read{"path":"a"}',
      'user 0: result of 0',
      'assistant → 0_2:fs_read{"path":"b"}',
      'user 0_2: result of 0',
    ],
  ],
  [
    'blank text is no text, neighbours of the person are one message, and an answer that broke off is gone on with',
    [user('a'), assistant(' \n'), user('b'), user(''), assistant('c'), assistant('d'), user('e')],
    ['user a | b', 'assistant c', 'user Continue.', 'assistant d', 'user e'],
  ],
  [
    'an answer is neither the first word nor the last',
    [assistant('Hello.')],
    ['user (The beginning of this conversation is left out.)', 'assistant Hello.', 'user Continue.'],
  ],
  [
    'system messages on the way are told by the person',
    [user('a'), assistant('b'), { role: 'system', content: 'Now in French.' }],
    ['user a', 'assistant b', 'user <system-message>\nNow in French.\n</system-message>'],
  ],
  [
    'half an emoji is no text, a whole one is',
    [user('a\ud83d!'), assistant('', call('1', '\ude42 🙂')), results('1')],
    ['user a\uFFFD!', 'assistant → 1:fs_read{"path":"\uFFFD 🙂"}', 'user 1: result of 1'],
  ],
  [
    'a malformed call goes back without arguments',
    [user('go'), assistant('', { ...call('1'), arguments: {}, malformed: '{"path' }), results('1')],
    ['user go', 'assistant → 1:fs_read{}', 'user 1: result of 1'],
  ],
  [
    'thinking goes back as it came, in its place',
    [
      user('go'),
      thought(
        assistant('So. Then.', call('1')),
        hm,
        { type: 'text', length: 3 },
        sealed,
        { type: 'text', length: 6 },
        { type: 'tool_use' },
      ),
      results('1'),
    ],
    ['user go', 'assistant <s1> | So. | <x1> |  Then. | → 1:fs_read{"path":"a"}', 'user 1: result of 1'],
  ],
  [
    'thinking that does not fit what was said is left out, all of it',
    [user('go'), thought(assistant('So?', call('1')), hm, { type: 'text', length: 4 }, sealed, { type: 'tool_use' })],
    ['user go', 'assistant So? | → 1:fs_read{"path":"a"}', `user 1!: ${interrupted}`],
  ],
  [
    'so is thinking with a call more or less',
    [user('go'), thought(assistant('', call('1'), call('2')), hm, { type: 'tool_use' }), results('1', '2')],
    ['user go', 'assistant → 1:fs_read{"path":"a"} | → 2:fs_read{"path":"a"}', 'user 1: result of 1 | 2: result of 2'],
  ],
  [
    'and thinking at the end of a message, and what is none of ours',
    [
      user('go'),
      thought(assistant('So.'), { type: 'text', length: 3 }, hm),
      user('and'),
      { ...assistant('Well.'), native: { provider: 'google', content: [hm, { type: 'text', length: 5 }] } } as Message,
      user('and'),
      thought(assistant('Well.'), hm, { type: 'text', length: 5 }, { type: 'image' }),
      user('!'),
    ],
    ['user go', 'assistant So.', 'user and', 'assistant Well.', 'user and', 'assistant Well.', 'user !'],
  ],
];

describe('what Anthropic is told', () => {
  for (const [says, messages, lines] of histories) it(says, () => assert.deepEqual(told(messages), lines));

  it('thinking survives the journal to the byte', () => {
    const strange = { type: 'thinking', thinking: 'a\u2028b\ud83d', signature: 'EqQBCg==', extra: { kept: true } };
    const message = thought(assistant('So.'), strange, { type: 'text', length: 3 });
    const kept = JSON.parse(JSON.stringify([user('go'), message, user('!')])) as Message[];
    assert.deepEqual(wire({ messages: kept }).messages[1]?.content[0], strange);
  });

  it('the same history has the same bytes when more follows', () => {
    const messages = [user('go'), assistant('', call('0')), results('0'), assistant('', call('0'), call('x y'))];
    const now = wire({ messages: [...messages, results('0', 'x y')] }).messages;
    const later = wire({ messages: [...messages, results('0', 'x y'), assistant('ok'), user('more')] }).messages;
    assert.deepEqual(later.slice(0, now.length), now);
  });

  it('the whole request', () => {
    const request: ChatRequest = {
      model,
      systemPrompt: 'Be good.',
      messages: [{ role: 'system', content: 'Be brief.' }, user('hi'), assistant('Hello.'), user('read a')],
      tools: [
        { name: 'fs.read', description: 'Reads.', parameters: { type: 'object', properties: { path: {} } } },
        { name: 'fs_read', description: 'The same name.', parameters: {} },
        { name: 'x', description: '', parameters: { anyOf: [{}], properties: {} } },
      ],
      temperature: 1.5,
      topP: 0.9,
      maxTokens: 100,
      stopSequences: ['END', ' '],
      cacheKey: 'run-1',
    };
    const cache_control = { type: 'ephemeral' };
    assert.deepEqual(toAnthropicWireRequest(request), {
      model,
      max_tokens: 100,
      system: [{ type: 'text', text: 'Be good.\n\nBe brief.', cache_control }],
      tools: [
        { name: 'fs_read', description: 'Reads.', input_schema: { type: 'object', properties: { path: {} } } },
        { name: 'x', input_schema: { type: 'object', properties: {} }, cache_control },
      ],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi', cache_control }] },
        { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] },
        { role: 'user', content: [{ type: 'text', text: 'read a', cache_control }] },
      ],
      temperature: 1,
      top_p: 0.9,
      stop_sequences: ['END'],
      stream: true,
    });
  });

  it('at most four marks, none on an answer', () => {
    const turns = Array.from({ length: 9 }, (_, at) => [assistant('', call(`${at}`)), results(`${at}`)]).flat();
    const tools = [{ name: 'fs.read', description: '', parameters: {} }];
    const body = wire({ systemPrompt: 'Be good.', tools, messages: [user('go'), ...turns] }, {});
    assert.equal(JSON.stringify(body).split('cache_control').length - 1, 4);
    const marked = body.messages.filter(({ content }) => content.some((block) => block.cache_control));
    assert.deepEqual(marked, [body.messages.at(-3), body.messages.at(-1)]);
  });

  it('whether tools may be called', () => {
    const tools = [{ name: 'fs.read', description: '', parameters: {} }];
    const choice = (request: Partial<ChatRequest>) => wire(request).tool_choice;
    assert.deepEqual(choice({ tools }), undefined);
    assert.deepEqual(choice({ tools, toolChoice: 'auto' }), undefined);
    assert.deepEqual(choice({ tools, toolChoice: 'none' }), { type: 'none' });
    assert.deepEqual(choice({ tools, toolChoice: 'required' }), { type: 'any' });
    assert.deepEqual(choice({ toolChoice: 'required' }), undefined);
  });

  it('a history with calls stands with tools, even when none may be called any more', () => {
    const { tools, tool_choice } = wire({ messages: [user('go'), assistant('', call('1')), results('1')] });
    assert.deepEqual(tools, [{ name: 'fs_read', input_schema: { type: 'object' } }]);
    assert.deepEqual(tool_choice, { type: 'none' });
  });

  it('files', () => {
    const attachments = [
      { mediaType: 'image/jpg', data: 'AAAA' },
      { mediaType: 'application/pdf', data: 'BBBB', name: 'a.pdf' },
      { mediaType: 'text/markdown', data: Buffer.from('# Häuser').toString('base64'), name: 'a.md' },
      { mediaType: 'video/mp4', data: 'CCCC', name: 'a.mp4' },
    ];
    const { messages } = wire({ messages: [{ role: 'user', content: 'Look.', attachments }] });
    assert.deepEqual(messages[0]?.content, [
      { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'BBBB' }, title: 'a.pdf' },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: '# Häuser' }, title: 'a.md' },
      { type: 'text', text: '(The file a.mp4 is left out: video/mp4 cannot be shown here.)' },
      { type: 'text', text: 'Look.' },
    ]);
  });

  it('the format of the answer', () => {
    const schema = { type: 'object', properties: { a: { type: 'array', items: { type: 'object' } } } };
    const responseFormat = { type: 'json_schema' as const, name: 'it', schema };
    assert.deepEqual(wire({ responseFormat }).output_config, {
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: { a: { type: 'array', items: { type: 'object', additionalProperties: false } } },
          additionalProperties: false,
        },
      },
    });
    const inWords = wire({ responseFormat, systemPrompt: 'Be good.' }, { formatInPrompt: true });
    assert.equal(inWords.output_config, undefined);
    assert.equal(inWords.system?.[0]?.text, 'Be good.');
    assert.match(inWords.system?.[1]?.text ?? '', /one JSON object.*\{"type":"object"/s);
    assert.match(wire({ responseFormat: { type: 'json_object' } }).system?.[0]?.text ?? '', /one JSON object/);
  });
});

describe('how much Claude may think and say', () => {
  const budget = (
    thinkingBudget: number,
    more: Partial<ChatRequest> = {},
    flags: AnthropicRequestRestrictions = {},
  ) => {
    const { thinking, max_tokens, output_config } = wire({ thinkingBudget, ...more }, flags);
    return [thinking, max_tokens, ...(output_config ? [output_config] : [])];
  };
  const enabled = (budget_tokens: number) => ({ type: 'enabled', budget_tokens });
  const adaptive = { type: 'adaptive', display: 'summarized' };
  const amounts: [says: string, got: unknown[], wanted: unknown[]][] = [
    ['nothing said: as the provider has it', budget(0), [undefined, 32_000]],
    ['the budget is on top of the usual answer', budget(4000), [enabled(4000), 36_000]],
    ['the budget goes on top of a limit above it', budget(4000, { maxTokens: 5000 }), [enabled(4000), 9000]],
    ['and of a limit below it', budget(4000, { maxTokens: 500 }), [enabled(4000), 4500]],
    ['the least there is', budget(1), [enabled(1024), 33_024]],
    ['never more than the model can say', budget(500_000), [enabled(62_976), 64_000]],
    ['a small model’s limit', budget(500_000, {}, { outputLimit: 4096 }), [enabled(3072), 4096]],
    ['no room to think', budget(500, {}, { outputLimit: 1500 }), [undefined, 1500]],
    ['a model that does not think', budget(4000, { model: 'claude-3-5-haiku-20241022' }), [undefined, 8192]],
    [
      'a forced call',
      budget(4000, { toolChoice: 'required', tools: [{ name: 'x', description: '', parameters: {} }] }),
      [undefined, 32_000],
    ],
    [
      'newer models are told how hard',
      budget(2000, { model: 'claude-opus-4-8' }),
      [adaptive, 34_000, { effort: 'low' }],
    ],
    ['and harder', budget(8000, { model: 'claude-sonnet-5' }), [adaptive, 40_000, { effort: 'medium' }]],
    [
      'and hardest',
      budget(32_000, { model: 'claude-sonnet-5', maxTokens: 900 }),
      [adaptive, 32_900, { effort: 'high' }],
    ],
  ];
  for (const [says, got, wanted] of amounts) it(says, () => assert.deepEqual(got, wanted));

  it('thinking goes with no temperature, newer models with none at all', () => {
    const sampled = { temperature: 0.5, topP: 0.9 };
    const names = (request: Partial<ChatRequest>) =>
      Object.keys(wire({ ...sampled, ...request })).filter((name) => /temperature|top_p/.test(name));
    assert.deepEqual(names({}), ['temperature', 'top_p']);
    assert.deepEqual(names({ thinkingBudget: 2000 }), []);
    assert.deepEqual(names({ model: 'claude-opus-4-7' }), []);
  });

  const models: [model: string, outputLimit: number, thinking: string, sampling: boolean][] = [
    ['claude-2.1', 4096, 'none', true],
    ['claude-3-haiku-20240307', 4096, 'none', true],
    ['claude-3-5-sonnet-20241022', 8192, 'none', true],
    ['anthropic/claude-3.7-sonnet', 64_000, 'budget', true],
    ['claude-opus-4-20250514', 32_000, 'budget', true],
    ['claude-opus-4-1-20250805', 32_000, 'budget', true],
    ['claude-sonnet-4@20250514', 64_000, 'budget', true],
    ['claude-haiku-4-5-20251001', 64_000, 'budget', true],
    ['claude-opus-4-5', 64_000, 'budget', true],
    ['claude-opus-4-6', 128_000, 'budget', true],
    ['claude-opus-4-8', 128_000, 'adaptive', false],
    ['claude-sonnet-5', 128_000, 'adaptive', false],
    ['claude-mythos-preview', 128_000, 'adaptive', false],
    ['kimi-k2', 32_000, 'budget', true],
  ];
  for (const [name, outputLimit, thinking, sampling] of models) {
    it(name, () => assert.deepEqual(anthropicModelFacts(name), { outputLimit, thinking, sampling }));
  }
});

describe('what a refusal of Anthropic teaches', () => {
  const request: ChatRequest = { model, messages: [user('hi')], temperature: 0.5, topP: 0.9, thinkingBudget: 0 };
  const thinks: ChatRequest = { ...request, thinkingBudget: 4000 };
  const remembers: ChatRequest = {
    ...thinks,
    messages: [user('hi'), thought(assistant('So.'), hm, sealed, { type: 'text', length: 3 }), user('and')],
  };
  const formatted: ChatRequest = { ...request, responseFormat: { type: 'json_schema', name: 'x', schema: {} } };
  const adaptiveOnly =
    '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.';
  const lessons: [
    says: string,
    words: string,
    request: ChatRequest,
    before: AnthropicRequestRestrictions,
    lesson: object | undefined,
  ][] = [
    [
      'a smaller limit',
      'max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-x',
      request,
      {},
      { flags: { outputLimit: 8192 } },
    ],
    [
      'a range (DeepSeek)',
      'Invalid max_tokens value, the valid range is [1, 8192]',
      request,
      {},
      { flags: { outputLimit: 8192 } },
    ],
    ['nothing from a limit that was kept', 'max_tokens: 9 > 64000', request, {}, undefined],
    [
      'how much room is left, this time',
      'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length',
      request,
      {},
      { flags: { outputLimit: 10_000 }, once: true },
    ],
    [
      'nothing when there is no room',
      'input length and `max_tokens` exceed context limit: 199999 + 32000 > 200000',
      request,
      {},
      undefined,
    ],
    ['an effort in place of a budget', adaptiveOnly, thinks, {}, { flags: { thinking: 'adaptive' } }],
    ['neither the one nor the other', adaptiveOnly, thinks, { thinking: 'adaptive' }, { flags: { thinking: 'none' } }],
    ['nothing from that without thinking', adaptiveOnly, request, {}, undefined],
    ['no thinking at all', 'thinking: Extra inputs are not permitted', thinks, {}, { flags: { thinking: 'none' } }],
    [
      'a budget in place of an effort',
      'adaptive thinking is not supported on this model',
      { ...thinks, model: 'claude-sonnet-5' },
      {},
      { flags: { thinking: 'budget' } },
    ],
    [
      'signatures that do not count here',
      'messages.1.content.0: Invalid `signature` in `thinking` block',
      remembers,
      {},
      { flags: { refused: new Set(['s1', 'x1']) } },
    ],
    [
      'the same in other words',
      'messages.3.content.8: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.',
      remembers,
      {},
      { flags: { refused: new Set(['s1', 'x1']) } },
    ],
    [
      'nothing when they were left out',
      'Invalid `signature`',
      remembers,
      { refused: new Set(['s1', 'x1']) },
      undefined,
    ],
    [
      'that thinking waits for the next turn',
      'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.',
      thinks,
      {},
      { flags: { thinking: 'none' }, once: true },
    ],
    [
      'the format has to be asked for in words',
      'output_config.format: Extra inputs are not permitted',
      formatted,
      {},
      { flags: { formatInPrompt: true } },
    ],
    [
      'one of two that exclude each other',
      '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
      request,
      {},
      { flags: { omit: ['top_p'] } },
    ],
    [
      'a parameter that is no more',
      '`temperature` is deprecated for this model.',
      request,
      { omit: ['top_p'] },
      { flags: { omit: ['top_p', 'temperature'] } },
    ],
    [
      'a gateway without a cache',
      'tools.0.cache_control: Extra inputs are not permitted',
      request,
      {},
      { flags: { omit: ['cache_control'] } },
    ],
    ['nothing from anything else', 'messages.0: Input does not match the expected shape.', request, {}, undefined],
  ];
  for (const [says, words, asked, before, lesson] of lessons) {
    it(says, () => {
      const learned = learnParameterFallback(words, asked, before);
      assert.deepEqual(learned, lesson);
      if (learned)
        assert.notDeepEqual(
          toAnthropicWireRequest(asked, learned.flags),
          toAnthropicWireRequest(asked, before),
          'the next request differs',
        );
    });
  }

  it('refused thinking is left out, and newer thinking is not', () => {
    const later = thought(assistant('Then.'), { ...hm, signature: 's2' }, { type: 'text', length: 5 });
    const lines = told([...remembers.messages, later, user('!')], { refused: new Set(['s1', 'x1']) });
    assert.deepEqual(lines, ['user hi', 'assistant So.', 'user and', 'assistant <s2> | Then.', 'user !']);
  });
});
