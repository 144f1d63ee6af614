import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  type LlamaHistoryCall,
  type LlamaHistoryItem,
  type LlamaResponseItem,
  toLlamaHistory,
  toLlamaProviderMetadata,
} from '../../../../src/llm/local/ipc/chatHistory.ts';
import type { Message, ToolCall } from '../../../../src/protocol/content/messages.ts';
import { failedToolOutcome, type ToolOutcome, toToolResult } from '../../../../src/protocol/content/tools.ts';

const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string, toolCalls?: ToolCall[]): Message => ({
  role: 'assistant',
  content,
  ...(toolCalls && { toolCalls }),
});
const call = (id: string, name = 'fs.read'): ToolCall => ({ id, name, arguments: { path: id } });
const results = (...outcomes: [string, ToolOutcome][]): Message => ({
  role: 'tool',
  content: '',
  toolResults: outcomes.map(([id, outcome]) => toToolResult(id, outcome)),
});
const fine: ToolOutcome = { ok: true, data: 1 };
const called = (id: string, result: ToolOutcome, more: object = {}) => ({
  type: 'functionCall' as const,
  name: 'fs_read',
  params: { path: id },
  result,
  ...more,
});
const first = { startsNewChunk: true };
const interrupted = failedToolOutcome(
  'TOOL_INTERRUPTED',
  'Stopped before there was a result; it may or may not have run.',
);
const model = (...response: Extract<LlamaHistoryItem, { type: 'model' }>['response']): LlamaHistoryItem => ({
  type: 'model',
  response,
});

describe('a conversation for the local model', () => {
  const cases: [string, Message[], LlamaHistoryItem[], string?][] = [
    [
      'begins with the system prompt',
      [user('hi')],
      [{ type: 'system', text: 'Be brief.' }, { type: 'user', text: 'hi' }, model()],
      'Be brief.',
    ],
    [
      'takes system messages at the head into it, and later ones into what the user says',
      [
        { role: 'system', content: 'A' },
        user('hi'),
        { role: 'system', content: 'B' },
        assistant('ok'),
        { role: 'system', content: 'C' },
      ],
      [
        { type: 'system', text: 'S\n\nA' },
        { type: 'user', text: 'hi\n\n<system-message>\nB\n</system-message>' },
        model('ok'),
        { type: 'user', text: '<system-message>\nC\n</system-message>' },
        model(),
      ],
      'S',
    ],
    [
      'keeps what belongs to one user message in one model item, results beside their calls',
      [
        user('go'),
        assistant('one', [call('a'), call('b')]),
        results(['b', failedToolOutcome('TOOL_DENIED', 'no')]),
        results(['a', fine]),
        assistant('', [call('c')]),
        results(['c', fine]),
        assistant('done'),
        user('again'),
      ],
      [
        { type: 'user', text: 'go' },
        model(
          'one',
          called('a', fine, first),
          called('b', failedToolOutcome('TOOL_DENIED', 'no')),
          called('c', fine, first),
          'done',
        ),
        { type: 'user', text: 'again' },
        model(),
      ],
    ],
    [
      'takes several results from one message',
      [user('go'), assistant('', [call('a'), call('b')]), results(['a', fine], ['b', fine])],
      [{ type: 'user', text: 'go' }, model(called('a', fine, first), called('b', fine))],
    ],
    [
      'tells a call without a result as interrupted',
      [user('go'), assistant('', [call('a')]), user('what?')],
      [{ type: 'user', text: 'go' }, model(called('a', interrupted, first)), { type: 'user', text: 'what?' }, model()],
    ],
    [
      'goes on in the middle of a reply that was cut off',
      [user('go'), { role: 'assistant', content: 'The tow', incomplete: true }],
      [{ type: 'user', text: 'go' }, model('The tow')],
    ],
    ['joins what is said twice in a row', [user('a'), user('b')], [{ type: 'user', text: 'a\n\nb' }, model()]],
    [
      'gives thinking back as a thought',
      [user('go'), { role: 'assistant', content: 'x', thinking: 'hm' }],
      [{ type: 'user', text: 'go' }, model({ type: 'segment', segmentType: 'thought', text: 'hm', ended: true }, 'x')],
    ],
    [
      'ignores what another provider keeps for itself',
      [user('go'), { role: 'assistant', content: 'x', native: { provider: 'google', content: { spoken: ['y'] } } }],
      [{ type: 'user', text: 'go' }, model('x')],
    ],
    [
      'takes a result that is not JSON as text',
      [
        user('go'),
        assistant('', [call('a')]),
        { role: 'tool', content: '', toolResults: [{ toolCallId: 'a', content: 'plain' }] },
      ],
      [{ type: 'user', text: 'go' }, model({ ...called('a', fine, first), result: 'plain' })],
    ],
  ];
  for (const [what, messages, expected, systemPrompt] of cases)
    it(what, () => assert.deepEqual(toLlamaHistory(messages, systemPrompt), expected));

  it('gives a reply back exactly as it was written', () => {
    const thought = {
      type: 'segment',
      segmentType: 'thought',
      text: 'hm',
      ended: true,
      raw: ['<think>', 'hm'],
    } as const;
    const raw = ['<tool_call>{"path": "a", "limit": null}'];
    const native = JSON.parse(
      JSON.stringify(
        toLlamaProviderMetadata(['before', { ...thought, raw: [...thought.raw] }, 'x'], [{ id: 'a', raw }]),
      ),
    );
    const reply: Message = {
      role: 'assistant',
      content: 'beforex',
      thinking: 'hm',
      toolCalls: [call('a'), call('b')],
      native,
    };
    assert.deepEqual(toLlamaHistory([user('go'), reply, results(['a', fine], ['b', fine])])[1], {
      type: 'model',
      response: ['before', thought, 'x', called('a', fine, { rawCall: raw, startsNewChunk: true }), called('b', fine)],
    });
  });

  it('writes a call anew whose arguments are sent cut', () => {
    const native = toLlamaProviderMetadata(['x'], [{ id: 'a', raw: ['<tool_call>{"path": "long"}'] }]);
    const toolCalls = [{ ...call('a'), cut: true as const }];
    const reply: Message = { role: 'assistant', content: 'x', toolCalls, native };
    assert.deepEqual(
      toLlamaHistory([user('go'), reply, results(['a', fine])])[1],
      model('x', called('a', fine, { startsNewChunk: true })),
    );
  });

  it('writes anew what a model of another form wrote', () => {
    const thought = { type: 'segment', segmentType: 'thought', text: 'hm', ended: true } as const;
    const native = toLlamaProviderMetadata(
      [{ ...thought, raw: ['<think>', 'hm'] }, 'x'],
      [{ id: 'a', raw: ['<tool_call>'] }],
      'Qwen of a',
    );
    const reply: Message = { role: 'assistant', content: 'x', thinking: 'hm', toolCalls: [call('a')], native };
    const read = (form?: string) => toLlamaHistory([user('go'), reply, results(['a', fine])], undefined, form)[1];
    assert.deepEqual(read('Llama of b'), model(thought, 'x', called('a', fine, first)));
    assert.deepEqual(
      read('Qwen of a'),
      model({ ...thought, raw: ['<think>', 'hm'] }, 'x', called('a', fine, { rawCall: ['<tool_call>'], ...first })),
    );
  });

  it('keeps nothing twice of a reply in plain words', () =>
    assert.equal(toLlamaProviderMetadata(['just text'], []), undefined));

  it('does without a damaged note of its own', () => {
    const reply: Message = {
      role: 'assistant',
      content: 'x',
      native: { provider: 'local', content: { calls: 'many' } },
    };
    assert.deepEqual(toLlamaHistory([user('go'), reply])[1], model('x'));
  });
});

