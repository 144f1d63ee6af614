import assert from 'node:assert/strict';
import { createAdapter } from '../../../src/llm/adapter/adapter.ts';
import { createAnthropicClient } from '../../../src/llm/anthropic/client.ts';
import { toAnthropicWireRequest } from '../../../src/llm/anthropic/wire.ts';
import type { ChatRequest } from '../../../src/llm/core/client.ts';
import type { Message } from '../../../src/protocol/content/messages.ts';
import {
  describeRecorded,
  expectError,
  framingsOf,
  hearAll,
  isStream,
  type RecordedCase,
  replyOf,
  requestOf,
  textOf,
} from '../recordedCases.ts';
import { type Heard, hear, served } from '../serve.ts';

type Case = RecordedCase<{
  text?: string;
  thinking?: string;
  toolCalls?: { id: string; name: string; arguments: object | null; argumentsValid?: boolean }[];
  finishReason?: string | null;
  usage?: Record<string, number>;
  model?: string;
  thinkingSignatures?: string[];
  error?: { message?: string } | null;
  codeOneOf?: string[];
}>;

const client = createAnthropicClient({ apiKey: 'sk-ant-CANARYKEY1234567890' });
const request: ChatRequest = { model: 'claude', messages: [] };
const say = (body: string | Uint8Array, headers: Record<string, string> = { 'content-type': 'text/event-stream' }) =>
  served({ headers, body }, 'random', () => hear(client.chatStream(request)));

