import assert from 'node:assert/strict';
import { countTextTokens, localModelNames } from '../../../src/extension/modelProvider/providedNames.ts';
import {
  fromEditorMessages,
  fromEditorOptions,
  requestSize,
} from '../../../src/extension/modelProvider/providedWire.ts';

// The parts as the editor has them; no editor is needed for their shape.
const text = (value: string) => ({ value });
const thinking = (value: string) => ({ value, id: undefined, metadata: undefined });
const data = (bytes: string, mimeType: string) => ({ mimeType, data: new Uint8Array(Buffer.from(bytes)) });
const call = (callId: string, name: string, input: unknown) => ({ callId, name, input });
const result = (callId: string, ...content: unknown[]) => ({ callId, content });
const [user, assistant, system] = [1, 2, 3];
const base64 = (bytes: string) => Buffer.from(bytes).toString('base64');

describe('what the editor asks, as a request of ours', () => {
  const cases: [what: string, asked: Parameters<typeof fromEditorMessages>[0], told: unknown][] = [
    [
      'words',
      [
        { role: system, content: [text('Be short.')] },
        { role: user, content: [text('Hello'), text('there')] },
        { role: assistant, content: [thinking('hm'), text('He'), text('llo.')] },
        { role: user, content: 'And now?' },
      ],
      [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'Hello\nthere' },
        { role: 'assistant', content: 'Hello.' },
        { role: 'user', content: 'And now?' },
      ],
    ],
    [
      'calls and their results, with words beside them',
      [
        { role: assistant, content: [text('Looking.'), call('a', 'read_file', { path: 'x' }), call('b', 'list', [])] },
        { role: user, content: [result('a', text('one'), text('two')), result('b'), text('Go on.')] },
      ],
      [
        {
          role: 'assistant',
          content: 'Looking.',
          toolCalls: [
            { id: 'a', name: 'read_file', arguments: { path: 'x' } },
            { id: 'b', name: 'list', arguments: {} },
          ],
        },
        {
          role: 'tool',
          content: '',
          toolResults: [
            { toolCallId: 'a', content: 'one\ntwo' },
            { toolCallId: 'b', content: '' },
          ],
        },
        { role: 'user', content: 'Go on.' },
      ],
    ],
    [
      'pictures, of a person and of a result',
      [
        { role: user, content: [text('What is it?'), data('PNG', 'image/png')] },
        { role: assistant, content: [call('a', 'shot', {})] },
        { role: user, content: [result('a', data('JPG', 'image/jpeg'))] },
      ],
      [
        {
          role: 'user',
          content: 'What is it?\n[image 1: image/png, 3 B]',
          attachments: [{ mediaType: 'image/png', data: base64('PNG'), name: 'image 1' }],
        },
        { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'shot', arguments: {} }] },
        {
          role: 'tool',
          content: '',
          toolResults: [
            {
              toolCallId: 'a',
              content: '[image 1: image/jpeg, 3 B]',
              attachments: [{ mediaType: 'image/jpeg', data: base64('JPG'), name: 'image 1' }],
            },
          ],
        },
      ],
    ],
    [
      'data that is text, data that is none, marks of a cache, a rendered prompt, and what nobody knows',
      [
        {
          role: user,
          content: [
            data('{"a":1}', 'application/json'),
            data('RIFF-6', 'audio/wav'),
            data('ephemeral', 'cache_control'),
            { value: { node: { children: [{ text: 'one' }, { text: 'two', lineBreakBefore: true }] } } },
            { odd: true },
          ],
        },
      ],
      [
        {
          role: 'user',
          content:
            '{"a":1}\n[audio/wav, 6 B, not shown: results carry text and images only]\none\ntwo\n[something that is no text, not shown]',
        },
      ],
    ],
  ];
  for (const [what, asked, told] of cases) it(what, () => assert.deepEqual(fromEditorMessages(asked), told));

  it('tools, whether one must be called, and what models commonly heed', () => {
    const inputSchema = { type: 'object', properties: { path: { type: 'string' } } };
    const tools = [
      { name: 'fs_read', description: 'Another one than ours', inputSchema },
      { name: 'bare', description: '' },
    ];
    assert.deepEqual(
      fromEditorOptions({
        tools,
        toolMode: 2,
        modelOptions: { temperature: 0, max_tokens: 9.5, top_p: 'x', other: 1 },
      }),
      {
        tools: [
          { name: 'fs_read', description: 'Another one than ours', parameters: inputSchema },
          { name: 'bare', description: '', parameters: { type: 'object', properties: {} } },
        ],
        toolChoice: 'required',
        temperature: 0,
        maxTokens: 9,
      },
    );
    assert.deepEqual(fromEditorOptions({ toolMode: 2 }), {}, 'no tool, no must');
  });

  it('its size is known before anything is converted: of words, of pictures, and of what has no end', () => {
    const asked = [{ role: user, content: [text('1234567890'), result('a', data('123456', 'image/png'))] }];
    assert.deepEqual(requestSize(asked), { text: 15, pictures: 8 });
    let deep: object = {};
    for (let level = 0; level < 200; level++) deep = { deep };
    assert.equal(
      requestSize([], { tools: [{ name: 'x', description: '', inputSchema: deep }] }).text,
      Number.POSITIVE_INFINITY,
    );
  });

  it('an enormous text is not counted word by word', async () => {
    assert.equal(await countTextTokens({ text: 1000 }, async () => 7), 7);
    assert.equal(await countTextTokens({ text: 10_000_000 }, () => assert.fail('counted')), 2_500_000);
  });

  it('a model file is called by its name alone, and by a mark of its own where two have the same', () => {
    const names = localModelNames(['/home/me/a/one.gguf', '/home/me/b/one.gguf', '/home/me/two.gguf']);
    assert.equal(names.get('/home/me/two.gguf'), 'two');
    assert.match(names.get('/home/me/a/one.gguf')!, /^one [0-9a-f]{8}$/);
    assert.equal(new Set(names.values()).size, 3);
    assert.ok([...names.values()].every((name) => !name.includes('home')));
  });
});
