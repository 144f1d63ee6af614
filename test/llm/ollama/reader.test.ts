import assert from 'node:assert/strict';
import { createOllamaClient } from '../../../src/llm/ollama/client.ts';
import type { ToolCall } from '../../../src/protocol/content/messages.ts';
import { done, piece } from '../../support/ollama.ts';
import { greeting, type Heard, hear, served, slicings } from '../serve.ts';

/** Each case is a stream as some Ollama really writes it, with the symptom it causes in a careless client. */
interface LineCase {
  says: string;
  lines: (object | string)[];
  hears: Partial<Omit<Heard, 'calls' | 'error'>> & { calls?: (Partial<ToolCall> | [string, object])[]; error?: object };
}

const call = (name: string, args?: unknown, more: object = {}) => ({ ...more, function: { name, arguments: args } });
const calls = (...list: object[]) => piece({ tool_calls: list });

const cases: LineCase[] = [
  {
    says: 'text, then a call at the end, said to be a stop',
    lines: [
      piece({ content: 'Let me ' }),
      piece({ content: 'see 🙂.' }),
      calls(call('fs_read', { path: '日本' })),
      done(),
    ],
    hears: {
      text: 'Let me see 🙂.',
      calls: [['fs.read', { path: '日本' }]],
      finish: 'tool_calls',
      usage: { promptTokens: 12, completionTokens: 5, totalTokens: 17 },
      model: 'scripted',
      order: ['text', 'call fs.read'],
    },
  },
  {
    says: 'thinking before the text',
    lines: [piece({ thinking: 'Hm' }), piece({ thinking: 'm.' }), piece({ content: 'Yes.' }), done()],
    hears: { thinking: 'Hmm.', text: 'Yes.', finish: 'stop', order: ['thinking', 'text'] },
  },
  {
    says: 'parallel calls in one line and in two',
    lines: [
      calls(call('fs_read', { path: 'a' }), call('fs_read', { path: 'a' })),
      calls(call('fs_write', { path: 'b' })),
      done(),
    ],
    hears: {
      calls: [
        ['fs.read', { path: 'a' }],
        ['fs.read', { path: 'a' }],
        ['fs.write', { path: 'b' }],
      ],
      finish: 'tool_calls',
    },
  },
  {
    says: 'calls in the last line itself',
    lines: [done({ message: { role: 'assistant', content: '', tool_calls: [call('fs_read', {})] } })],
    hears: { calls: [['fs.read', {}]], finish: 'tool_calls' },
  },
  {
    says: 'ids of newer servers',
    lines: [calls(call('fs_read', {}, { id: 'call_x' })), done()],
    hears: { calls: [{ id: 'call_x' }] },
  },
  { says: 'a call without arguments', lines: [calls(call('fs_read')), done()], hears: { calls: [['fs.read', {}]] } },
  {
    says: 'arguments as text',
    lines: [calls(call('fs_read', '{"path":"a"}')), done()],
    hears: { calls: [['fs.read', { path: 'a' }]] },
  },
  {
    says: 'malformed arguments',
    lines: [calls(call('fs_read', '{"path":'), call('fs_read', ['a'])), done()],
    hears: {
      calls: [
        { arguments: {}, malformed: '{"path":' },
        { arguments: {}, malformed: '["a"]' },
      ],
      finish: 'tool_calls',
    },
  },
  { says: 'an unknown tool keeps its name', lines: [calls(call('rm', {})), done()], hears: { calls: [['rm', {}]] } },
  {
    says: 'a call that is none',
    lines: [calls({}, { function: 1 }), piece({ content: 'a' }), done()],
    hears: { calls: [], finish: 'stop' },
  },
  {
    says: 'a call in an answer that reached its limit is not given',
    lines: [piece({ content: 'a' }), calls(call('fs_write', { path: 'a' })), done({ done_reason: 'length' })],
    hears: { text: 'a', calls: [], finish: 'length' },
  },
  {
    says: 'an error on any line',
    lines: [
      piece({ content: 'par' }),
      calls(call('fs_read', {})),
      { error: 'an error was encountered while running the model' },
      done(),
    ],
    hears: { text: 'par', calls: [], error: { code: 'LLM_HTTP_ERROR', retryable: true } },
  },
  {
    says: 'a full window as an error',
    lines: [{ error: 'the input length exceeds the context length' }],
    hears: { error: { code: 'LLM_CONTEXT_OVERFLOW', retryable: false } },
  },
  {
    says: 'no done line',
    lines: [piece({ content: 'par' }), calls(call('fs_read', {}))],
    hears: { text: 'par', calls: [], error: { code: 'LLM_INCOMPLETE', retryable: true } },
  },
  {
    says: 'a last line that is cut',
    lines: [piece({ content: 'par' }), '{"model":"m","done":tr'],
    hears: { text: 'par', error: { code: 'LLM_INCOMPLETE', retryable: true } },
  },
  {
    says: 'a line that is not JSON',
    lines: [piece({ content: 'par' }), 'oops', done()],
    hears: { text: 'par', error: { code: 'LLM_BAD_RESPONSE', retryable: false } },
  },
  {
    says: 'lines that are JSON and no answer',
    lines: ['null', '7', '[]', piece({ content: 'a' }), done()],
    hears: { text: 'a', finish: 'stop' },
  },
  { says: 'nothing', lines: [''], hears: { error: { code: 'LLM_BAD_RESPONSE', retryable: true } } },
  {
    says: 'a web page',
    lines: ['<html><body>Sign in</body></html>'],
    hears: { error: { code: 'LLM_BAD_RESPONSE', retryable: false } },
  },
  {
    says: 'what follows the done line does not count',
    lines: [piece({ content: 'a' }), done(), { error: 'late' }, 'oops'],
    hears: { text: 'a', finish: 'stop' },
  },
  {
    says: 'a model that was only loaded',
    lines: [done({ done_reason: 'load' })],
    hears: { text: '', finish: 'error' },
  },
  {
    says: 'an unknown reason after text',
    lines: [piece({ content: 'a' }), done({ done_reason: 'because' })],
    hears: { text: 'a', finish: 'error', finishMessage: 'because' },
  },
  {
    says: 'no reason (before 0.1.33)',
    lines: [piece({ content: 'a' }), done({ done_reason: undefined })],
    hears: { finish: 'stop' },
  },
  {
    says: 'no prompt count: the prompt was cached',
    lines: [piece({ content: 'a' }), done({ prompt_eval_count: undefined })],
    hears: { usage: { promptTokens: 0, completionTokens: 5, totalTokens: 5 } },
  },
  {
    says: 'content that is null',
    lines: [piece({ content: null }), piece({ content: 'a' }), done()],
    hears: { text: 'a' },
  },
  {
    says: 'one object printed over many lines',
    lines: [JSON.stringify(done({ message: { content: 'a' } }), null, 2)],
    hears: { text: 'a', finish: 'stop' },
  },
];

