import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { createEditorModelClient } from '../../src/extension/providers/editorModels.ts';
import type { ChatRequest } from '../../src/llm/core/client.ts';
import { LLMError } from '../../src/llm/core/errors.ts';
import { describeBehaviours } from '../llm/behaviours.ts';
import { editorRow, offeredModels, scripted } from './editorRow.ts';

describeBehaviours(editorRow);

const read = { name: 'fs.read', description: 'Reads.', parameters: { type: 'object', properties: {} } };
const request = (messages: ChatRequest['messages']): ChatRequest => ({
  model: scripted,
  systemPrompt: 'Be short.',
  messages,
  tools: [read],
});

describe('a model of the editor', () => {
  it('is told everything, calls with their results', async () => {
    const { asked } = await offeredModels([{ parts: [{ text: 'Fine.' }] }]);
    await createEditorModelClient().chat(
      request([
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'I look.', toolCalls: [{ id: 'c1', name: 'fs.read', arguments: { path: 'a' } }] },
        { role: 'tool', content: '', toolResults: [{ toolCallId: 'c1', content: '{"ok":true}' }] },
        { role: 'system', content: 'Now in French.' },
      ]),
    );
    const { User, Assistant } = vscode.LanguageModelChatMessageRole;
    const text = (value: string) => ({ text: value });
    assert.deepEqual(
      asked[0]?.messages.map(({ role, content }) => ({ role, content: content.map(toPlain) })),
      [
        { role: User, content: [text('Be short.')] },
        { role: User, content: [text('hi')] },
        { role: Assistant, content: [text('I look.'), { call: 'c1', name: 'fs_read', input: { path: 'a' } }] },
        { role: User, content: [{ result: 'c1', content: [text('{"ok":true}')] }] },
        { role: User, content: [text('<system-message>\nNow in French.\n</system-message>')] },
      ],
    );
    assert.deepEqual(
      asked[0]?.options.tools?.map((tool) => tool.name),
      ['fs_read'],
    );
  });

  it('has an id of its own for each call, whatever the other extension counts', async () => {
    const parts = [1, 2].map((path) => ({ call: 'fs_read', args: { path }, id: 'call_0' }));
    const { asked } = await offeredModels([{ parts }, { parts: [parts[0]!] }]);
    const first = await createEditorModelClient().chat(request([{ role: 'user', content: 'half \ud83d' }]));
    const [one, two] = first.toolCalls!;
    assert.deepEqual([one!.id, one!.arguments, two!.arguments], ['call_0', { path: 1 }, { path: 2 }]);
    assert.notEqual(two!.id, one!.id);
    const said = { role: 'assistant' as const, content: '', toolCalls: [one!, two!] };
    const second = await createEditorModelClient().chat(request([{ role: 'user', content: 'hi' }, said]));
    assert.ok(![one!.id, two!.id].includes(second.toolCalls![0]!.id));
    assert.deepEqual(asked[0]?.messages.at(-1)?.content.map(toPlain), [{ text: 'half \ufffd' }]);
  });

  it('gets no images, and says so once a run', async () => {
    const { asked } = await offeredModels([{ parts: [{ text: 'Fine.' }] }, { parts: [{ text: 'Fine.' }] }]);
    const client = createEditorModelClient();
    const attachments = [{ mediaType: 'image/png', data: 'iVBORw0KGgo=', name: 'screen.png' }];
    const look = { ...request([{ role: 'user', content: 'Look.', attachments }]), cacheKey: 'run' };
    const warnings = [(await client.chat(look)).warnings, (await client.chat(look)).warnings];
    assert.deepEqual(warnings, [["The editor's model does not accept images, so they are left out."], undefined]);
    assert.deepEqual(asked[0]?.messages.at(-1)?.content.map(toPlain), [
      { text: '(screen.png: left out, you cannot see it)\n\nLook.' },
    ]);
  });

  it('stops in the middle with the reason it was given, and says nothing more', async () => {
    const models = await offeredModels([
      { parts: Array.from({ length: 1000 }, () => ({ text: 'tick ' })), everyMs: 5 },
    ]);
    const stop = new AbortController();
    const heard: string[] = [];
    await assert.rejects(
      async () => {
        for await (const { content } of createEditorModelClient().chatStream(
          request([{ role: 'user', content: 'hi' }]),
          stop.signal,
        )) {
          heard.push(content ?? '');
          if (heard.length === 3) stop.abort(new Error('stopped'));
        }
      },
      { message: 'stopped' },
    );
    assert.deepEqual([heard, models.asked.length], [['tick ', 'tick ', 'tick '], 1]);
  });

  it('stops with that reason also where the other extension does not heed it', async () => {
    await offeredModels([{ parts: [{ text: 'Half' }], end: 'hang' }]);
    const stop = new AbortController();
    const chunks = createEditorModelClient().chatStream(request([{ role: 'user', content: 'hi' }]), stop.signal);
    assert.equal((await chunks.next()).value?.content, 'Half');
    const next = chunks.next();
    stop.abort(new Error('enough'));
    await assert.rejects(next, { message: 'enough' });
  });

  it('is listed, and missed when it is gone', async () => {
    await offeredModels([]);
    const client = createEditorModelClient();
    assert.deepEqual(await client.listModels?.(), [{ id: scripted, contextWindow: 8000 }]);
    await assert.rejects(
      client.chat({ ...request([]), model: 'table/two' }),
      (thrown) => thrown instanceof LLMError && /does not offer the model table\/two/.test(thrown.message),
    );
  });

  it('gone between being found and being asked: said in the same words', async () => {
    await offeredModels([{ status: 404, message: 'unknown' }]);
    await assert.rejects(
      createEditorModelClient().chat(request([{ role: 'user', content: 'hi' }])),
      /does not offer the model/,
    );
  });
});

function toPlain(part: unknown): object {
  if (part instanceof vscode.LanguageModelTextPart) return { text: part.value };
  if (part instanceof vscode.LanguageModelToolCallPart)
    return { call: part.callId, name: part.name, input: part.input };
  const { callId, content } = part as vscode.LanguageModelToolResultPart;
  return { result: callId, content: content.map(toPlain) };
}
