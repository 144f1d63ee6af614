import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type AdapterResult, createAdapter } from '../../src/llm/adapter/adapter.ts';
import { tries } from '../support/tries.ts';
import { clientFor, greeting, type Slicing, served, slicings } from './serve.ts';

const client = clientFor('https://models.example/v1');
const headers = { 'content-type': 'text/event-stream' };
const event = (data: unknown) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const delta = (one: object, finish_reason: string | null = null) =>
  event({ choices: [{ index: 0, delta: one, finish_reason }] });
const fragment = (text: string, more: object = {}) =>
  delta({ tool_calls: [{ index: 0, ...more, function: { name: 'fs_write', arguments: text } }] });
const end = (reason = 'stop') => `${delta({}, reason)}${event('[DONE]')}`;
const hello = delta({ content: 'Hello' });

/** A body as the adapter's result. */
const hear = (body: string | Uint8Array, slicing: Slicing = 'random') =>
  served({ headers, body }, slicing, () =>
    createAdapter(client, { retries: 0 }).complete(greeting, { signal: new AbortController().signal }),
  );

function told({ message, finishReason, error }: AdapterResult) {
  const calls = message?.toolCalls?.map(({ name, arguments: args, malformed }) => malformed ?? { [name]: args });
  return {
    text: message?.content ?? '',
    ...(calls && { calls }),
    ...(error ? { code: error.code } : { finish: finishReason }),
  };
}

const long = JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' }] });
const wide = Array.from({ length: 500_000 }, (_, at) => `"k${at}":1`).join(',');
const polluting = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"content":"Hello"}';

