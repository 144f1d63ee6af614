import assert from 'node:assert/strict';
import type Anthropic from '@anthropic-ai/sdk';
import { type Content, GoogleGenAI } from '@google/genai';
import type { Message as OllamaMessage } from 'ollama';
import type OpenAI from 'openai';
import { toAnthropicWireRequest as toAnthropic } from '../../src/llm/anthropic/wire.ts';
import { type GoogleRequestRestrictions, toGoogleWire } from '../../src/llm/google/wire.ts';
import { toLlamaHistory } from '../../src/llm/local/ipc/chatHistory.ts';
import { normalizeHistory } from '../../src/llm/messages/normalizeHistory.ts';
import type { OpenAICompatibilityFlags } from '../../src/llm/models/wireFlags.ts';
import { toOllamaWireRequest as toOllama } from '../../src/llm/ollama/wire.ts';
import { fromOpenAIWireMessages } from '../../src/llm/openai/messages.ts';
import { omittedImageWarnings } from '../../src/llm/openai/warnings.ts';
import { toOpenAIWireRequest as toOpenAI } from '../../src/llm/openai/wire.ts';
import type { Message, ToolCall } from '../../src/protocol/content/messages.ts';
import { messageSchema } from '../../src/protocol/content/messages.ts';
import { toToolResult } from '../../src/protocol/content/tools.ts';
import { toEnglishText } from '../../src/protocol/text/l10n.ts';

const model = 'm';
const shot = { mediaType: 'image/png', data: 'AAAA', name: 'shot.png' };
const moving = { mediaType: 'image/gif', data: 'BBBB', name: 'moving.gif' };
const call = (id: string): ToolCall => ({ id, name: 'fs.read', arguments: { path: id } });
const told = (id: string) => JSON.stringify({ ok: true, data: { path: id } });
const result = (id: string, attachments?: (typeof shot)[]) =>
  toToolResult(id, { ok: true, data: { path: id }, ...(attachments && { attachments }) });

/** Two calls of one answer, each with a picture, and one without; then what the person says. */
const history: Message[] = [
  { role: 'user', content: 'Look.' },
  { role: 'assistant', content: '', toolCalls: [call('a'), call('b'), call('c')] },
  { role: 'tool', content: '', toolResults: [result('a', [shot])] },
  { role: 'tool', content: '', toolResults: [result('b')] },
  { role: 'tool', content: '', toolResults: [result('c', [moving])] },
];
const after: Message[] = [
  { role: 'assistant', content: 'I see.' },
  { role: 'user', content: 'What?' },
];
const note = (name: string) => `Not shown, for this model does not see it: ${name}.`;
const noted = (id: string, name: string) => JSON.stringify({ ok: true, data: { path: id }, note: note(name) });

const openAI = (messages: Message[], flags: Partial<OpenAICompatibilityFlags> = {}) =>
  toOpenAI({ model, messages }, { provider: 'here', ...flags }).messages as unknown[];
const google = (messages: Message[], flags?: GoogleRequestRestrictions) =>
  toGoogleWire({ model, messages }, flags).contents as Content[];
const seeing = { thinkingLevels: false, vision: true };
const ollama = (messages: Message[], vision = true) =>
  toOllama({ model, messages }, { model: { ...seeing, vision } }).body.messages;
const anthropic = (messages: Message[]) =>
  toAnthropic({ model, messages }, { omit: ['cache_control'] }).messages as unknown[];

const imagePart = ({ mediaType, data }: typeof shot) => ({
  type: 'image_url' as const,
  image_url: { url: `data:${mediaType};base64,${data}` },
});
const wireCall = (id: string) => ({
  id,
  type: 'function' as const,
  function: { name: 'fs_read', arguments: `{"path":"${id}"}` },
});
const functionCall = (id: string) => ({ functionCall: { name: 'fs_read', args: { path: id } } });
const response = (id: string, more: object = {}, inside: object = {}) => ({
  functionResponse: { name: 'fs_read', response: { ok: true, data: { path: id }, ...inside }, ...more },
});
const inline = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
const from = 'Images from the result of fs_read:';

