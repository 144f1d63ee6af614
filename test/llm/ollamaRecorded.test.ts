import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createOllamaClient } from '../../src/llm/ollama/client.ts';
import { type Heard, hear, served, slicings } from './serve.ts';

/** Replies of real servers lie beside the project, where they are; the project's own cases cover every quirk too. */
const folder = fileURLToPath(new URL('../../../shared/fixtures/wire/', import.meta.url));

interface RecordedCase {
  protocol: string;
  mode: 'stream' | 'json' | 'error';
  file: string;
  status: number;
  headers: Record<string, string>;
  expected: {
    text?: string;
    thinking?: string;
    toolCalls?: { name: string; arguments: object }[];
    finishReason?: string | null;
    usage?: Record<string, number> | null;
    model?: string;
    error?: unknown;
  };
  expectedError?: { code: string; status: number; message: string; retryable: boolean };
}

describe('recorded replies of Ollama', () => {
  if (!existsSync(`${folder}index.json`)) {
    it('are absent here; the hand-made cases stand alone', () => assert.ok(!existsSync(`${folder}index.json`)));
    return;
  }
  const index = JSON.parse(readFileSync(`${folder}index.json`, 'utf8')) as RecordedCase[];
  const cases = index.filter(({ protocol }) => protocol === 'ollama');
  const client = createOllamaClient({ baseUrl: 'https://ollama.example' });
  const listen = (
    body: string | Uint8Array,
    slicing: (typeof slicings)[number],
    { status, headers, mode }: RecordedCase,
  ) => {
    const type = mode === 'stream' ? 'application/x-ndjson' : 'application/json';
    return served({ status, headers: { 'content-type': type, ...headers }, body }, slicing, () =>
      hear(client.chatStream({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })),
    );
  };

  it('are here', () => assert.ok(cases.length >= 20));

  for (const recorded of cases) {
    it(`${recorded.mode} ${recorded.file}`, async () => {
      const body = new Uint8Array(readFileSync(folder + recorded.file));
      for (const slicing of slicings) expectReply(await listen(body, slicing, recorded), recorded);
    });
  }

  for (const recorded of cases.filter(({ mode, expected }) => mode === 'stream' && !expected.error)) {
    const text = readFileSync(folder + recorded.file, 'utf8').trimEnd();

    it(`says the same however it is framed: ${recorded.file}`, async () => {
      const framings = [text, text.replaceAll('\n', '\r\n'), `\uFEFF${text}\n`, text.replaceAll('\n', '\n\n')];
      for (const framing of framings) expectReply(await listen(framing, 'random', recorded), recorded);
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
      for (const body of damaged) {
        const { error, calls } = await listen(body, 'random', recorded);
        assert.ok(error && ['LLM_INCOMPLETE', 'LLM_BAD_RESPONSE', 'LLM_HTTP_ERROR'].includes(error.code));
        assert.deepEqual(calls, []);
      }
    });
  }
});

function expectReply(heard: Heard, { expected, expectedError }: RecordedCase): void {
  if (expectedError) {
    const { code, status, retryable, message } = expectedError;
    const { error } = heard;
    assert.deepEqual([error?.code, error?.status, error?.retryable], [code, status, retryable]);
    assert.ok(error?.message.includes(message), error?.message);
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
