import assert from 'node:assert/strict';
import type { ChatRequest } from '../../../src/llm/core/client.ts';
import { providerPresets } from '../../../src/llm/models/providerPresets.ts';
import { learnOpenAICompatibilityFlags, type OpenAICompatibilityFlags } from '../../../src/llm/models/wireFlags.ts';
import { createReasoningDetailCollector } from '../../../src/llm/openai/details.ts';
import { toOpenAIWireRequest } from '../../../src/llm/openai/wire.ts';
import type { Message, ToolCall } from '../../../src/protocol/content/messages.ts';
import type { JsonSchema } from '../../../src/protocol/content/tools.ts';
import { user } from '../../support/messages.ts';

const plain: OpenAICompatibilityFlags = { provider: 'here' };
const ask = (more: Partial<ChatRequest>): ChatRequest => ({ model: 'm', messages: [user('hi')], ...more });
const tools = [{ name: 'fs.read', description: '', parameters: { type: 'object' } }];
const closed = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
const open = { type: 'object', properties: { a: { type: 'string' } } };
const answer = (schema: JsonSchema): Partial<ChatRequest> => ({
  responseFormat: { type: 'json_schema', name: 'an.answer', schema },
});

/** What a wish becomes in the body; a value of undefined: the field is not there. */
const wishes: [
  says: string,
  request: Partial<ChatRequest>,
  flags: Partial<OpenAICompatibilityFlags>,
  wire: Record<string, unknown>,
][] = [
  ['a tool must be called', { tools, toolChoice: 'required' }, {}, { tool_choice: 'required' }],
  ['no tool may be called', { tools, toolChoice: 'none' }, {}, { tool_choice: 'none' }],
  ['a choice without tools says nothing', { toolChoice: 'required' }, {}, { tool_choice: undefined }],
  ['JSON', { responseFormat: { type: 'json_object' } }, {}, { response_format: { type: 'json_object' } }],
  [
    'JSON of a schema that can be kept exactly',
    answer(closed),
    {},
    { response_format: { type: 'json_schema', json_schema: { name: 'an_answer', schema: closed, strict: true } } },
  ],
  [
    'JSON of a schema that cannot',
    answer(open),
    {},
    { response_format: { type: 'json_schema', json_schema: { name: 'an_answer', schema: open } } },
  ],
  [
    'a schema in words (DeepSeek)',
    answer(open),
    { schemaInPrompt: true },
    {
      response_format: { type: 'json_object' },
      messages: [
        {
          role: 'system',
          content: `Answer with one JSON object of this schema and nothing else: ${JSON.stringify(open)}`,
        },
        { role: 'user', content: 'hi' },
      ],
    },
  ],
  [
    'a limit for newer models',
    { maxTokens: 9 },
    { completionTokens: true },
    { max_completion_tokens: 9, max_tokens: undefined },
  ],
  ['the run, for its prompt cache', { cacheKey: 'run-1' }, { cacheKey: true }, { prompt_cache_key: 'run-1' }],
  ['little thinking', { model: 'o4-mini', thinkingBudget: 1000 }, {}, { reasoning_effort: 'low' }],
  ['some thinking', { model: 'openai/gpt-5-mini', thinkingBudget: 8000 }, {}, { reasoning_effort: 'medium' }],
  ['much thinking', { model: 'gpt-oss-120b', thinkingBudget: 32_000 }, {}, { reasoning_effort: 'high' }],
  ['as much as the provider likes', { model: 'gpt-5', thinkingBudget: 0 }, {}, { reasoning_effort: undefined }],
  [
    'thinking of a model that has none',
    { model: 'gpt-4.1', thinkingBudget: 1000 },
    {},
    { reasoning_effort: undefined },
  ],
  [
    'the same of a chat model',
    { model: 'gpt-5-chat-latest', thinkingBudget: 1000 },
    {},
    { reasoning_effort: undefined },
  ],
  [
    'thinking where nothing asks for it',
    { model: 'gpt-5', thinkingBudget: 1000 },
    { thinking: 'none' },
    { reasoning_effort: undefined },
  ],
  [
    'thinking on top of the answer’s tokens',
    { model: 'gpt-5', thinkingBudget: 8000, maxTokens: 500 },
    { completionTokens: true },
    { max_completion_tokens: 8500 },
  ],
  [
    'thinking on top of them at OpenRouter',
    { thinkingBudget: 8000, maxTokens: 500 },
    { thinking: 'reasoning' },
    { reasoning: { max_tokens: 8000 }, max_tokens: 8500 },
  ],
  [
    'no thinking on top where there is no parameter for it',
    { thinkingBudget: 8000, maxTokens: 500 },
    {},
    { max_tokens: 500 },
  ],
  [
    'no thinking on top of them once the parameter is refused',
    { model: 'gpt-5', thinkingBudget: 8000, maxTokens: 500 },
    { omit: ['reasoning_effort'] },
    { max_tokens: 500, reasoning_effort: undefined },
  ],
  ['thinking at OpenRouter', { thinkingBudget: 1000 }, { thinking: 'reasoning' }, { reasoning: { max_tokens: 1000 } }],
  [
    'thinking that was refused',
    { model: 'o3', thinkingBudget: 1000 },
    { omit: ['reasoning_effort'] },
    { reasoning_effort: undefined },
  ],
];

