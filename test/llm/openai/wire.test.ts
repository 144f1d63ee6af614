import assert from 'node:assert/strict';
import type { ChatRequest } from '../../../src/llm/core/client.ts';
import { learnOpenAICompatibilityFlags, type OpenAICompatibilityFlags } from '../../../src/llm/models/wireFlags.ts';
import { toOpenAIWireRequest } from '../../../src/llm/openai/wire.ts';
import type { Message, ToolCall } from '../../../src/protocol/content/messages.ts';
import { assistant, call, results, user } from '../../support/messages.ts';

const flags: OpenAICompatibilityFlags = { provider: 'here' };

/** Messages as on the wire, a line each: `role text → call(arguments) …` and `tool id: content`. */
function told(messages: Message[], more: Partial<ChatRequest> = {}): string[] {
  const wire = toOpenAIWireRequest({ model: 'm', messages, ...more }, flags).messages as Record<string, unknown>[];
  return wire.map((message) => {
    const calls = (message.tool_calls ?? []) as { id: string; function: { name: string; arguments: string } }[];
    const arrows = calls.map(({ id, function: wanted }) => ` → ${id}:${wanted.name}${wanted.arguments}`).join('');
    const id = message.tool_call_id === undefined ? '' : ` ${message.tool_call_id}`;
    return `${message.role}${id}${message.content === null ? '' : ` ${message.content}`}${arrows}`;
  });
}

const interrupted = (id: string) =>
  `tool ${id} {"ok":false,"error":{"code":"TOOL_INTERRUPTED","message":"Stopped before there was a result; it may or may not have run."}}`;

const histories: [says: string, messages: Message[], wire: string[]][] = [
  [
    'a turn with two calls and their results, in the order asked',
    [user('go'), assistant('Reading.', call('1'), call('2', 'b')), results('2', '1'), assistant('Done.')],
    [
      'user go',
      'assistant Reading. → 1:fs_read{"path":"a"} → 2:fs_read{"path":"b"}',
      'tool 1 {"ok":true,"data":"1"}',
      'tool 2 {"ok":true,"data":"2"}',
      'assistant Done.',
      'user Continue.',
    ],
  ],
  [
    'a call without a result gets one: it was interrupted',
    [user('go'), assistant('', call('1'), call('2')), results('1'), user('and now?')],
    [
      'user go',
      'assistant → 1:fs_read{"path":"a"} → 2:fs_read{"path":"a"}',
      'tool 1 {"ok":true,"data":"1"}',
      interrupted('2'),
      'user and now?',
    ],
  ],
  [
    'the last call of the history too',
    [user('go'), assistant('', call('1'))],
    ['user go', 'assistant → 1:fs_read{"path":"a"}', interrupted('1')],
  ],
  [
    'results come right after their calls, in whatever place they were kept',
    [assistant('', call('1')), user('hurry'), results('1')],
    ['assistant → 1:fs_read{"path":"a"}', 'tool 1 {"ok":true,"data":"1"}', 'user hurry'],
  ],
  [
    'a result nobody asked for is left out, a second one too',
    [user('go'), results('0'), assistant('', call('1')), results('1', '1', '9'), assistant('Done.')],
    [
      'user go',
      'assistant → 1:fs_read{"path":"a"}',
      'tool 1 {"ok":true,"data":"1"}',
      'assistant Done.',
      'user Continue.',
    ],
  ],
  [
    'an id twice in one message',
    [assistant('', call('1'), call('1', 'b'), call('1_2', 'c')), results('1', '1_2')],
    [
      'assistant → 1:fs_read{"path":"a"} → 1_2:fs_read{"path":"b"} → 1_2_2:fs_read{"path":"c"}',
      'tool 1 {"ok":true,"data":"1"}',
      'tool 1_2 {"ok":true,"data":"1"}',
      'tool 1_2_2 {"ok":true,"data":"1_2"}',
    ],
  ],
  [
    'a call without an id',
    [assistant('', call('')), results('')],
    [
      'assistant → call_e3b0c44298fc1c149afbf4c8:fs_read{"path":"a"}',
      'tool call_e3b0c44298fc1c149afbf4c8 {"ok":true,"data":""}',
    ],
  ],
  [
    'a server that counts its ids from the start each time',
    [assistant('', call('0')), results('0'), assistant('', call('0', 'b')), user('stopped')],
    [
      'assistant → 0:fs_read{"path":"a"}',
      'tool 0 {"ok":true,"data":"0"}',
      'assistant → 0:fs_read{"path":"b"}',
      interrupted('0'),
      'user stopped',
    ],
  ],
  [
    'a reply without a word is left out, and the person speaks once',
    [user('a'), assistant(''), user('b')],
    ['user a\n\nb'],
  ],
  [
    'a malformed call goes back without arguments',
    [assistant('', { ...call('1'), arguments: {}, malformed: '{"path' }), results('1')],
    ['assistant → 1:fs_read{}', 'tool 1 {"ok":true,"data":"1"}'],
  ],
  [
    'half an emoji is no text, and an answer is not the last word',
    [user('a\ud83d!'), assistant('\ude42')],
    ['user a\uFFFD!', 'assistant \uFFFD', 'user Continue.'],
  ],
  [
    'half an emoji in arguments neither, a whole one stays',
    [assistant('', call('1', '\ud83d 🙂')), results('1')],
    ['assistant → 1:fs_read{"path":"\uFFFD 🙂"}', 'tool 1 {"ok":true,"data":"1"}'],
  ],
];

