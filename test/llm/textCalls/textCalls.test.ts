import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  type ChatResponse,
  type ChatStreamChunk,
  type FinishReason,
  type LLMClient,
  ReplyAccumulator,
} from '../../../src/llm/core/client.ts';
import { LLMError } from '../../../src/llm/core/errors.ts';
import { readTextToolCalls, withTextToolCallParsing } from '../../../src/llm/textCalls/textCalls.ts';
import type { ToolCall } from '../../../src/protocol/content/messages.ts';
import { damaged, families, quotes, type RescueCase, tools } from './cases.ts';

const said = (content: string): ChatStreamChunk => ({ content, done: false });
const end = (finishReason: FinishReason = 'stop'): ChatStreamChunk => ({ done: true, finishReason, model: 'm' });

async function* streamOf(chunks: readonly ChatStreamChunk[]) {
  yield* chunks;
}

async function heard(chunks: readonly ChatStreamChunk[], offered = tools): Promise<ReplyAccumulator> {
  const reply = new ReplyAccumulator();
  for await (const chunk of readTextToolCalls(streamOf(chunks), offered)) reply.add(chunk);
  return reply;
}

const whole = (text: string, finish?: FinishReason) => heard([said(text), end(finish)]);

/** A message in pieces that end at these places. */
function pieces(text: string, places: readonly number[]): ChatStreamChunk[] {
  const ends = [...new Set(places.map((place) => place % (text.length + 1)))].sort((one, other) => one - other);
  return [...ends, text.length].map((place, index) => said(text.slice(ends[index - 1] ?? 0, place)));
}

const asTold = ({ name, arguments: given, malformed }: ToolCall) => (malformed === undefined ? [name, given] : name);

function expect(reply: ReplyAccumulator, { content = '', calls }: RescueCase): void {
  assert.deepEqual(reply.toolCalls.map(asTold), calls);
  assert.equal(reply.content, content);
  assert.equal(reply.finishReason, 'tool_calls');
  assert.equal(new Set(reply.toolCalls.map(({ id }) => id)).size, calls.length);
}

function expectText(reply: ReplyAccumulator, text: string): void {
  assert.deepEqual(reply.toolCalls, []);
  assert.equal(reply.content, text);
  assert.equal(reply.finishReason, 'stop');
}

describe('calls that a model wrote as text', () => {
  const all = [...families, ...damaged];
  for (const one of families) it(`are understood: ${one.says}`, async () => expect(await whole(one.text), one));
  for (const one of damaged) it(`are told and not run: ${one.says}`, async () => expect(await whole(one.text), one));
  for (const { says, text } of quotes) it(`are not there: ${says}`, async () => expectText(await whole(text), text));

  it('are the same however the text is cut', async () => {
    const texts = fc.constantFrom(
      ...all,
      ...quotes.map(({ text, says }) => ({ says, text, content: text, calls: [] })),
    );
    await fc.assert(
      fc.asyncProperty(texts, fc.array(fc.nat(), { maxLength: 30 }), async (one, places) => {
        const reply = await heard([...pieces(one.text, places), end()]);
        if (one.calls.length > 0) expect(reply, one);
        else expectText(reply, one.text);
      }),
      { numRuns: 1500 },
    );
    for (const one of all) expect(await heard([...[...one.text].map(said), end()]), one);
    for (const { text } of quotes) expectText(await heard([...[...text].map(said), end()]), text);
  });

  it('never run otherwise than whole: cut after every character', async () => {
    for (const one of families) {
      const complete = one.calls.map((call) => JSON.stringify(call));
      for (let cut = 0; cut < one.text.length; cut++) {
        const reply = await whole(one.text.slice(0, cut));
        const run = reply.toolCalls.filter(({ malformed }) => malformed === undefined);
        const kept = run.map((call) => JSON.stringify([call.name, call.arguments]));
        assert.deepEqual(kept, complete.slice(0, kept.length), `${one.says}, cut at ${cut}`);
      }
    }
  });

  for (const finish of ['length', 'content_filter', 'error'] as const) {
    it(`stay text in a reply that ended by ${finish}`, async () => {
      const { text } = families[0]!;
      const reply = await whole(text, finish);
      assert.deepEqual([reply.content, reply.toolCalls, reply.finishReason], [text, [], finish]);
    });
  }

  it('stay text in a reply with calls of its own, in the order of the reply', async () => {
    const toolCall = { id: '1', name: 'fs.read', arguments: {} };
    const { text } = families[0]!;
    const reply = await heard([said(text), { toolCall, done: false }, said(text), end('tool_calls')]);
    assert.deepEqual([reply.content, reply.toolCalls], [text + text, [toolCall]]);
  });

  it('stay text when no tools were offered', async () => {
    const chunks = [said(families[0]!.text), end()];
    const out: ChatStreamChunk[] = [];
    for await (const chunk of readTextToolCalls(streamOf(chunks), [])) out.push(chunk);
    assert.deepEqual(out, chunks);
  });

  it('stay text when the stream breaks', async () => {
    async function* broken() {
      yield said(`Let me see.\n${families[0]!.text}`);
      throw new LLMError('LLM_INCOMPLETE', 'cut');
    }
    const reply = new ReplyAccumulator();
    await assert.rejects(async () => {
      for await (const chunk of readTextToolCalls(broken(), tools)) reply.add(chunk);
    }, /cut/);
    assert.deepEqual([reply.content, reply.toolCalls], [`Let me see.\n${families[0]!.text}`, []]);
  });

  it('stay text when the stream just ends', async () => {
    const reply = await heard([said(families[0]!.text)]);
    assert.deepEqual([reply.content, reply.toolCalls, reply.finishReason], [families[0]!.text, [], undefined]);
  });

  it('are announced and given before the end, with the rest of the last chunk', async () => {
    const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 };
    const out: ChatStreamChunk[] = [];
    const chunks = [said('<tool_call>{"name": "plan_update"}</tool_call>'), { ...end(), usage }];
    for await (const chunk of readTextToolCalls(streamOf(chunks), tools)) out.push(chunk);
    const id = out[1]!.toolCallDelta!.id!;
    assert.match(id, /^call_[0-9a-f]{20}$/);
    assert.deepEqual(out, [
      { done: false }, // alive, though nothing is shown
      { toolCallDelta: { index: 0, id, name: 'plan.update', argumentsText: '{}' }, done: false },
      { toolCall: { id, name: 'plan.update', arguments: {} }, done: false },
      { done: true, finishReason: 'tool_calls', model: 'm', usage },
    ]);
  });

  it('tell the model the text as it was written', async () => {
    const { toolCalls } = await whole('<tool_call>{"name": "fs_read", "arguments": {"path": "a"</tool_call>');
    assert.equal(toolCalls[0]!.malformed, '<tool_call>{"name": "fs_read", "arguments": {"path": "a"</tool_call>');
    assert.deepEqual(toolCalls[0]!.arguments, {});
  });
});