describe('what is asked of OpenAI-compatible providers', () => {
  for (const [says, request, flags, wire] of wishes) {
    it(says, () => {
      const body = toOpenAIWireRequest(ask(request), { ...plain, ...flags });
      assert.deepEqual(Object.fromEntries(Object.keys(wire).map((name) => [name, body[name]])), wire);
    });
  }
});

describe('files that go with a message', () => {
  const image = { mediaType: 'image/png', data: 'AAAA', name: 'shot.png' };
  const notes = { mediaType: 'text/plain', data: Buffer.from('größer').toString('base64'), name: 'notes.txt' };
  const paper = { mediaType: 'application/pdf', data: 'BBBB', name: 'paper.pdf' };
  const sent = (flags: Partial<OpenAICompatibilityFlags>, ...messages: Message[]) =>
    toOpenAIWireRequest({ model: 'm', messages }, { ...plain, ...flags }).messages;

  it('come before the words, each in its own form', () => {
    assert.deepEqual(sent({}, { role: 'user', content: 'see', attachments: [image, notes, paper] }), [
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'text', text: 'notes.txt:\ngrößer' },
          { type: 'file', file: { filename: 'paper.pdf', file_data: 'data:application/pdf;base64,BBBB' } },
          { type: 'text', text: 'see' },
        ],
      },
    ]);
  });
  it('are named to a model that sees none', () => {
    assert.deepEqual(sent({ withoutImages: true }, { role: 'user', content: '', attachments: [image] }), [
      { role: 'user', content: [{ type: 'text', text: '(shot.png: left out, this model sees no images)' }] },
    ]);
  });
  it('join what the person said before', () => {
    assert.deepEqual(sent({}, user('a'), { role: 'user', content: 'b', attachments: [image] }, user('c')), [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'text', text: 'b' },
          { type: 'text', text: 'c' },
        ],
      },
    ]);
  });
});

describe('ids of calls', () => {
  const call = (id: string): ToolCall => ({ id, name: 'fs.read', arguments: {} });
  const history = (...ids: string[]): Message[] => [
    { role: 'assistant', content: '', toolCalls: ids.map(call) },
    { role: 'tool', content: '', toolResults: ids.map((toolCallId) => ({ toolCallId, content: '{}' })) },
  ];
  const idsOf = (messages: Message[], callIds: OpenAICompatibilityFlags['callIds']) => {
    const wire = toOpenAIWireRequest({ model: 'm', messages }, { ...plain, callIds }).messages as {
      tool_calls?: { id: string }[];
      tool_call_id?: string;
    }[];
    return wire.flatMap((one) => one.tool_calls?.map(({ id }) => id) ?? [one.tool_call_id!]);
  };
  const long = `toolu_${'x'.repeat(60)}`;

  it('stay as they are where anything goes', () => {
    assert.deepEqual(idsOf(history('functions.fs_read:0', long), undefined), [
      'functions.fs_read:0',
      long,
      'functions.fs_read:0',
      long,
    ]);
  });
  it('have nine letters and digits for Mistral; its own stay', () => {
    const [own, foreign, ownResult, foreignResult] = idsOf(history('D681PevKs', 'call_1'), 'nine');
    assert.deepEqual([own, ownResult, foreignResult], ['D681PevKs', 'D681PevKs', foreign]);
    assert.match(foreign!, /^[a-z0-9]{9}$/);
  });
  it('are at most forty characters for OpenAI', () => {
    const [short, other] = idsOf(history('call_1', long), 'forty');
    assert.equal(short, 'call_1');
    assert.match(other!, /^call_[0-9a-f]{24}$/);
  });
  it('are the same in every request, and never one for two calls', () => {
    const many = Array.from({ length: 500 }, (_, at) => `call_${at}`);
    const once = idsOf(history(...many), 'nine');
    assert.equal(new Set(once).size, 500);
    assert.deepEqual(idsOf([...history(...many), user('on')].slice(0, 2), 'nine'), once);
  });
});

