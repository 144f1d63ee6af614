import assert from 'node:assert/strict';
import { createOllamaClient } from '../../../src/llm/ollama/client.ts';
import {
  describeRecorded,
  expectError,
  expectNoAnswer,
  hearAll,
  isStream,
  type RecordedCase,
  replyOf,
  textOf,
} from '../recordedCases.ts';
import { type Heard, hear, served } from '../serve.ts';

type Case = RecordedCase<{
  text?: string;
  thinking?: string;
  toolCalls?: { name: string; arguments: object }[];
  finishReason?: string | null;
  usage?: Record<string, number> | null;
  model?: string;
  error?: unknown;
}>;

const client = createOllamaClient({ baseUrl: 'https://ollama.example' });
const request = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] };

describeRecorded('recorded replies of Ollama', 'ollama', (cases: Case[]) => {
  for (const recorded of cases) {
    it(`${recorded.mode} ${recorded.file}`, async () => {
      const reply = replyOf(recorded, 'application/x-ndjson');
      for (const heard of await hearAll(reply, client, request)) expectReply(heard, recorded);
    });
  }

  for (const recorded of cases.filter(isStream)) {
    const text = textOf(recorded.file).trimEnd();
    const reply = replyOf(recorded, 'application/x-ndjson');
    const say = (body: string) => served({ ...reply, body }, 'random', () => hear(client.chatStream(request)));

    it(`says the same however it is framed: ${recorded.file}`, async () => {
      const framings = [text, text.replaceAll('\n', '\r\n'), `\uFEFF${text}\n`, text.replaceAll('\n', '\n\n')];
      for (const framing of framings) expectReply(await say(framing), recorded);
    });

    it(`is no answer when it is damaged: ${recorded.file}`, async () => {
      const lines = text.split('\n');
      const every = Math.ceil(lines.length / 40); // a cut at some forty of the places, for the long ones
      const cuts = [...lines.keys()].filter((at) => at % every === 0);
      const damaged = [
        ...cuts.map((at) => lines.slice(0, at).join('\n')),
        text.slice(0, -20),
        [...lines.slice(0, -1), '{"error":"boom"}', lines.at(-1)].join('\n'),
        '<html><body>Bad gateway</body></html>',
        '',
      ];
      for (const body of damaged) expectNoAnswer(await say(body));
    });
  }
});

function expectReply(heard: Heard, { expected, expectedError }: Case): void {
  if (expectedError) {
    expectError(heard, expectedError);
    return;
  }
  assert.equal(heard.text, expected.text ?? '');
  if (expected.error) {
    assert.equal(heard.error?.code, 'LLM_HTTP_ERROR');
    assert.ok(heard.error.message.includes(String(expected.error)), heard.error.message);
    return;
  }
  assert.equal(heard.error, undefined, JSON.stringify(heard.error));
  assert.equal(heard.thinking, expected.thinking ?? '');
  const calls = (expected.toolCalls ?? []).map(({ name, arguments: given }) => ({ name, given, malformed: undefined }));
  assert.deepEqual(
    heard.calls.map(({ name, arguments: given, malformed }) => ({ name, given, malformed })),
    calls,
  );
  assert.equal(heard.finish, expected.finishReason);
  assert.deepEqual(heard.usage, expected.usage);
  assert.equal(heard.model, expected.model);
}