const contents: [id: string, says: string, body: string | Uint8Array, gives: object][] = [
  ['S01', 'a byte that is no character', Buffer.from(`data: ${long}\n\n${event('[DONE]')}`.replace('ell', '\xff'), 'latin1'), { text: 'H\uFFFDo', finish: 'stop' }],
  ['S03', 'CR LF', `${hello}${end()}`.replaceAll('\n', '\r\n'), { text: 'Hello', finish: 'stop' }],
  ['S03', 'CR', `${hello}${end()}`.replaceAll('\n', '\r'), { text: 'Hello', finish: 'stop' }],
  ['S03', 'a byte order mark', `\uFEFF${hello}${end()}`, { text: 'Hello', finish: 'stop' }],
  ['S03', 'no space', `${hello}${end()}`.replaceAll('data: ', 'data:'), { text: 'Hello', finish: 'stop' }],
  ['S03', 'an event in two lines', `data: ${long.slice(0, 11)}\ndata: ${long.slice(11)}\n\n${event('[DONE]')}`, { text: 'Hello', finish: 'stop' }],
  ['S08', 'a million levels', event(`${'['.repeat(1_000_000)}`), { text: '', code: 'LLM_BAD_RESPONSE' }],
  ['S08', 'a million levels after text', `${hello}${event(`{"choices":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`)}${end()}`, { text: 'Hello', code: 'LLM_BAD_RESPONSE' }],
  ['S09', '500,000 keys nobody knows', `${event(`{${wide}}`)}${hello}${end()}`, { text: 'Hello', finish: 'stop' }],
  ['S09', '500,000 keys in a delta', `${event(`{"choices":[{"index":0,"delta":{"content":"Hello",${wide}}}]}`)}${end()}`, { text: 'Hello', finish: 'stop' }],
  ['S10', 'keys that reach for the prototype', `${event(`{"choices":[{"index":0,"delta":${polluting}}],"__proto__":{"polluted":1}}`)}${end()}`, { text: 'Hello', finish: 'stop' }],
  ['S10', 'the same in the arguments of a call', `${fragment('{"__proto__":{"polluted":1}}', { id: 'c' })}${end('tool_calls')}`, { text: '', calls: ['{"__proto__":{"polluted":1}}'], finish: 'tool_calls' }],
  ['S11', 'empty choices, no choices, usage alone', `${event({ choices: [] })}${event({ id: 'x' })}${hello}${delta({}, 'stop')}${event({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } })}${event('[DONE]')}`, { text: 'Hello', finish: 'stop' }],
  ['S12', 'cut by length inside a call', `${hello}${fragment('{"path":', { id: 'c' })}${end('length')}`, { text: 'Hello', finish: 'length' }],
  ['S12', 'cut by length after a whole call', `${hello}${fragment('{"path":"a"}', { id: 'c' })}${end('length')}`, { text: 'Hello', finish: 'length' }],
  ['S12', 'a whole call and "stop"', `${fragment('{"path":"a"}', { id: 'c' })}${end('stop')}`, { text: '', calls: [{ 'fs.write': { path: 'a' } }], finish: 'tool_calls' }],
  ['S12', 'half a call and "tool_calls": a call that says so', `${fragment('{"path":', { id: 'c' })}${end('tool_calls')}`, { text: '', calls: ['{"path":'], finish: 'tool_calls' }],
  ['S13', 'filtered after text', `${hello}${end('content_filter')}`, { text: 'Hello', code: 'LLM_CONTENT_FILTERED' }],
  ['S13', 'filtered in a call', `${fragment('{"path":"a"}', { id: 'c' })}${end('content_filter')}`, { text: '', code: 'LLM_CONTENT_FILTERED' }],
  ['S15', 'each fragment of a call twice', `${fragment('{"path":', { id: 'c' }).repeat(2)}${fragment('"a"}').repeat(2)}${end('tool_calls')}`, { text: '', calls: ['{"path":{"path":"a"}"a"}'], finish: 'tool_calls' }],
  ['S15', 'a whole call twice', `${fragment('{"path":"a"}', { id: 'c' }).repeat(2)}${end('tool_calls')}`, { text: '', calls: ['{"path":"a"}{"path":"a"}'], finish: 'tool_calls' }],
]; // biome-ignore format: a table

describe('strange content', () => {
  for (const [id, says, body, gives] of contents) {
    it(`${id} ${says}`, async () => {
      assert.deepEqual(told(await hear(body)), gives);
      assert.equal(({} as { polluted?: number }).polluted, undefined);
    });
  }

  it('S02 characters of four bytes, however they are cut', async () => {
    const body = `${delta({ content: '日本語🙂' })}${end()}`;
    for (const slicing of slicings) assert.equal((await hear(body, slicing)).message?.content, '日本語🙂', slicing);
  });

  it('S14 thinking, text and calls in turns keep their order', async () => {
    const order: string[] = [];
    const body = [
      delta({ reasoning_content: 'a' }),
      delta({ content: 'b' }),
      fragment('{"path":"c"}', { id: 'c' }),
      delta({ reasoning_content: 'd' }),
      delta({ content: 'e' }),
    ];
    const onChunk = (chunk: { thinking?: string; content?: string; toolCallDelta?: unknown }) => {
      order.push(chunk.thinking ?? chunk.content ?? (chunk.toolCallDelta ? 'call' : ''));
    };
    const { signal } = new AbortController();
    await served({ headers, body: body.join('') + end('tool_calls') }, 'lines', () =>
      createAdapter(client).complete(greeting, { signal, onChunk }),
    );
    const heard = order.filter((one, at) => one !== '' && one !== order[at - 1]);
    assert.deepEqual(heard, ['a', 'b', 'call', 'd', 'e']);
  });

  const wrong = fc.constantFrom<unknown>(null, 7, -1, 1.5, '', 'x', true, [], [[]], {}, { a: 1 }, ['x'], 4e9);
  const places = [
    'id', 'model', 'object', 'created', 'usage', 'error', 'choices', 'index', 'delta', 'finish_reason', 'role', 'content',
    'reasoning_content', 'reasoning', 'refusal', 'tool_calls', 'call', 'call.index', 'call.id', 'call.type', 'function',
    'function.name', 'function.arguments',
  ] as const; // biome-ignore format: a list

  /** A good event in which some places hold something of a wrong type. */
  function broken(values: Partial<Record<(typeof places)[number], unknown>>): object {
    const put = (place: (typeof places)[number], good: unknown) => (place in values ? values[place] : good);
    const made = { name: put('function.name', 'fs_read'), arguments: put('function.arguments', '{}') };
    const call = { index: put('call.index', 0), id: put('call.id', 'c'), type: put('call.type', 'function'), function: put('function', made) };
    const said = {
      role: put('role', 'assistant'), content: put('content', 'Hi'), refusal: put('refusal', null),
      reasoning_content: put('reasoning_content', ''), reasoning: put('reasoning', ''),
      tool_calls: put('tool_calls', [put('call', call)]),
    };
    const choice = { index: put('index', 0), delta: put('delta', said), finish_reason: put('finish_reason', null) };
    return {
      id: put('id', 'x'), model: put('model', 'm'), object: put('object', 'chat.completion.chunk'), created: put('created', 1),
      choices: put('choices', [choice]), usage: put('usage', null), ...('error' in values && { error: values.error }),
    };
  } // biome-ignore format: as it nests

  const ends = (result: AdapterResult) => {
    assert.ok(result.success || (result.error?.code ?? '').startsWith('LLM_'), JSON.stringify(result));
    if (result.success) assert.equal(typeof result.message?.content, 'string');
    assert.equal(typeof (result.model ?? ''), 'string');
    for (const count of Object.values(result.usage ?? {})) assert.ok(Number.isFinite(count), JSON.stringify(result));
    for (const call of result.message?.toolCalls ?? []) {
      assert.deepEqual([typeof call.id, typeof call.name, typeof call.arguments], ['string', 'string', 'object']);
    }
  };

  for (const place of places) {
    it(`S16 ${place} of a wrong type: dropped or refused, and the answer ends`, async () => {
      for (const value of [null, 7, '', 'x', true, [], {}, ['x'], { a: 1 }, 4e9]) {
        ends(await hear(`${event(broken({ [place]: value }))}${end()}`, 'whole'));
      }
    });
  }

  it('S16 property: wrong types in many places at once', async () => {
    const values = fc.dictionary(fc.constantFrom(...places), wrong, { maxKeys: 6 });
    const property = fc.asyncProperty(fc.array(values, { minLength: 1, maxLength: 4 }), async (events) => {
      ends(await hear(`${events.map((one) => event(broken(one))).join('')}${end()}`, 'whole'));
    });
    await fc.assert(property, { numRuns: tries(200, 1000) });
  });

  it('S16 a whole answer of wrong types', async () => {
    const property = fc.asyncProperty(
      fc.dictionary(fc.constantFrom(...places), wrong, { maxKeys: 4 }),
      async (values) => {
        const { choices } = broken(values) as { choices: unknown };
        const whole = JSON.stringify({ choices }).replaceAll('"delta"', '"message"');
        const { signal } = new AbortController();
        const body = { headers: { 'content-type': 'application/json' }, body: whole };
        ends(await served(body, 'whole', () => createAdapter(client, { retries: 0 }).complete(greeting, { signal })));
      },
    );
    await fc.assert(property, { numRuns: tries(200, 1000) });
  });
});