describe("OpenRouter's thinking blocks", () => {
  it('are put together from their pieces, in order, signatures kept', () => {
    const details = createReasoningDetailCollector();
    details.add([{ type: 'reasoning.text', text: 'Let ', signature: null, index: 0 }]);
    details.add([{ type: 'reasoning.text', text: 'me see.', index: 0 }]);
    details.add([{ type: 'reasoning.text', text: '', signature: 'S', index: 0 }]);
    details.add('nonsense');
    details.add([
      { type: 'reasoning.encrypted', data: 'X', index: 0 },
      { type: 'reasoning.encrypted', data: 'Y', index: 0 },
    ]);
    assert.deepEqual(details.all, [
      { type: 'reasoning.text', text: 'Let me see.', signature: 'S', index: 0 },
      { type: 'reasoning.encrypted', data: 'X', index: 0 },
      { type: 'reasoning.encrypted', data: 'Y', index: 0 },
    ]);
  });
  it('go back as they came', () => {
    const details = [{ type: 'reasoning.text', text: 'hm', signature: 'S', index: 0 }];
    const message: Message = {
      role: 'assistant',
      content: '',
      thinking: 'hm',
      toolCalls: [{ id: '1', name: 'fs.read', arguments: {} }],
      native: { provider: 'openrouter', content: { thinkingField: 'reasoning', details } },
    };
    const [back] = toOpenAIWireRequest(
      { model: 'm', messages: [message] },
      { provider: 'openrouter', ...providerPresets.openrouter.flags },
    ).messages as { reasoning_details?: unknown; reasoning?: unknown }[];
    assert.deepEqual([back?.reasoning_details, back?.reasoning], [details, undefined]);
  });
});

describe('what else a refusal teaches', () => {
  const lessons: [words: string, learned: Partial<OpenAICompatibilityFlags>][] = [
    ['Invalid content type. image_url is only supported by certain models.', { withoutImages: true }],
    ['image input is not supported - hint: you may need to provide the mmproj', { withoutImages: true }],
    ['This response_format type is unavailable now', { schemaInPrompt: true }],
    ["Unexpected role 'user' after role 'tool'", { answersResults: true }],
    ['Jinja Exception: After the optional system message, conversation roles must alternate', { answersResults: true }],
    ['System role not supported', { systemAsUser: true }],
    ['Tool call IDs should be alphanumeric strings with length 9!', { callIds: 'nine' }],
    [
      "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
      { omit: ['reasoning_effort'], completionTokens: undefined },
    ],
    ["Argument not supported on this model: 'stop'", { omit: ['stop'], completionTokens: undefined }],
    ['Unknown parameter: prompt_cache_key', { omit: ['prompt_cache_key'], completionTokens: undefined }],
  ];
  for (const [words, learned] of lessons) {
    it(`"${words}"`, () =>
      assert.deepEqual(learnOpenAICompatibilityFlags(words, undefined, plain), { ...plain, ...learned }));
  }
  it('nothing of words that only sound like a parameter', () => {
    assert.equal(learnOpenAICompatibilityFlags('It does not support to stop reasoning.', undefined, plain), undefined);
  });
});
