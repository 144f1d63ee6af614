import assert from 'node:assert/strict';
import {
  describeRecorded,
  expectError,
  expectNoAnswer,
  framingsOf,
  hearAll,
  isStream,
  type RecordedCase,
  replyOf,
  textOf,
  withoutOwnIds,
} from './recordedCases.ts';
import { anywhere, type Heard, hear, served } from './serve.ts';

type Case = RecordedCase<{
  text?: string;
  thinking?: string;
  refusal?: string | null;
  toolCalls?: { id: string | null; name: string; arguments: object | null; argumentsValid?: boolean }[];
  finishReason?: string | null;
  usage?: Record<string, number> | null;
  model?: string;
  error?: { code?: string; message?: string } | null;
}>;

const request = { model: '', messages: [] };
const say = (body: string) => {
  const headers = { 'content-type': 'text/event-stream' };
  return served({ headers, body }, 'random', () => hear(anywhere.chatStream(request)));
};

describeRecorded('recorded replies of OpenAI-compatible providers', 'openai-chat', (cases: Case[]) => {
  for (const recorded of cases) {
    it(`${recorded.mode} ${recorded.file}`, async () => {
      for (const heard of await hearAll(replyOf(recorded), anywhere, request)) {
        if (recorded.expectedError) expectError(heard, recorded.expectedError);
        else expectReply(heard, recorded);
      }
    });
  }

  for (const { file } of cases.filter(isStream)) {
    it(`says the same however it is framed: ${file}`, async () => {
      const unix = textOf(file);
      const plain = withoutOwnIds(await say(unix));
      for (const [name, body] of Object.entries(framingsOf(unix))) {
        assert.deepEqual(withoutOwnIds(await say(body)), plain, name);
      }
      const firstEvent = unix.slice(0, unix.indexOf('\n\n') + 2);
      const cut = await say(firstEvent.includes('"finish_reason":"') ? ': nothing\n\n' : firstEvent);
      assert.equal(cut.error?.code, 'LLM_INCOMPLETE');
      assert.deepEqual(cut.calls, []);
    });
  }
});

function expectReply(heard: Heard, { expected, policy = [] }: Case): void {
  if (expected.error) {
    expectNoAnswer(heard); // "cut" has a code of its own here, finer than the one recorded
    if (expected.error.message) assert.ok(heard.error?.message.includes(expected.error.message.slice(0, 400)));
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
