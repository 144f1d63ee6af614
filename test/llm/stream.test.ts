import assert from 'node:assert/strict';
import fc from 'fast-check';
import { LLMError } from '../../src/llm/core/errors.ts';
import { reply } from '../support/provider.ts';
import { tries } from '../support/tries.ts';
import { anywhere, clientFor, cutAt, greeting, type Heard, hear, served, slicings, toStream } from './serve.ts';

const headers = { 'content-type': 'text/event-stream' };
const encode = (text: string) => new TextEncoder().encode(text);
const hearBody = (body: string | Uint8Array, client = anywhere) =>
  served({ headers, body }, 'random', () => hear(client.chatStream(greeting)));

const hello = '{"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}';
const [head, tail] = [hello.slice(0, 11), hello.slice(11)];

describe('server-sent events', () => {
  const forms: Record<string, string> = {
    LF: `data: ${hello}\n\ndata: [DONE]\n\n`,
    'CR LF': `data: ${hello}\r\n\r\ndata: [DONE]\r\n\r\n`,
    CR: `data: ${hello}\r\rdata: [DONE]\r\r`,
    BOM: `\uFEFFdata: ${hello}\n\ndata: [DONE]\n\n`,
    'no space': `data:${hello}\n\ndata:[DONE]\n\n`,
    'one event in two lines': `data: ${head}\ndata: ${tail}\n\ndata: [DONE]\n\n`,
    'comments and other fields': `: hi\n\nevent: x\nid: 7\nretry: 9\nwhat\ndata: ${hello}\n\n: ho\n\ndata: [DONE]\n\n`,
    'empty data': `data:\n\ndata: ${hello}\n\ndata\n\ndata: [DONE]\n\n`,
    'no last blank line': `data: ${hello}\n\ndata: [DONE]`,
    'finish_reason, no mark, no last blank line': `data: ${hello}\n`,
    'more after the mark': `data: ${hello}\n\ndata: [DONE]\n\ndata: {"choices":[{"delta":{"content":"!"}}]}\n\n`,
  };
  for (const [form, body] of Object.entries(forms)) {
    it(form, async () => {
      for (const slicing of slicings) {
        const heard = await served({ headers, body }, slicing, () => hear(anywhere.chatStream(greeting)));
        assert.deepEqual([heard.text, heard.finish, heard.error], ['Hello', 'stop', undefined], slicing);
      }
    });
  }

  it('characters of four bytes arrive whole, a byte at a time', async () => {
    const body = reply.text('日本語🙂', 1).bytes();
    const heard = await served({ headers, body }, 'bytes', () => hear(anywhere.chatStream(greeting)));
    assert.equal(heard.text, '日本語🙂');
  });

  it('bytes that are no character show as one, and the rest goes on', async () => {
    const [before, after] = hello.split('Hello') as [string, string];
    const body = Buffer.concat([
      encode(`data: ${before}He`),
      Buffer.from([0xff]),
      encode(`llo${after}\n\ndata: [DONE]\n\n`),
    ]);
    assert.equal((await hearBody(body)).text, 'He\uFFFDllo');
  });

  const cuts: Record<string, string> = {
    'after an event': `data: ${hello.replace('"stop"', 'null')}\n\n`,
    'inside an event': `data: ${hello.replace('"stop"', 'null')}\n\ndata: ${head}`,
    'inside the mark': `data: ${hello.replace('"stop"', 'null')}\n\ndata: [DO`,
    'after a comment': ': thinking\n\n',
  };
  for (const [where, body] of Object.entries(cuts)) {
    it(`cut ${where}: incomplete`, async () => {
      const { error, text } = await hearBody(body);
      assert.deepEqual(
        [error?.code, error?.retryable, text],
        ['LLM_INCOMPLETE', true, body.includes('Hello') ? 'Hello' : ''],
      );
    });
  }

  const strange: [what: string, type: string, body: string, says: RegExp][] = [
    [
      'a captive portal',
      'text/html',
      '<html><head><title>x</title></head><body>Please\n<b>log in</b></body>',
      /: Please log in\. Check the address/,
    ],
    [
      'the same under a false name',
      'text/plain',
      ' <!doctype html><p>Please log in</p>',
      /: Please log in\. Check the address/,
    ],
    ['text as a stream', 'text/event-stream', 'Please log in', /: Please log in\. Check the address/],
    ['nothing', 'text/event-stream', '', /empty answer/],
  ];
  for (const [what, type, body, says] of strange) {
    it(`${what} is not an answer`, async () => {
      const portal = { headers: { 'content-type': type }, body };
      const { error } = await served(portal, 'sevens', () => hear(anywhere.chatStream(greeting)));
      assert.equal(error?.code, 'LLM_BAD_RESPONSE');
      assert.match(error?.message ?? '', says);
    });
  }

  it('an event, and a line that never ends, stop at their limit', async () => {
    const small = clientFor('https://models.example/v1', { fetchLimits: { eventBytes: 10_000 } });
    for (const body of [`data: ${'x'.repeat(1_000_000)}`, `data: x\n${'data: x\n'.repeat(100_000)}`]) {
      const { error } = await hearBody(body, small);
      assert.deepEqual([error?.code, error?.retryable], ['LLM_BAD_RESPONSE', false]);
      assert.match(error?.message ?? '', /event of more than 10000 bytes/);
    }
  });

  it('an answer stops at its limit', async () => {
    const small = clientFor('https://models.example/v1', { fetchLimits: { answerBytes: 10_000 } });
    const { error } = await hearBody(reply.text('x'.repeat(10_000)).bytes(), small);
    assert.match(error?.message ?? '', /answer of more than 10000 bytes/);
  });

  it('the wrapping of an honest stream is no part of the answer, up to three times its limit', async () => {
    const limited = clientFor('https://models.example/v1', { fetchLimits: { answerBytes: 100_000 } });
    const id = 'x'.repeat(300);
    const token = `data: {"id":"${id}","choices":[{"delta":{"content":"word"}}]}\n\n`;
    const say = (count: number) =>
      hearBody(new TextEncoder().encode(`${token.repeat(count)}data: [DONE]\n\n`), limited);
    const heard = await say(1000); // 356 KB
    assert.deepEqual([heard.error, heard.text.length], [undefined, 4000]);
    assert.match((await say(1500)).error?.message ?? '', /answer of more than 100000 bytes/);
  });

  it('a reply of 500,000 unknown keys is read in a moment', async () => {
    const keys = Array.from({ length: 500_000 }, (_, at) => `"k${at}":1`).join(',');
    const body = `data: {${keys}}\n\ndata: ${hello}\n\n`;
    const heard = await served({ headers, body }, 'whole', () => hear(anywhere.chatStream(greeting)));
    assert.equal(heard.text, 'Hello');
  });
});

