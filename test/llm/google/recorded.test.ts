import assert from 'node:assert/strict';
import { createGoogleClient } from '../../../src/llm/google/client.ts';
import { type GoogleWireContent, toGoogleWire } from '../../../src/llm/google/wire.ts';
import type { Message } from '../../../src/protocol/content/messages.ts';
import { googleKey } from '../../support/google.ts';
import {
  describeRecorded,
  expectError,
  expectNoAnswer,
  framingsOf,
  hearAll,
  isStream,
  type RecordedCase,
  replyOf,
  requestOf,
  textOf,
  withoutOwnIds,
} from '../recordedCases.ts';
import { type Heard, hear, served } from '../serve.ts';

type Case = RecordedCase<{
  text: string;
  thinking: string;
  toolCalls: { id: string | null; name: string; arguments: object; signature?: string }[];
  finishReason: string | null;
  usage: Record<string, number | null> | null;
  model: string | null;
  error: { message: string } | null;
}>;

const client = createGoogleClient({ apiKey: googleKey });
const request = { model: 'gemini', messages: [] };

describeRecorded('recorded replies of Gemini', 'gemini', (cases: Case[]) => {
  for (const recorded of cases) {
    it(`${recorded.mode} ${recorded.file}`, async () => {
      for (const heard of await hearAll(replyOf(recorded), client, request)) {
        const { expectedError } = recorded;
        // A full window has a code of its own here.
        const full = /exceeds the maximum number of tokens/.test(expectedError?.message ?? '');
        if (expectedError) expectError(heard, expectedError, full ? 'LLM_CONTEXT_OVERFLOW' : undefined);
        else expectReply(heard, recorded);
      }
    });
  }

  it('signatures are kept with the parts they came with', async () => {
    let signed = 0;
    for (const recorded of cases.filter(({ expected }) => expected.toolCalls?.some(({ signature }) => signature))) {
      const { native } = await served(replyOf(recorded), 'random', () => client.chat(request));
      const parts = (native?.content as { parts: Record<string, unknown>[] }).parts;
      assert.deepEqual(
        parts
          .filter(({ functionCall }) => functionCall)
          .map(({ functionCall, thoughtSignature }) => ({
            arguments: (functionCall as { args: object }).args,
            signature: thoughtSignature,
          })),
        recorded.expected.toolCalls.map((call) => ({ arguments: call.arguments, signature: call.signature })),
        recorded.file,
      );
      signed++;
    }
    assert.ok(signed > 10);
  });

  it('recorded conversations of the model are said again as they were', () => {
    let compared = 0;
    for (const { file, requestFile } of cases) {
      const { contents } = (requestOf(requestFile) ?? {}) as { contents?: GoogleWireContent[] };
      if (!contents) continue;
      const messages = toMessages(contents);
      if (!messages || !contents.some(({ role }) => role === 'model')) continue;
      const again = toGoogleWire({ model: 'gemini', messages }).contents as GoogleWireContent[];
      assert.deepEqual(joined(again), joined(contents), file);
      compared++;
    }
    assert.ok(compared >= 5, `${compared}`);
  });

  for (const { file } of cases.filter((one) => isStream(one) && one.expected.finishReason)) {
    it(`says the same however it is framed: ${file}`, async () => {
      const unix = textOf(file);
      const plain = withoutOwnIds(await say(unix));
      for (const [name, body] of Object.entries(framingsOf(unix))) {
        assert.deepEqual(withoutOwnIds(await say(body)), plain, name);
      }
    });

    it(`runs nothing when it is harmed: ${file}`, async () => {
      const unix = textOf(file).trimEnd();
      const events = unix.split('\n\n');
      const end = events.findIndex((event) => /"finishReason"|"blockReason"/.test(event));
      const harmed = events.slice(0, end).map((_, at) => `${events.slice(0, at + 1).join('\n\n')}\n\n`);
      const last = events[end]!;
      harmed.push(`${[...events.slice(0, end), last.slice(0, last.length / 2)].join('\n\n')}`);
      harmed.push('<html><body>Bad gateway</body></html>', '');
      harmed.push(
        `${unix}\n\ndata: {"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}\n\n`,
      );
      for (const body of harmed) expectNoAnswer(await say(body), body.slice(-300));
    });
  }
});