describe('pictures of results', () => {
  it('are a part of the result for Anthropic', () => {
    const image = (media_type: 'image/png' | 'image/gif', data: string) => ({
      type: 'image' as const,
      source: { type: 'base64' as const, media_type, data },
    });
    const use = (id: string) => ({ type: 'tool_use' as const, id, name: 'fs_read', input: { path: id } });
    const text = (id: string) => ({ type: 'text' as const, text: told(id) });
    const expected: Anthropic.MessageParam[] = [
      { role: 'user', content: [{ type: 'text', text: 'Look.' }] },
      { role: 'assistant', content: [use('a'), use('b'), use('c')] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [text('a'), image('image/png', 'AAAA')] },
          { type: 'tool_result', tool_use_id: 'b', content: told('b') },
          { type: 'tool_result', tool_use_id: 'c', content: [text('c'), image('image/gif', 'BBBB')] },
        ],
      },
    ];
    assert.deepEqual(anthropic(history), expected);
  });

  it('are not told of an error, which is text only there', () => {
    const failed = { toolCallId: 'a', content: '{"ok":false}', error: 'TOOL_EXEC_FAILED', attachments: [shot] };
    const messages: Message[] = [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: '', toolCalls: [call('a')] },
      { role: 'tool', content: '', toolResults: [failed] },
    ];
    assert.deepEqual((anthropic(messages)[2] as { content: unknown }).content, [
      { type: 'tool_result', tool_use_id: 'a', content: '{"ok":false}', is_error: true },
    ]);
  });

  const asked = { role: 'assistant' as const, content: null, tool_calls: ['a', 'b', 'c'].map(wireCall) };
  const wireResult = (id: string, content = told(id)) => ({ role: 'tool' as const, tool_call_id: id, content });

  it('follow the last result of the turn where results are text (OpenAI)', () => {
    const expected: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'user', content: 'Look.' },
      asked,
      ...['a', 'b', 'c'].map((id) => wireResult(id)),
      {
        role: 'user',
        content: [{ type: 'text', text: from }, imagePart(shot), { type: 'text', text: from }, imagePart(moving)],
      },
    ];
    assert.deepEqual(openAI(history), expected);
  });

  it('come before what the person says there, in one message', () => {
    assert.deepEqual(openAI([...history, { role: 'user', content: 'And?' }]).slice(5), [
      {
        role: 'user',
        content: [
          { type: 'text', text: from },
          imagePart(shot),
          { type: 'text', text: from },
          imagePart(moving),
          { type: 'text', text: 'And?' },
        ],
      },
    ]);
  });

  it('have a word of the assistant before them where that is asked for (Mistral)', () => {
    const roles = openAI(history, { answersResults: true }).map((message) => (message as { role: string }).role);
    assert.deepEqual(roles, ['user', 'assistant', 'tool', 'tool', 'tool', 'assistant', 'user']);
  });

  it('are named to a model that sees none, and the person is told', () => {
    const flags = { provider: 'here', withoutImages: true };
    assert.deepEqual(openAI(history, flags).slice(2), [
      wireResult('a', noted('a', 'shot.png')),
      wireResult('b'),
      wireResult('c', noted('c', 'moving.gif')),
    ]);
    assert.deepEqual(omittedImageWarnings({ model, messages: history }, flags).map(toEnglishText), [
      'm does not accept images, so they are left out. Pick a model that does.',
    ]);
  });

  it('that another program sends in its results are kept', () => {
    const wire = [{ role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'x' }, imagePart(shot)] }];
    const attachments = [{ mediaType: 'image/png', data: 'AAAA' }];
    assert.deepEqual(fromOpenAIWireMessages(wire), [
      { role: 'tool', content: '', toolResults: [{ toolCallId: 'a', content: 'x', attachments }] },
    ]);
  });

  const gemini: [says: string, flags: GoogleRequestRestrictions, contents: Content[]][] = [
    [
      'are parts of the response for Gemini 3, of the kinds that it sees',
      {},
      [
        {
          role: 'user',
          parts: [response('a', { parts: [inline] }), response('b'), response('c', {}, { note: note('moving.gif') })],
        },
      ],
    ],
    [
      'follow the results for Gemini 2, which counts the parts beside them',
      { imagesApart: true },
      [
        { role: 'user', parts: [response('a'), response('b'), response('c', {}, { note: note('moving.gif') })] },
        { role: 'user', parts: [{ text: from }, inline] },
      ],
    ],
  ];
  for (const [says, flags, contents] of gemini) {
    it(says, () => {
      const begin: Content[] = [
        { role: 'user', parts: [{ text: 'Look.' }] },
        { role: 'model', parts: ['a', 'b', 'c'].map(functionCall) },
      ];
      assert.deepEqual(google(history, flags), [...begin, ...contents]);
    });
  }

  it('follow calls that are told as text', () => {
    const [{ parts = [] } = {}, ...more] = google(history, { unsignedCallsAsText: true });
    assert.deepEqual([parts.slice(2), more], [[{ text: from }, inline], []]);
  });

  it("are sent by Google's own library as they are by us", async () => {
    const contents = google(history);
    const fetchBefore = globalThis.fetch;
    let body: { contents?: unknown } = {};
    globalThis.fetch = async (_, init) => {
      body = JSON.parse(String(init?.body));
      return new Response('{}', { headers: { 'content-type': 'application/json' } });
    };
    try {
      await new GoogleGenAI({ apiKey: 'none' }).models.generateContent({ model, contents });
    } finally {
      globalThis.fetch = fetchBefore;
    }
    assert.deepEqual(body.contents, contents);
  });

  it('go with a message of the person after the results (Ollama)', () => {
    const results = (['a', 'b', 'c'] as const).map((id) => ({ role: 'tool', tool_name: 'fs_read', content: told(id) }));
    const expected: OllamaMessage[] = [
      { role: 'user', content: 'Look.' },
      {
        role: 'assistant',
        content: '',
        tool_calls: ['a', 'b', 'c'].map((id) => ({ function: { name: 'fs_read', arguments: { path: id } } })),
      },
      ...results,
      { role: 'user', content: `${from}\n\n${from}`, images: ['AAAA', 'BBBB'] },
    ];
    assert.deepEqual(ollama(history), expected);
    assert.deepEqual(
      ollama(history, false)
        .slice(2)
        .map(({ content }) => content),
      [noted('a', 'shot.png'), told('b'), noted('c', 'moving.gif')],
    );
  });

  it('are named to a model on this machine', () => {
    const model = toLlamaHistory(history).find((item) => item.type === 'model');
    const results = model?.response.map((item) => (typeof item === 'object' && 'result' in item ? item.result : item));
    assert.deepEqual(results, [
      { ok: true, data: { path: 'a' }, note: note('shot.png') },
      { ok: true, data: { path: 'b' } },
      { ok: true, data: { path: 'c' }, note: note('moving.gif') },
    ]);
  });

  const wires: [name: string, toWire: (messages: Message[]) => unknown[]][] = [
    ['Anthropic', anthropic],
    ['OpenAI', openAI],
    ['Gemini 3', google],
    ['Gemini 2', (messages) => google(messages, { imagesApart: true })],
    ['Ollama', ollama],
  ];
  for (const [name, toWire] of wires) {
    it(`are the same bytes when more follows: ${name}`, () => {
      const now = toWire(history);
      assert.deepEqual(toWire([...history, ...after]).slice(0, now.length), now);
    });
  }

  it('stay with their result in the journal and when the history is mended', () => {
    const kept = history.map((message) => messageSchema.parse(JSON.parse(JSON.stringify(message))));
    const [, turn] = normalizeHistory({ messages: [kept[0]!, kept[1]!, kept[4]!, kept[2]!] }).normalized;
    assert.deepEqual(turn?.role === 'assistant' && turn.results.map(({ attachments }) => attachments), [
      [shot],
      undefined,
      [moving],
    ]);
  });
});