describe('however a stream is cut', () => {
  it('S04 the same is heard', async () => {
    const texts = fc.string({ unit: 'binary', maxLength: 30 });
    const replies = fc.record({
      thinking: texts,
      text: texts,
      path: texts,
      usage: fc.boolean(),
      lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
      bom: fc.boolean(),
    });
    const property = fc.asyncProperty(replies, fc.array(fc.nat(), { maxLength: 40 }), async (said, places) => {
      const wellFormed = (text: string) => text.replace(/\p{Surrogate}/gu, '?');
      const whole = reply
        .thinking(wellFormed(said.thinking), 'reasoning', 3)
        .text(wellFormed(said.text), 2)
        .call('fs_read', { path: said.path }, { id: 'c1', size: 5 })
        .call('fs_write', { path: said.path }, { id: 'c2' })
        .usage(said.usage ? { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } : null);
      const body = encode((said.bom ? '\uFEFF' : '') + whole.bytes().toString('utf8').replaceAll('\n', said.lineEnd));
      const heard = await hearPieces(
        cutAt(
          body,
          places.map((place) => place % body.length),
        ),
      );
      assert.deepEqual(heard, {
        text: wellFormed(said.text),
        thinking: wellFormed(said.thinking),
        calls: [
          { id: 'c1', name: 'fs.read', arguments: { path: said.path } },
          { id: 'c2', name: 'fs.write', arguments: { path: said.path } },
        ],
        finish: 'tool_calls',
        usage: said.usage ? { promptTokens: 1, completionTokens: 2, totalTokens: 3 } : undefined,
        model: 'scripted',
        order: [
          ...(said.thinking ? ['thinking'] : []),
          ...(said.text ? ['text'] : []),
          'call fs.read',
          'call fs.write',
        ],
      });
    });
    await fc.assert(property, { numRuns: tries(200, 1000) });
  });

  it('S05 a soup of bytes ends with a reply or an LLMError', async () => {
    const crumbs = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc
        .constantFrom(
          'data: ',
          '\n',
          '\r',
          '\n\n',
          ':',
          '[DONE]',
          '{',
          '}',
          '[',
          ']',
          '"',
          '{"choices":[',
          '{"delta":{',
          ',',
          '"tool_calls":[{"index":',
          '"function":{"name":"fs_read","arguments":"',
          '"content":',
          '"finish_reason":"stop"',
          '{"error":',
          '{"usage":{',
          'null',
          '1e999',
          '-1',
          '"__proto__":',
          '"index":0',
          '\\u',
          '\uFEFF',
          '🙂',
        )
        .map(encode),
      fc.json().map((json) => encode(`data: ${json}\n\n`)),
      fc.json().map((json) => encode(`data: {"choices":[{"delta":${json}}]}\n\n`)),
      fc
        .json()
        .map((json) => encode(`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":${json}}]}}]}\n\n`)),
    );
    const types = fc.constantFrom('text/event-stream', 'application/json', 'text/plain', '');
    const property = fc.asyncProperty(fc.array(crumbs, { maxLength: 30 }), types, async (pieces, type) => {
      const heard = await hearPieces(pieces, type); // `hear` passes everything on that is not an LLMError
      assert.ok(heard.error !== undefined || heard.finish !== undefined);
    });
    await fc.assert(property, { numRuns: tries(1500, 10_000) });
  });
});

async function hearPieces(pieces: Uint8Array[], type = 'text/event-stream'): Promise<Heard> {
  const fetchBefore = globalThis.fetch;
  globalThis.fetch = async () => new Response(toStream(pieces), { headers: { 'content-type': type } });
  try {
    return await hear(anywhere.chatStream(greeting));
  } catch (error) {
    assert.ok(error instanceof LLMError, String(error));
    throw error;
  } finally {
    globalThis.fetch = fetchBefore;
  }
}
