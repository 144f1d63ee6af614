import assert from 'node:assert/strict';
import { createAdapter } from '../../../../src/llm/adapter/adapter.ts';
import type { ChatRequest } from '../../../../src/llm/core/client.ts';
import { toOpenAIResponsesWireRequest } from '../../../../src/llm/openai/responses/wire.ts';
import type { AssistantMessage, Message } from '../../../../src/protocol/content/messages.ts';
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
} from '../../recordedCases.ts';
import { clientFor, type Heard, hear, served } from '../../serve.ts';

type Case = RecordedCase<{
  text?: string;
  thinking?: string;
  toolCalls?: { id: string; name: string; arguments: object | null }[];
  finishReason?: string | null;
  usage?: Record<string, number> | null;
  model?: string;
  error?: { message?: string } | null;
}>;

const client = clientFor('https://models.example/v1', { api: 'responses', apiKey: 'sk-CANARYKEY1234567890' });
const request: ChatRequest = { model: 'model', messages: [] };
const headers = { 'content-type': 'text/event-stream' };
const say = (body: string) => served({ headers, body }, 'random', () => hear(client.chatStream(request)));
const ends = /"type": ?"response\.(completed|incomplete|failed)"/;

describeRecorded('recorded replies of Responses APIs', 'openai-responses', (cases: Case[]) => {
  for (const recorded of cases) {
    it(`${recorded.mode} ${recorded.file}`, async () => {
      const reply = replyOf(recorded);
      for (const heard of await hearAll(reply, client, request)) {
        if (recorded.expectedError) expectError(heard, recorded.expectedError);
        else expectReply(heard, recorded);
      }
      if (!recorded.exercises.includes('encrypted-reasoning')) return;
      const { native } = await served(reply, 'random', () => client.chat(request));
      const sent = [...textOf(recorded.file).matchAll(/"encrypted_content": ?"([^"]+)"/g)].map(([, text]) => text);
      const kept = encryptedIn(native?.content); // OpenAI encrypts it anew in every event: any of them will do
      assert.ok(kept.length > 0 && kept.every((text) => sent.includes(text as string)));
    });
  }

  for (const { file } of cases.filter(isStream)) {
    it(`says the same however it is framed: ${file}`, async () => {
      const unix = textOf(file);
      const plain = await say(unix);
      for (const [name, body] of Object.entries(framingsOf(unix))) assert.deepEqual(await say(body), plain, name);
      assert.deepEqual(await say(unix.replace(/^data: ?\[DONE\]\n*/m, '')), plain, 'no end mark');
    });

    it(`is an error when harmed, and nothing of it is run: ${file}`, async () => {
      const text = textOf(file).trimEnd();
      const all = text.split('\n\n');
      const end = all.findIndex((event) => ends.test(event));
      assert.ok(end > 0);
      const whole = await say(text);
      const adapter = createAdapter(client, { retries: 0 });
      const harm = async (body: string, what: string) => {
        const run = () => adapter.complete(request, { signal: new AbortController().signal });
        const result = await served({ headers, body }, 'whole', run);
        assert.equal(result.success, false, what);
        assert.ok(result.message === undefined || result.message.incomplete, what); // of such a message nothing is run
        const given = result.message?.toolCalls ?? [];
        assert.deepEqual(given, whole.calls.slice(0, given.length), what);
        assert.ok(given.length < whole.calls.length || given.length === 0, what);
      };
      for (const place of all.slice(0, end + 1).keys()) {
        if (place > 0) await harm(`${all.slice(0, place).join('\n\n')}\n\n`, `cut before event ${place}`);
        const event = all[place]!;
        const half = event.slice(0, event.indexOf('data:') + 5 + Math.floor((event.length - 12) / 2));
        await harm([...all.slice(0, place), half].join('\n\n'), `cut inside event ${place}`);
      }
      const before = `${all.slice(0, end).join('\n\n')}\n\n`;
      await harm(`${before}event: error\ndata: {"type":"error","code":"server_error","message":"x"}\n\n`, 'error');
      await harm(`${before}data: {"error":{"message":"boom","code":500}}\n\n${all[end]}\n\n`, 'error of a gateway');
      await harm('<html><body>Sign in</body></html>', 'HTML');
      await harm('', 'empty');
    });
  }

  /** Histories that were really sent, as ours: made into messages and back they must say the same in the same order. */
  for (const { requestFile } of cases) {
    const wire = requestOf(requestFile) as { model: string; input: unknown } | undefined;
    const messages = Array.isArray(wire?.input) && toMessages(wire.input);
    if (!messages) continue;
    it(`the same history goes out: ${requestFile}`, () => {
      const sent = toOpenAIResponsesWireRequest({ model: 'm', messages }, { provider: 'openai' }).input as Item[];
      assert.deepEqual(sent.map(gist), (wire!.input as Item[]).map(gist));
    });
  }
});