describe('text while calls are looked for', () => {
  it('passes at once, but for what may be the beginning of a call', async () => {
    const source = [
      'Hello',
      ' <tool',
      '\n',
      '<ht',
      'ml>',
      '\n<tool_call>',
      'what?',
      '\n```',
      'ts\n',
      '{"name"',
      ':',
      '\n```\n',
      '{',
      '"a',
    ];
    const shown: string[] = [];
    for await (const { content = '' } of readTextToolCalls(streamOf([...source.map(said), end()]), tools))
      shown.push(content);
    assert.deepEqual(shown, [
      'Hello',
      ' ',
      '<tool\n',
      '',
      '<html>',
      '\n',
      '<tool_call>what?',
      '\n',
      '',
      '',
      '',
      '```ts\n{"name":\n```\n',
      '',
      '',
      '{"a',
    ]);
  });

  it('thinking and progress pass as they are', async () => {
    const chunks: ChatStreamChunk[] = [
      { progress: { text: 'loading' }, done: false },
      { thinking: `<tool_call>{"name": "plan_update"}</tool_call>`, done: false },
      said('Done.'),
      end(),
    ];
    const out: ChatStreamChunk[] = [];
    for await (const chunk of readTextToolCalls(streamOf(chunks), tools)) out.push(chunk);
    assert.deepEqual(out, chunks);
  });

  it('is never lost or invented, whatever it is', async () => {
    const parts = [...families, ...damaged, ...quotes].flatMap(({ text }) => text.split(/(?<=[\n>{}"`\]])/));
    const soup = fc.array(fc.oneof(fc.constantFrom(...parts), fc.string({ maxLength: 8 })), { maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(soup, fc.array(fc.nat(), { maxLength: 20 }), async (list, places) => {
        const text = list.join('');
        const one = await whole(text);
        const other = await heard([...pieces(text, places), end()]);
        assert.equal(other.content, one.content);
        assert.deepEqual(other.toolCalls.map(asTold), one.toolCalls.map(asTold));
        const unended = (all: string) =>
          all.replace(/\s|<\|im_end\|>|<\/s>|<[|｜]end[▁_]of[▁_]sentence[|｜]>|<\|eom_id\|>/g, '');
        if (one.toolCalls.length === 0) assert.equal(unended(one.content), unended(text));
        assert.ok(one.content.length <= text.length);
      }),
      { numRuns: 1500 },
    );
  });
});

describe('a client with the rescue', () => {
  const { text } = families[0]!;
  const client = withTextToolCallParsing<LLMClient>({
    async *chatStream() {
      yield said(text);
      yield end();
    },
    chat: (): Promise<ChatResponse> => assert.fail('chat is the stream, collected'),
    listModels: async () => [{ id: 'm' }],
  });
  const request = { model: 'm', messages: [], tools };

  it('gives calls in chat too, and is otherwise what it was', async () => {
    const { toolCalls, content, finishReason } = await client.chat(request);
    assert.deepEqual([toolCalls!.map(asTold), content, finishReason], [families[0]!.calls, null, 'tool_calls']);
    assert.deepEqual(await client.listModels?.(), [{ id: 'm' }]);
  });

  it('leaves text alone when tools must not be called', async () => {
    assert.equal((await client.chat({ ...request, toolChoice: 'none' })).content, text);
    assert.equal((await client.chat({ ...request, tools: undefined })).content, text);
  });
});