const anywhere = createOllamaClient({ baseUrl: 'https://ollama.example', apiKey: 'sk-CANARYKEY1234567890' });
const body = (lines: LineCase['lines']) =>
  lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');

const listen = (text: string, slicing: (typeof slicings)[number], type = 'application/x-ndjson') =>
  served({ headers: { 'content-type': type }, body: text }, slicing, () => hear(anywhere.chatStream(greeting)));

function check(heard: Heard, { calls: expectedCalls, error, ...expected }: LineCase['hears']): void {
  for (const [key, value] of Object.entries(expected)) assert.deepEqual(heard[key as keyof Heard], value, key);
  const { message = '', code, retryable } = heard.error ?? {};
  assert.deepEqual(heard.error && { code, retryable }, error, message);
  assert.ok(!message.includes('CANARY'));
  if (!expectedCalls) return;
  assert.equal(heard.calls.length, expectedCalls.length);
  for (const [at, wanted] of expectedCalls.entries()) {
    const { id, name, arguments: given, malformed } = heard.calls[at]!;
    if (Array.isArray(wanted)) assert.deepEqual([name, given, malformed], [...wanted, undefined]);
    else assert.deepEqual({ ...heard.calls[at], ...wanted }, heard.calls[at]);
    assert.equal(heard.calls.filter((one) => one.id === id).length, 1);
  }
}

describe('what Ollama says', () => {
  for (const { says, lines, hears } of cases) {
    it(says, async () => {
      for (const slicing of slicings) check(await listen(body(lines), slicing), hears);
    });
  }

  it('is the same however the lines end', async () => {
    const { lines, hears } = cases[0]!;
    const text = body(lines);
    const framings = [
      `${text}\n`,
      `${text.replaceAll('\n', '\r\n')}\r\n`,
      `\n\n${text.replaceAll('\n', '\n \n')}\n`,
      `\uFEFF${text}`,
    ];
    for (const framing of framings) {
      check(await listen(framing, 'random'), hears);
      check(await listen(framing, 'bytes', 'application/json'), hears);
      check(await listen(framing, 'bytes', ''), hears);
    }
  });

  it('is no answer wherever it is cut before its last line', async () => {
    const text = body(cases[0]!.lines);
    for (let end = 0; end < text.length; end += 3) {
      const heard = await listen(text.slice(0, end), 'whole');
      assert.deepEqual(heard.calls, []);
      assert.ok(heard.error && ['LLM_INCOMPLETE', 'LLM_BAD_RESPONSE'].includes(heard.error.code), `cut at ${end}`);
    }
  });

  it('is refused when a line never ends', async () => {
    const client = createOllamaClient({ baseUrl: 'https://ollama.example', fetchLimits: { eventBytes: 1000 } });
    const { error } = await served({ body: `{"a":"${'x'.repeat(5000)}` }, 'random', () =>
      hear(client.chatStream(greeting)),
    );
    assert.equal(error?.code, 'LLM_BAD_RESPONSE');
    assert.match(error.message, /more than 1000 bytes/);
  });
});