describe('any conversation, whole or damaged', () => {
  const words = fc.string({ unit: 'grapheme', maxLength: 12 });
  const id = fc.constantFrom('a', 'b', 'c', 'd'); // soon used twice
  const calls = fc.array(
    fc.record({
      id,
      name: fc.constantFrom('fs.read', 'shell.run'),
      arguments: fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 })),
    }),
    { maxLength: 3 },
  );
  const messages: fc.Arbitrary<Message[]> = fc.array(
    fc.oneof(
      fc.record({ role: fc.constant('user' as const), content: words }),
      fc.record({ role: fc.constant('system' as const), content: words }),
      fc
        .record({
          role: fc.constant('assistant' as const),
          content: words,
          thinking: fc.option(words, { nil: undefined }),
          toolCalls: calls,
          native: fc.option(
            fc.constantFrom(
              { provider: 'anthropic', content: [{ type: 'thinking' }] },
              { provider: 'openai', content: { id: 'x' } },
              { provider: 'local', content: { spoken: 7 } },
            ),
            { nil: undefined },
          ),
        })
        .map((message) => message as Message),
      fc.record({
        role: fc.constant('tool' as const),
        content: fc.constant('' as const),
        toolResults: fc.array(fc.record({ toolCallId: id, content: words.map((text) => JSON.stringify({ text })) }), {
          maxLength: 3,
        }),
      }),
    ),
    { maxLength: 12 },
  );
  const isCall = (item: LlamaResponseItem): item is LlamaHistoryCall =>
    typeof item !== 'string' && item.type === 'functionCall';
  const speaks = (message: Message) =>
    message.role === 'assistant' && (message.content !== '' || (message.toolCalls?.length ?? 0) > 0);

  it('gives every call one result, keeps the order, and loses no word', () => {
    fc.assert(
      fc.property(messages, (conversation) => {
        const history = toLlamaHistory(conversation);
        const responses = history.flatMap((item) => (item.type === 'model' ? item.response : []));
        const assistants = conversation
          .filter(speaks)
          .flatMap((message) => (message.role === 'assistant' ? [message] : []));
        assert.deepEqual(
          responses.filter(isCall).map(({ name, params }) => [name.replace('_', '.'), params]),
          assistants.flatMap((message) => message.toolCalls ?? []).map((one) => [one.name, one.arguments]),
        );
        assert.ok(responses.filter(isCall).every(({ result }) => typeof result === 'object' && result !== null));
        assert.equal(
          responses.filter((item) => typeof item === 'string').join(''),
          assistants.map((message) => message.content).join(''),
        );
        const told = history.flatMap((item) => (item.type === 'user' ? [item.text] : [])).join('\n');
        for (const message of conversation)
          if (message.role === 'user') assert.ok(told.includes(message.content.trim())); // blanks alone are no words
      }),
      { numRuns: 500 },
    );
  });

  it('is never two turns of one side in a row, and ends with the model’s', () => {
    fc.assert(
      fc.property(messages, (conversation) => {
        const types = toLlamaHistory(conversation).map((item) => item.type);
        assert.equal(types.at(-1), 'model');
        for (const [index, type] of types.entries()) if (index > 0) assert.notEqual(type, types[index - 1]);
        assert.ok(types.lastIndexOf('system') <= 0);
      }),
      { numRuns: 500 },
    );
  });
});