// Holds snake-case-at-the-wire.
describe('what providers are told', () => {
  for (const [says, messages, wire] of histories) it(says, () => assert.deepEqual(told(messages), wire));

  it('the system prompt comes first', () => {
    assert.deepEqual(told([user('hi')], { systemPrompt: 'Be good.' }), ['system Be good.', 'user hi']);
  });

  it('the whole request', () => {
    const request: ChatRequest = {
      model: 'm',
      messages: [user('hi')],
      tools: [{ name: 'fs.read', description: 'Reads.', parameters: { type: 'object', properties: {} } }],
      temperature: 0,
      topP: 0.9,
      maxTokens: 100,
      stopSequences: ['END'],
      cacheKey: 'run-1',
    };
    assert.deepEqual(toOpenAIWireRequest(request, flags), {
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
      tools: [
        {
          type: 'function',
          function: { name: 'fs_read', description: 'Reads.', parameters: { type: 'object', properties: {} } },
        },
      ],
      tool_choice: 'auto',
      temperature: 0,
      top_p: 0.9,
      max_tokens: 100,
      stop: ['END'],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('nothing that was not asked for', () => {
    assert.deepEqual(toOpenAIWireRequest({ model: 'm', messages: [user('on')], tools: [], stopSequences: [] }, flags), {
      model: 'm',
      messages: [{ role: 'user', content: 'on' }],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('to go on, where the record has lost all that was said', () => {
    const { messages } = toOpenAIWireRequest({ model: 'm', systemPrompt: 'Be kind.', messages: [] }, flags);
    assert.deepEqual(messages, [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Continue.' },
    ]);
  });

  const thinking: [says: string, wanted: OpenAICompatibilityFlags['returnThinking'], fields: object[]][] = [
    ['nowhere, where nobody asks for it', undefined, [{}, {}, {}]],
    ['with its own calls', 'calls', [{ reasoning: 'hmm' }, {}, {}]],
    ['everywhere, empty from others', 'all', [{ reasoning: 'hmm' }, { reasoning: 'hmm' }, { reasoning_content: '' }]],
  ];
  for (const [says, returnThinking, fields] of thinking) {
    it(`thinking goes back ${says}`, () => {
      const thought = (provider: string, ...toolCalls: ToolCall[]): Message => ({
        ...assistant('Well.', ...toolCalls),
        thinking: 'hmm',
        native: { provider, content: { thinkingField: 'reasoning' } },
      });
      const messages = [
        thought('here', call('1')),
        results('1'),
        thought('here'),
        user('on'),
        thought('there', call('2')),
      ];
      const wire = toOpenAIWireRequest({ model: 'm', messages }, { ...flags, returnThinking }).messages as Record<
        string,
        unknown
      >[];
      const said = wire.filter(({ role }) => role === 'assistant');
      assert.deepEqual(
        said.map(({ role, content, tool_calls, ...rest }) => rest),
        fields,
      );
    });
  }
});

describe('what a 400 teaches', () => {
  const asked: OpenAICompatibilityFlags = { provider: 'here', completionTokens: false };
  const lessons: [
    words: string,
    parameter: string | undefined,
    learned: Partial<OpenAICompatibilityFlags> | undefined,
  ][] = [
    [
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      'max_tokens',
      { omit: ['max_tokens'], completionTokens: true },
    ],
    ['unknown field max_completion_tokens', undefined, { omit: ['max_completion_tokens'] }],
    ['Unrecognized request argument supplied: stream_options', undefined, { omit: ['stream_options'] }],
    ["Unsupported value: 'temperature' does not support 0 with this model.", 'temperature', { omit: ['temperature'] }],
    ['Missing `reasoning_content`: it must be passed back', undefined, { returnThinking: 'all' }],
    ["Invalid 'messages[3]'.", 'messages', undefined],
    ['Please use a valid role: user, model.', undefined, undefined],
  ];
  for (const [words, parameter, learned] of lessons) {
    it(`"${words}"`, () => {
      assert.deepEqual(learnOpenAICompatibilityFlags(words, parameter, asked), learned && { ...asked, ...learned });
    });
  }
  it('nothing twice: it ends', () => {
    let taught: OpenAICompatibilityFlags | undefined = flags;
    const said: (readonly string[])[] = [];
    for (let round = 0; taught; round++) {
      assert.ok(round < 10);
      said.push(taught.omit ?? []);
      taught = learnOpenAICompatibilityFlags(
        'unknown max_tokens max_completion_tokens temperature top_p stream_options tool_choice',
        undefined,
        taught,
      );
    }
    assert.equal(said.at(-1)?.length, 6);
  });
});
