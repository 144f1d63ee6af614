import assert from 'node:assert/strict';
import type { ChatRequest, ChatStreamChunk, LLMClient } from '../../src/llm/core/client.ts';
import { withTextToolCallParsing } from '../../src/llm/textCalls/textCalls.ts';
import { hasUnparsedTextToolCall } from '../../src/llm/textCalls/unreadCalls.ts';
import { families, tools } from '../llm/textCalls/cases.ts';
import { tries } from '../support/tries.ts';
import { describeTrained } from './trained.ts';

/** Forms of one call that names one file. */
const forms = families.flatMap(({ says, text, calls: [call, ...others] }) => {
  if (!Array.isArray(call) || others.length > 0 || call[0] !== 'fs.read') return [];
  const { path } = call[1] as { path: string };
  const of = (file: string) => text.replaceAll(path, file);
  return [{ says, of, end: text.slice(text.lastIndexOf(path) + path.length).trimEnd() }];
});
/** Of every kind some. */
const tried = forms.filter((_, index) => index % tries(8, 2) === 0);

/** A conversation in which the model has written such calls as text, which no grammar holds. */
function conversation(of: (file: string) => string): ChatRequest {
  const messages: ChatRequest['messages'] = ['one.md', 'two.md'].flatMap((file) => [
    { role: 'user' as const, content: `Read the file ${file}` },
    { role: 'assistant' as const, content: of(file) },
    { role: 'user' as const, content: `The file ${file} is empty.` },
    { role: 'assistant' as const, content: 'It is empty.' },
  ]);
  return {
    model: 'test',
    systemPrompt: 'You call tools.',
    messages: [...messages, { role: 'user', content: 'Read the file four.md' }],
    tools: tools.slice(0, 1),
    temperature: 0,
    maxTokens: 90,
    cacheKey: 'calls',
  };
}

/** The client, with its text in `written`; a call that it has written to the end ends its reply, as Gemma's base model never does. */
function endingAfter(client: LLMClient, end: string, written: { text: string }): LLMClient {
  async function* chatStream(request: ChatRequest, signal?: AbortSignal): AsyncGenerator<ChatStreamChunk, void> {
    for await (const chunk of client.chatStream(request, signal)) {
      const before = written.text.length;
      written.text += chunk.content ?? chunk.toolCallDelta?.argumentsText ?? '';
      const named = written.text.indexOf('four.md');
      const at = named < 0 ? -1 : written.text.indexOf(end, named);
      if (chunk.content === undefined || at < 0) yield chunk;
      else {
        written.text = written.text.slice(0, at + end.length);
        yield { content: written.text.slice(before), done: false };
        return yield { done: true, finishReason: 'stop' };
      }
    }
  }
  return { ...client, chatStream };
}

describeTrained(
  'calls that a trained model writes as text',
  (model) => {
    it('are read or named', async () => {
      const client = await model.client({ keep: undefined, oneRun: true });
      const counts = { read: 0, named: 0, 'cut off': 0, 'not written': 0 };
      const lost: string[] = [];
      for (const { says, of, end } of tried) {
        const written = { text: '' };
        const reply = await withTextToolCallParsing(endingAfter(client, end, written)).chat(conversation(of));
        const [call] = reply.toolCalls ?? [];
        if (call) {
          counts.read++;
          if (!call.malformed) assert.ok(JSON.stringify(call.arguments).includes('.md'), `${says}: ${written.text}`);
        } else if (hasUnparsedTextToolCall(reply.content ?? '')) counts.named++;
        else if (reply.finishReason === 'length') counts['cut off']++;
        else if (/fs[._]read/.test(written.text) && /\w\.md/.test(written.text)) lost.push(`${says}: ${written.text}`);
        else counts['not written']++;
      }
      model.figure(
        `calls as text, in ${tried.length} forms`,
        ...Object.entries(counts).map(([what, count]) => `${count} ${what}`),
        `${lost.length} lost`,
      );
      assert.deepEqual(lost, []);
      assert.ok(counts.read > tried.length / 2, JSON.stringify(counts));
    });
  },
  'named',
);