/** Contents as this project keeps them; undefined where they hold what it never sends. */
function toMessages(contents: GoogleWireContent[]): Message[] | undefined {
  const messages: Message[] = [];
  for (const { role, parts } of contents) {
    const known = ['text', 'functionCall', 'functionResponse', 'thoughtSignature', 'thought'];
    if (!parts.every((part) => Object.keys(part).every((key) => known.includes(key)))) return undefined;
    const text = parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join('');
    if (role === 'model') {
      const calls = parts.flatMap(({ functionCall }) => (functionCall ? [functionCall as Called] : []));
      const toolCalls = calls.map(({ name, args = {} }, at) => ({
        id: `${messages.length}-${at}`,
        name,
        arguments: args,
      }));
      messages.push({
        role: 'assistant',
        content: text,
        toolCalls,
        native: { provider: 'google', content: { parts } },
      });
    } else if (parts.some(({ functionResponse }) => functionResponse)) {
      const answers = parts.map(({ functionResponse }) => JSON.stringify((functionResponse as Answered).response));
      const toolResults = answers.map((content, at) => ({ toolCallId: `${messages.length - 1}-${at}`, content }));
      messages.push({ role: 'tool', content: '', toolResults });
    } else messages.push({ role: 'user', content: text });
  }
  return messages;
}

type Called = { name: string; args?: Record<string, unknown> };
type Answered = { response: object };

/** Texts of a person in several parts are one here. */
const joined = (contents: GoogleWireContent[]) =>
  contents.map(({ role, parts }) =>
    role === 'user' && parts.every(({ text }) => text !== undefined)
      ? { role, text: parts.map(({ text }) => text).join('') }
      : { role, parts },
  );

const say = (body: string) =>
  served({ headers: { 'content-type': 'text/event-stream' }, body }, 'random', () => hear(client.chatStream(request)));

function expectReply(heard: Heard, { expected, policy = [] }: Case): void {
  assert.equal(heard.text, expected.text);
  assert.equal(heard.thinking, expected.thinking);
  if (expected.error) {
    assert.ok(heard.error?.message.includes(expected.error.message), heard.error?.message);
    assert.deepEqual(heard.calls, []);
    return;
  }
  if (policy.includes('finish-missing')) {
    assert.ok(heard.error && ['LLM_INCOMPLETE', 'LLM_BAD_RESPONSE'].includes(heard.error.code));
    return;
  }
  assert.equal(heard.error, undefined, JSON.stringify(heard.error));
  assert.deepEqual(
    heard.calls.map(({ name, arguments: given, malformed }) => ({ name, given, malformed })),
    expected.toolCalls.map((call) => ({ name: call.name, given: call.arguments, malformed: undefined })),
  );
  for (const [at, { id }] of expected.toolCalls.entries()) if (id) assert.equal(heard.calls[at]?.id, id);
  if (policy.includes('unknown-finish-reason')) {
    assert.equal(heard.finish, heard.text === '' ? 'content_filter' : 'error'); // Vertex's MODEL_ARMOR is a filter
  } else assert.equal(heard.finish, expected.finishReason);
  if (expected.usage) {
    const { reasoningTokens, completionTokens, ...usage } = expected.usage;
    const thinking = reasoningTokens === undefined ? {} : { thinkingTokens: reasoningTokens };
    assert.deepEqual(heard.usage, { ...usage, completionTokens: completionTokens ?? 0, ...thinking });
  } else assert.equal(heard.usage, undefined);
  if (expected.model) assert.equal(heard.model, expected.model);
}
