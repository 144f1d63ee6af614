import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { anywhere, type Heard, hear, served, slicings } from './serve.ts';

/** Replies of real providers lie beside the project, where they are; the project's own cases cover every quirk too. */
const folder = fileURLToPath(new URL('../../../shared/fixtures/wire/', import.meta.url));

interface RecordedCase {
  id: string;
  protocol: string;
  mode: 'stream' | 'json' | 'error';
  file: string;
  status: number;
  headers: Record<string, string>;
  policy?: string[];
  expected: {
    text?: string;
    thinking?: string;
    refusal?: string | null;
    toolCalls?: { id: string | null; name: string; arguments: object | null; argumentsValid?: boolean }[];
    finishReason?: string | null;
    usage?: Record<string, number> | null;
    model?: string;
    error?: { code?: string; message?: string } | null;
  };
  expectedError?: { code: string; status: number; message: string; retryable: boolean; retryAfterMs?: number };
}

describe('recorded replies of OpenAI-compatible providers', () => {
  if (!existsSync(`${folder}index.json`)) {
    it('are absent here; the hand-made cases stand alone', () => assert.ok(!existsSync(`${folder}index.json`)));
    return;
  }
  const index = JSON.parse(readFileSync(`${folder}index.json`, 'utf8')) as RecordedCase[];
  const cases = index.filter(({ protocol }) => protocol === 'openai-chat');
  const request = { model: '', messages: [] };

  for (const recorded of cases) {
    it(`${recorded.mode} ${recorded.file}`, async () => {
      const body = new Uint8Array(readFileSync(folder + recorded.file));
      const type = recorded.mode === 'stream' ? 'text/event-stream' : 'application/json';
      const reply = { status: recorded.status, headers: { 'content-type': type, ...recorded.headers }, body };
      for (const slicing of slicings) {
        const heard = await served(reply, slicing, () => hear(anywhere.chatStream(request)));
        if (recorded.expectedError) expectError(heard, recorded.expectedError);
        else expectReply(heard, recorded);
      }
    });
  }

  for (const recorded of cases.filter(({ mode, expected }) => mode === 'stream' && !expected.error)) {
    it(`says the same however it is framed: ${recorded.file}`, async () => {
      const text = readFileSync(folder + recorded.file, 'utf8');
      const headers = { 'content-type': 'text/event-stream' };
      const say = (body: string) => served({ headers, body }, 'random', () => hear(anywhere.chatStream(request)));
      const unix = text.replaceAll('\r\n', '\n');
      const plain = withoutOwnIds(await say(unix));
      const framings: Record<string, string> = {
        'CR LF': unix.replaceAll('\n', '\r\n'),
        CR: unix.replaceAll('\n', '\r'),
        comments: unix.replaceAll('\n\n', '\n\n: keepalive\n\n'),
        BOM: `\uFEFF${unix}`,
        'no space': unix.replaceAll(/^data: /gm, 'data:'),
        'no end': unix.trimEnd(),
      };
      for (const [name, body] of Object.entries(framings))
        assert.deepEqual(withoutOwnIds(await say(body)), plain, name);
      const firstEvent = unix.slice(0, unix.indexOf('\n\n') + 2);
      const cut = await say(firstEvent.includes('"finish_reason":"') ? ': nothing\n\n' : firstEvent);
      assert.equal(cut.error?.code, 'LLM_INCOMPLETE');
      assert.deepEqual(cut.calls, []);
    });
  }
});

function expectReply(heard: Heard, { expected, policy = [] }: RecordedCase): void {
  if (expected.error) {
    // "Cut" has a code of its own here, finer than the one recorded.
    assert.ok(heard.error && ['LLM_HTTP_ERROR', 'LLM_BAD_RESPONSE', 'LLM_INCOMPLETE'].includes(heard.error.code));
    if (expected.error.message) assert.ok(heard.error.message.includes(expected.error.message.slice(0, 400)));
    assert.deepEqual(heard.calls, []);
    return;
  }
  assert.equal(heard.error, undefined, JSON.stringify(heard.error));
  assert.equal(heard.text, `${expected.text ?? ''}${expected.refusal ?? ''}`);
  assert.equal(heard.thinking, expected.thinking ?? '');
  const calls = (expected.toolCalls ?? []).filter(({ name }) => name !== ''); // padding, no calls
  assert.deepEqual(
    heard.calls.map(({ name, arguments: given, malformed }) => ({ name, given, valid: malformed === undefined })),
    calls.map((call) => ({ name: call.name, given: call.arguments ?? {}, valid: call.argumentsValid !== false })),
  );
  for (const [at, { id }] of calls.entries()) if (id) assert.equal(heard.calls[at]?.id, id);
  const settled = !policy.includes('unknown-finish-reason') && !policy.includes('refusal') && expected.finishReason;
  if (settled) assert.equal(heard.finish, expected.finishReason);
  else assert.ok(['stop', 'content_filter', 'tool_calls'].includes(heard.finish ?? ''));
  if (expected.usage) {
    const { reasoningTokens, ...usage } = expected.usage;
    const thinking = reasoningTokens === undefined ? {} : { thinkingTokens: reasoningTokens };
    assert.deepEqual(heard.usage, { ...usage, ...thinking });
  }
  if (expected.model) assert.equal(heard.model, expected.model);
}

function expectError({ error }: Heard, expected: NonNullable<RecordedCase['expectedError']>): void {
  const { code, status, message, retryable, retryAfterMs } = expected;
  assert.deepEqual(
    { code: error?.code, status: error?.status, retryable: error?.retryable },
    { code, status, retryable },
  );
  assert.ok(error?.message.includes(message), error?.message);
  if (retryAfterMs !== undefined) assert.equal(error?.retryAfterMs, retryAfterMs);
}

const withoutOwnIds = ({ calls, ...heard }: Heard) => ({
  ...heard,
  calls: calls.map((call) => ({ ...call, id: /^call_[0-9a-f]{20}$/.test(call.id) ? 'ours' : call.id })),
});
