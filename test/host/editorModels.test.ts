import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { createEditorClient } from '../../src/extension/editorModels.ts';
import type { ChatRequest } from '../../src/llm/client.ts';
import { LLMError } from '../../src/llm/errors.ts';

const read = { name: 'fs.read', description: 'Reads.', parameters: { type: 'object', properties: {} } };
type Part = vscode.LanguageModelTextPart | vscode.LanguageModelToolCallPart;

/** A model as another extension would offer it to the editor, which answers with these parts. */
function offered(
  parts: Part[] | Error,
  asked: { messages?: unknown; options?: vscode.LanguageModelChatRequestOptions } = {},
) {
  const model = {
    vendor: 'test',
    id: 'one',
    maxInputTokens: 8000,
    async sendRequest(
      messages: vscode.LanguageModelChatMessage[],
      options: vscode.LanguageModelChatRequestOptions,
      token: vscode.CancellationToken,
    ) {
      Object.assign(asked, { messages, options });
      if (parts instanceof Error) throw parts;
      async function* stream() {
        for (const part of parts as Part[]) {
          if (token.isCancellationRequested) throw new vscode.CancellationError();
          yield part;
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      }
      return { stream: stream() };
    },
  };
  const select = async (selector?: vscode.LanguageModelChatSelector) =>
    selector?.id === undefined || selector.id === model.id ? [model] : [];
  return createEditorClient(select as never);
}

const request = (messages: ChatRequest['messages']): ChatRequest => ({
  model: 'test/one',
  systemPrompt: 'Be short.',
  messages,
  tools: [read],
});
const text = (value: string) => new vscode.LanguageModelTextPart(value);
const call = new vscode.LanguageModelToolCallPart('c1', 'fs_read', { path: 'a' });

describe('a model of the editor', () => {
  it('answers with text and calls', async () => {
    const client = offered([text('I look. '), text('Now.'), call]);
    assert.deepEqual(await client.chat(request([{ role: 'user', content: 'hi' }])), {
      content: 'I look. Now.',
      toolCalls: [{ id: 'c1', name: 'fs.read', arguments: { path: 'a' } }],
      model: 'test/one',
      finishReason: 'tool_calls',
    });
  });

  it('is told everything, calls with their results', async () => {
    const asked: { messages?: unknown; options?: vscode.LanguageModelChatRequestOptions } = {};
    const client = offered([text('Fine.')], asked);
    await client.chat(
      request([
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'I look.', toolCalls: [{ id: 'c1', name: 'fs.read', arguments: { path: 'a' } }] },
        { role: 'tool', content: '', toolResults: [{ toolCallId: 'c1', content: '{"ok":true}' }] },
      ]),
    );
    const { User, Assistant } = vscode.LanguageModelChatMessage;
    assert.deepEqual(asked.messages, [
      User('Be short.'),
      User('hi'),
      Assistant([text('I look.'), call]),
      User([new vscode.LanguageModelToolResultPart('c1', [text('{"ok":true}')])]),
    ]);
    assert.deepEqual(
      asked.options?.tools?.map((tool) => tool.name),
      ['fs_read'],
    );
  });

  it('stops at once', async () => {
    const client = offered(Array.from({ length: 1000 }, () => text('tick ')));
    const stop = new AbortController();
    const heard: string[] = [];
    await assert.rejects(
      async () => {
        for await (const chunk of client.chatStream(request([{ role: 'user', content: 'hi' }]), stop.signal)) {
          heard.push(chunk.content ?? '');
          if (heard.length === 3) stop.abort(new Error('stopped'));
        }
      },
      { message: 'stopped' },
    );
    assert.ok(heard.length < 10);
  });

  const failures: [string, Error, string][] = [
    ['no consent', vscode.LanguageModelError.NoPermissions('no'), 'LLM_AUTH_FAILED'],
    ['blocked', vscode.LanguageModelError.Blocked('quota'), 'LLM_RATE_LIMITED'],
    ['anything else', new Error('boom'), 'UNKNOWN'],
  ];
  for (const [what, error, code] of failures)
    it(`fails in words: ${what}`, async () => {
      const client = offered(error);
      await assert.rejects(client.chat(request([])), (thrown) => thrown instanceof LLMError && thrown.code === code);
    });

  it('is listed, and missed when it is gone', async () => {
    const client = offered([]);
    assert.deepEqual(await client.listModels?.(), [{ id: 'test/one', contextWindow: 8000 }]);
    await assert.rejects(client.chat({ ...request([]), model: 'test/two' }), /does not offer the model test\/two/);
  });
});
