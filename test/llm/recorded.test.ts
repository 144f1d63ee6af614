import assert from 'node:assert/strict';
import { createLLMClient } from '../../src/llm/createClient.ts';
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
  /** Where the thinking is written as text. */
  thinkSplit?: { thinking: string; text: string };
  refusal?: string | null;
  toolCalls?: { id: string | null; name: string; arguments: object | null; argumentsValid?: boolean }[];
  finishReason?: string | null;
  usage?: Record<string, number> | null;
  model?: string;
  error?: { code?: string; message?: string } | null;
}>;

const finishes = /"finish_reason": ?"[a-z_]+"/;
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

  for (const recorded of cases.filter(({ expected }) => expected.thinkSplit)) {
    it(`thinking and text are told apart: ${recorded.file}`, async () => {
      const client = createLLMClient({
        provider: 'openai-compatible',
        baseUrl: 'https://models.example/v1',
        model: 'm',
      });
      for (const { thinking, text } of await hearAll(replyOf(recorded), client, request))
        assert.deepEqual({ thinking, text }, recorded.expected.thinkSplit);
    });
  }

  for (const { file } of cases.filter(isStream)) {
    it(`says the same however it is framed: ${file}`, async () => {
      const unix = textOf(file);
      const plain = withoutOwnIds(await say(unix));
      for (const [name, body] of Object.entries(framingsOf(unix))) {
        assert.deepEqual(withoutOwnIds(await say(body)), plain, name);
      }
      if (finishes.test(unix)) {
        assert.deepEqual(withoutOwnIds(await say(unix.replace(/^data: ?\[DONE\]\n*/m, ''))), plain, 'no end mark');
      }
    });

    it(`runs nothing when it is harmed: ${file}`, async () => {
      const events = textOf(file).trimEnd().split('\n\n');
      const last = events.findIndex((event) => finishes.test(event) || event.includes('[DONE]'));
      const every = Math.ceil(last / 40); // a cut at some forty of the places, for the long ones
      const places = [...Array(last).keys()].filter((at) => at === last - 1 || at % every === 0);
      const before = events.slice(0, last).map((event) => `${event}\n\n`);
      const harmed = places.flatMap((at) => {
        const beginning = before.slice(0, at).join('');
        return [beginning || ': nothing\n\n', beginning + before[at]!.slice(0, before[at]!.length / 2)];
      });
      harmed.push(`${before.join('')}data: {"error":{"message":"boom","code":500}}\n\n${events[last]}\n\n`);
      harmed.push('<html><body>Bad gateway</body></html>', '');
      const whole = withoutOwnIds(await say(textOf(file)));
      for (const body of harmed) {
        const { error, calls } = withoutOwnIds(await say(body));
        // Calls before the last are complete once the next begins; the loop runs only reads of them, and says "cut off".
        assert.deepEqual(calls, whole.calls.slice(0, Math.max(0, Math.min(calls.length, whole.calls.length - 1))));
        expectNoAnswer({ error, calls: [] }, body.slice(-300));
      }
    });
  }
});

function expectReply(heard: Heard, { expected, exercises, policy = [] }: Case): void {
  if (expected.error) {
    expectNoAnswer(heard); // "cut" has a code of its own here, finer than the one recorded
    if (expected.error.message) assert.ok(heard.error?.message.includes(expected.error.message.slice(0, 400)));
    return;
  }
  assert.equal(heard.error, undefined, JSON.stringify(heard.error));
  assert.equal(heard.text, `${expected.text ?? ''}${expected.refusal ?? ''}`);
  // The recordings expect no thinking where only `reasoning_details` hold it (Snowflake).
  const isInDetails = exercises.includes('reasoning_details') && !expected.thinking;
  if (!isInDetails) assert.equal(heard.thinking, expected.thinking ?? '');
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
