import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createGoogleClient } from '../../src/llm/google/client.ts';
import { type Content, toGoogleWire } from '../../src/llm/google/wire.ts';
import type { Message } from '../../src/protocol/messages.ts';
import { googleKey } from '../support/google.ts';
import { type Heard, hear, served, slicings } from './serve.ts';

/** Replies of Gemini lie beside the project, where they are; the project's own cases cover every quirk too. */
const folder = fileURLToPath(new URL('../../../shared/fixtures/wire/', import.meta.url));

interface RecordedCase {
  protocol: string;
  mode: 'stream' | 'json' | 'error' | 'stream-json-array';
  file: string;
  status: number;
  headers: Record<string, string>;
  policy?: string[];
  expected: {
    text: string;
    thinking: string;
    toolCalls: { id: string | null; name: string; arguments: object; signature?: string }[];
    finishReason: string | null;
    usage: Record<string, number | null> | null;
    model: string | null;
    error: { message: string } | null;
  };
  expectedError?: { code: string; status: number; message: string; retryable: boolean; reason?: string };
}

const client = createGoogleClient({ apiKey: googleKey });
const request = { model: 'gemini', messages: [] };

describe('recorded replies of Gemini', () => {
  if (!existsSync(`${folder}index.json`)) {
    it('are absent here; the hand-made cases stand alone', () => assert.ok(!existsSync(`${folder}index.json`)));
    return;
  }
  const index = JSON.parse(readFileSync(`${folder}index.json`, 'utf8')) as RecordedCase[];
  const cases = index.filter(({ protocol }) => protocol === 'gemini');

  for (const recorded of cases) {
    it(`${recorded.mode} ${recorded.file}`, async () => {
      const body = bodyOf(recorded);
      const type = recorded.mode === 'stream' ? 'text/event-stream' : 'application/json';
      const reply = { status: recorded.status, headers: { 'content-type': type, ...recorded.headers }, body };
      for (const slicing of body.length < 100_000 ? slicings : (['whole', 'random'] as const)) {
        const heard = await served(reply, slicing, () => hear(client.chatStream(request)));
        if (recorded.expectedError) expectError(heard, recorded.expectedError);
        else expectReply(heard, recorded);
      }
    });
  }

  it('signatures are kept with the parts they came with', async () => {
    let signed = 0;
    for (const recorded of cases.filter(({ expected }) => expected.toolCalls?.some(({ signature }) => signature))) {
      const body = bodyOf(recorded);
      const headers = { 'content-type': recorded.mode === 'stream' ? 'text/event-stream' : 'application/json' };
      const { native } = await served({ headers, body }, 'random', () => client.chat(request));
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
    for (const { file, requestFile } of cases as (RecordedCase & { requestFile?: string })[]) {
      if (requestFile === undefined) continue;
      const { contents } = JSON.parse(readFileSync(folder + requestFile, 'utf8')) as { contents: Content[] };
      const messages = toMessages(contents);
      if (!messages || !contents.some(({ role }) => role === 'model')) continue;
      const again = toGoogleWire({ model: 'gemini', messages }).contents as Content[];
      assert.deepEqual(joined(again), joined(contents), file);
      compared++;
    }
    assert.ok(compared >= 5, `${compared}`);
  });

  const streams = cases.filter(({ mode, expected }) => mode === 'stream' && expected.finishReason && !expected.error);
  for (const recorded of streams) {
    it(`says the same however it is framed: ${recorded.file}`, async () => {
      const unix = readFileSync(folder + recorded.file, 'utf8').replaceAll('\r\n', '\n');
      const plain = withoutOwnIds(await say(unix));
      const framings: Record<string, string> = {
        'CR LF': unix.replaceAll('\n', '\r\n'),
        CR: unix.replaceAll('\n', '\r'),
        comments: unix.replaceAll('\n\n', '\n\n: keepalive\n\n'),
        BOM: `\uFEFF${unix}`,
        'no space': unix.replaceAll(/^data: /gm, 'data:'),
        'two lines': unix.replaceAll(/^data: \{/gm, 'data: {\ndata: '),
        'no end': unix.trimEnd(),
      };
      for (const [name, body] of Object.entries(framings))
        assert.deepEqual(withoutOwnIds(await say(body)), plain, name);
    });

    it(`runs nothing when it is harmed: ${recorded.file}`, async () => {
      const unix = readFileSync(folder + recorded.file, 'utf8')
        .replaceAll('\r\n', '\n')
        .trimEnd();
      const events = unix.split('\n\n');
      const end = events.findIndex((event) => /"finishReason"|"blockReason"/.test(event));
      const harmed = events.slice(0, end).map((_, at) => `${events.slice(0, at + 1).join('\n\n')}\n\n`);
      const last = events[end]!;
      harmed.push(`${[...events.slice(0, end), last.slice(0, last.length / 2)].join('\n\n')}`);
      harmed.push('<html><body>Bad gateway</body></html>', '');
      harmed.push(
        `${unix}\n\ndata: {"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}\n\n`,
      );
      for (const body of harmed) {
        const { error, calls } = await say(body);
        assert.ok(
          error && ['LLM_INCOMPLETE', 'LLM_BAD_RESPONSE', 'LLM_HTTP_ERROR'].includes(error.code),
          body.slice(-300),
        );
        assert.deepEqual(calls, []);
      }
    });
  }
});

/** Contents as this project keeps them; undefined where they hold what it never sends. */
function toMessages(contents: Content[]): Message[] | undefined {
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
const joined = (contents: Content[]) =>
  contents.map(({ role, parts }) =>
    role === 'user' && parts.every(({ text }) => text !== undefined)
      ? { role, text: parts.map(({ text }) => text).join('') }
      : { role, parts },
  );

/** Three are from a recorder that puts what came over the wire into `bodySegments`. */
function bodyOf({ file }: RecordedCase): Uint8Array {
  const bytes = new Uint8Array(readFileSync(folder + file));
  const text = new TextDecoder().decode(bytes);
  if (!text.startsWith('{"bodySegments"')) return bytes;
  return new TextEncoder().encode(JSON.stringify(JSON.parse(text).bodySegments[0]));
}

const say = (body: string) =>
  served({ headers: { 'content-type': 'text/event-stream' }, body }, 'random', () => hear(client.chatStream(request)));

function expectReply(heard: Heard, { expected, policy = [] }: RecordedCase): void {
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
    assert.equal(heard.finish, heard.text === '' ? 'content_filter' : 'stop'); // Vertex's MODEL_ARMOR is a filter
  } else assert.equal(heard.finish, expected.finishReason);
  if (expected.usage) {
    const { reasoningTokens, completionTokens, ...usage } = expected.usage;
    const thinking = reasoningTokens === undefined ? {} : { thinkingTokens: reasoningTokens };
    assert.deepEqual(heard.usage, { ...usage, completionTokens: completionTokens ?? 0, ...thinking });
  } else assert.equal(heard.usage, undefined);
  if (expected.model) assert.equal(heard.model, expected.model);
}

function expectError({ error }: Heard, expected: NonNullable<RecordedCase['expectedError']>): void {
  const { code, status, message, retryable } = expected;
  // A full window has a code of its own here, finer than the one recorded.
  const ours = /exceeds the maximum number of tokens/.test(message) ? 'LLM_CONTEXT_OVERFLOW' : code;
  assert.deepEqual(
    { code: error?.code, status: error?.status, retryable: error?.retryable },
    { code: ours, status, retryable },
  );
  assert.ok(error?.message.includes(message.slice(0, 400)), error?.message);
}

const withoutOwnIds = ({ calls, ...heard }: Heard) => ({
  ...heard,
  calls: calls.map((call) => ({ ...call, id: /^call_[0-9a-f]{20}$/.test(call.id) ? 'ours' : call.id })),
});