function expectReply(heard: Heard, { expected, exercises, file }: Case): void {
  if (expected.error) {
    assert.ok(heard.error?.message.includes(expected.error.message!.slice(0, 200)), JSON.stringify(heard));
    assert.deepEqual([heard.error?.code, heard.error?.retryable, heard.calls], ['LLM_RATE_LIMITED', false, []]);
    return;
  }
  assert.equal(heard.error, undefined, JSON.stringify(heard.error));
  // One was shortened by hand, and its pieces are no beginning of its whole: what was said stays said.
  if (exercises.includes('text-delta-sum-differs')) assert.ok(heard.text.startsWith(expected.text!.slice(0, 24)));
  else assert.equal(heard.text, expected.text ?? '');
  // Thinking of open models is told itself, where the others have a summary of it.
  assert.equal(heard.thinking, expected.thinking || reasoningText(file));
  assert.deepEqual(
    heard.calls,
    (expected.toolCalls ?? []).map(({ id, name, arguments: given }) => ({ id, name, arguments: given })),
  );
  assert.equal(heard.finish, expected.finishReason);
  if (expected.usage) {
    const { reasoningTokens, ...usage } = expected.usage;
    const { cacheWriteTokens: _, ...told } = heard.usage!;
    assert.deepEqual(told, { ...usage, ...(reasoningTokens !== undefined && { thinkingTokens: reasoningTokens }) });
  }
  assert.equal(heard.model, expected.model);
}

function reasoningText(file: string): string {
  const deltas = textOf(file).matchAll(/^data: (.*"response\.reasoning_text\.delta".*)$/gm);
  return [...deltas].map(([, event]) => JSON.parse(event!).delta).join('');
}

function encryptedIn(content: unknown): unknown[] {
  const items = (content ?? []) as { item?: { encrypted_content?: unknown } }[];
  return items.flatMap(({ item }) => item?.encrypted_content ?? []);
}

type Item = { type?: string; role?: string; [field: string]: unknown };

/** An item in short, whichever of its forms it has. */
function gist({ type = 'message', role, content, call_id, name, output, encrypted_content, ...rest }: Item): unknown[] {
  if (type === 'message') return [role, said(content)];
  if (type === 'reasoning') return [type, encrypted_content];
  if (type === 'function_call') return [type, call_id, name, JSON.parse(String(rest.arguments))];
  return [type, call_id, output];
}

function said(content: unknown): string {
  return typeof content === 'string' ? content : (content as { text: string }[]).map(({ text }) => text).join('');
}

/** Undefined for histories with items that we never send. */
function toMessages(input: Item[]): Message[] | undefined {
  const messages: Message[] = [];
  const open = () => {
    const last = messages.at(-1);
    if (last?.role === 'assistant') return last;
    const native = { provider: 'openai-responses', content: [] as object[] };
    const begun: AssistantMessage = { role: 'assistant', content: '', toolCalls: [], native };
    messages.push(begun);
    return begun;
  };
  for (const item of input) {
    const { type = 'message', role, content } = item;
    if (type === 'message' && role === 'user') {
      if (typeof content !== 'string' && !(content as Item[]).every((part) => part.type === 'input_text'))
        return undefined;
      messages.push({ role, content: said(content) });
    } else if (type === 'function_call_output' && typeof item.output === 'string') {
      messages.push({
        role: 'tool',
        content: '',
        toolResults: [{ toolCallId: String(item.call_id), content: item.output }],
      });
    } else if (type === 'reasoning' || type === 'function_call' || (type === 'message' && role === 'assistant')) {
      const message = open();
      const kept = message.native!.content as object[];
      if (type === 'reasoning') kept.push({ type, item });
      else if (type === 'function_call') {
        kept.push({ type });
        const given = JSON.parse(String(item.arguments)) as Record<string, unknown>;
        message.toolCalls!.push({ id: String(item.call_id), name: String(item.name), arguments: given });
      } else {
        message.content += said(content);
        kept.push({ type, length: said(content).length });
      }
    } else return undefined;
  }
  return messages;
}
