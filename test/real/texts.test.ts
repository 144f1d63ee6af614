import assert from 'node:assert/strict';
import { type ConversationWithModel, summarizeMessages } from '../../src/engine/context/summarize.ts';
import { nameRun } from '../../src/engine/run/title.ts';
import { commitMessagePrompt, extractCommitMessage } from '../../src/extension/commit/commitText.ts';
import { createAdapter } from '../../src/llm/adapter/adapter.ts';
import type { LLMClient } from '../../src/llm/core/client.ts';
import type { Message } from '../../src/protocol/content/messages.ts';
import type { RunEventBody } from '../../src/protocol/run/events.ts';
import { newRun } from '../../src/protocol/run/run.ts';
import { isDegenerateAnswer } from '../../src/protocol/text/degenerateText.ts';
import { describeTrained } from './trained.ts';

const messages: Message[] = [
  { role: 'user', content: 'Fix the failing test in test/parser.test.ts.' },
  { role: 'assistant', content: 'The parser does not accept a minus sign. I change src/parser.ts, line 12.' },
  { role: 'user', content: 'Good. Run the tests, too.' },
  { role: 'assistant', content: 'All 12 tests pass.' },
];
const diff = `Newest commits:
parser: accept empty lines
docs: name the options

diff --git a/src/parser.ts b/src/parser.ts
@@ -10,3 +10,3 @@
-  return /^\\d+$/.test(text) ? Number(text) : NaN;
+  return /^-?\\d+$/.test(text) ? Number(text) : NaN;
`;

/** Few tokens at temperature 0: these models go on for thousands. */
const brief = (client: LLMClient): LLMClient => ({
  ...client,
  chatStream: (request, signal) => client.chatStream({ ...request, temperature: 0, maxTokens: 100 }, signal),
});

describeTrained(
  'texts that a trained model writes for Towpath',
  (model) => {
    const called = async () => ({
      id: 'local/test',
      model: 'test',
      adapter: createAdapter(brief(await model.client()), { connectMs: 0, firstTokenMs: 0, retries: 0 }),
    });

    it('are a title of at most 60 characters, or none', async () => {
      const events: RunEventBody[] = [];
      const emit = async (event: RunEventBody) => void events.push(event);
      const namer = await called();
      const asked = new Promise<void>((resolve) => {
        const { complete } = namer.adapter;
        namer.adapter.complete = (...given) => complete(...given).finally(() => setImmediate(resolve));
      });
      nameRun({ run: { ...newRun('run-1'), messages }, emit }, async () => namer);
      await asked;
      const title = events.flatMap((event) => (event.type === 'title' ? [event.title] : []))[0] ?? '';
      assert.ok(title.length <= 60 && !title.includes('\n'), title);
      model.figure('a title', title === '' ? 'unusable: the first message' : JSON.stringify(title));
    });

    it('are a summary, or the plain list in its place', async () => {
      const conversation = {
        run: { ...newRun('run-1'), messages },
        emit: async () => {},
        called: await called(),
        prefix: { model: 'test' },
        signal: new AbortController().signal,
      } as unknown as ConversationWithModel;
      const summary = await summarizeMessages(conversation, messages.length, { reads: 2000, writes: 100 });
      assert.ok(typeof summary === 'string' && summary !== '');
      assert.ok(!isDegenerateAnswer(summary, ''), summary);
      model.figure('a summary', summary.startsWith('- Person:') ? 'unusable: the plain list' : JSON.stringify(summary));
    });

    it('are a commit message, or none', async () => {
      const limits = { subject: 72, line: 72 };
      const client = brief(await model.client());
      let answer = '';
      const request = {
        model: 'test',
        systemPrompt: commitMessagePrompt(limits),
        messages: [{ role: 'user' as const, content: diff }],
      };
      for await (const { content = '' } of client.chatStream(request)) answer += content;
      const text = extractCommitMessage(answer, limits);
      assert.ok(
        text.split('\n').every((line) => line.length <= 72),
        text,
      );
      model.figure('a commit message', text === '' ? 'unusable: none' : JSON.stringify(text));
    });
  },
  'named',
);