describeRecorded('recorded replies of Anthropic', 'anthropic', (cases: Case[]) => {
  for (const recorded of cases) {
    it(`${recorded.mode} ${recorded.file}`, async () => {
      const reply = replyOf(recorded);
      for (const heard of await hearAll(reply, client, request)) {
        const { expectedError } = recorded;
        // A full window has a code of its own here.
        const code = expectedError?.reason === 'context_length_exceeded' ? 'LLM_CONTEXT_OVERFLOW' : undefined;
        if (expectedError) expectError(heard, expectedError, code);
        else expectReply(heard, recorded);
      }
      const { thinkingSignatures } = recorded.expected;
      if (recorded.mode === 'error' || thinkingSignatures === undefined) return;
      const { native } = await served(reply, 'random', () => client.chat(request));
      const blocks = (native?.content ?? []) as { signature?: string }[];
      const signed = blocks.flatMap(({ signature }) => signature ?? []);
      if (native) assert.deepEqual(signed, thinkingSignatures);
    });
  }

  for (const { file } of cases.filter(isStream)) {
    it(`says the same however it is framed: ${file}`, async () => {
      const unix = textOf(file);
      const plain = await say(unix);
      for (const [name, body] of Object.entries(framingsOf(unix))) assert.deepEqual(await say(body), plain, name);
    });

    it(`is an error when harmed, and nothing of it is run: ${file}`, async () => {
      const text = textOf(file).trimEnd();
      const all = text.split('\n\n');
      const finish = all.findIndex((event) => /"stop_reason": ?"/.test(event) && !event.includes('message_start'));
      assert.ok(finish > 0);
      const whole = await say(text);
      const places = finish <= 60 ? all.keys() : [0, 1, 2, 10, finish - 2, finish - 1, finish];
      const adapter = createAdapter(client, { retries: 0 });
      const harm = async (body: string, what: string) => {
        const headers = { 'content-type': 'text/event-stream' };
        const run = () => adapter.complete(request, { signal: new AbortController().signal });
        const result = await served({ headers, body }, 'whole', run);
        assert.equal(result.success, false, what);
        assert.ok(result.message === undefined || result.message.incomplete, what); // of such a message nothing is run
        const given = result.message?.toolCalls ?? [];
        assert.deepEqual(given, whole.calls.slice(0, given.length), what);
        assert.ok(given.length < whole.calls.length || given.length === 0, what);
      };
      for (const place of places) {
        if (place > finish) break;
        if (place > 0) await harm(`${all.slice(0, place).join('\n\n')}\n\n`, `cut before event ${place}`);
        const event = all[place]!;
        const half = event.slice(0, event.indexOf('data:') + 5 + Math.floor((event.length - 12) / 2));
        await harm([...all.slice(0, place), half].join('\n\n'), `cut inside event ${place}`);
      }
      const before = `${all.slice(0, finish).join('\n\n')}\n\n`;
      await harm(
        `${before}event: error\ndata: {"type":"error","error":{"type":"api_error","message":"x"}}\n\n`,
        'error',
      );
      await harm('<html><body>Sign in</body></html>', 'HTML');
      await harm('', 'empty');
    });
  }

  /** Histories that were really accepted, as ours: made into messages and back they must be the same. */
  for (const { requestFile } of cases) {
    const wire = readWire(requestOf(requestFile) as Wire | undefined);
    const messages = wire && toMessages(wire);
    if (!messages) continue;
    it(`the same history goes out: ${requestFile}`, () => {
      const sent = toAnthropicWireRequest({ model: wire.model, messages }, { omit: ['cache_control'] });
      assert.deepEqual(sent.messages, inBlocks(wire.messages));
    });
  }
});

function expectReply(heard: Heard, { expected, policy = [] }: Case): void {
  if (expected.error) {
    assert.ok(heard.error && expected.codeOneOf?.includes(heard.error.code), JSON.stringify(heard));
    assert.ok(heard.error.message.includes(expected.error.message ?? ''));
    assert.equal(heard.error.retryable, true);
    assert.deepEqual(heard.calls, []);
    return;
  }
  assert.equal(heard.error, undefined, JSON.stringify(heard.error));
  assert.equal(heard.text, expected.text ?? '');
  assert.equal(heard.thinking, expected.thinking ?? '');
  // A call at which the answer was cut off is not given at all.
  const calls = expected.finishReason === 'length' ? [] : (expected.toolCalls ?? []);
  assert.ok(expected.finishReason !== 'length' || policy.length > 0 || !expected.toolCalls?.length);
  assert.deepEqual(
    heard.calls,
    calls.map(({ id, name, arguments: given }) => ({ id, name, arguments: given })),
  );
  assert.equal(heard.finish, expected.finishReason);
  if (expected.usage) {
    const { thinkingTokens: _, ...usage } = heard.usage ?? {};
    assert.deepEqual(usage, expected.usage);
  }
  assert.equal(heard.model, expected.model);
}

interface Wire {
  model: string;
  messages: { role: 'user' | 'assistant'; content: string | WireBlock[] }[];
}
type WireBlock = { type: string; [field: string]: unknown };

function readWire(wire: Wire | undefined): Wire | undefined {
  const known = Array.isArray(wire?.messages) && wire.messages.every(({ role }) => role !== undefined);
  return known ? wire : undefined;
}

function inBlocks(messages: Wire['messages']) {
  return messages.map(({ role, content }) => {
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    return { role, content: blocks.map(plainBlock) };
  });
}

function plainBlock({ cache_control: _, citations: __, is_error, ...rest }: WireBlock): WireBlock {
  const block: WireBlock = { ...rest, type: rest.type as string };
  if (is_error === true) block.is_error = true;
  if (block.type === 'tool_result' && Array.isArray(block.content)) block.content = block.content[0].text;
  return block;
}

/** Undefined for histories with blocks that we never send. */
function toMessages({ messages }: Wire): Message[] | undefined {
  const all: Message[] = [];
  for (const { role, content } of inBlocks(messages)) {
    const known = content.every(({ type }) => ['text', 'tool_use', 'tool_result', 'thinking'].includes(type));
    if (!known) return undefined;
    const texts = content.flatMap((block) => (block.type === 'text' ? [String(block.text)] : []));
    if (role === 'user') {
      const toolResults = content.flatMap((block) =>
        block.type === 'tool_result' ? [{ toolCallId: String(block.tool_use_id), content: String(block.content) }] : [],
      );
      if (toolResults.length > 0) all.push({ role: 'tool', content: '', toolResults });
      all.push(...texts.map((text): Message => ({ role: 'user', content: text })));
    } else {
      const toolCalls = content.flatMap((block) =>
        block.type === 'tool_use'
          ? [{ id: String(block.id), name: String(block.name), arguments: block.input as Record<string, unknown> }]
          : [],
      );
      all.push({ role, content: texts.join(''), ...(toolCalls.length > 0 && { toolCalls }) });
    }
  }
  return all;
}
