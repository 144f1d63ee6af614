import type { ChatStreamChunk } from '../../src/llm/core/client.ts';
import { parseToolArguments } from '../../src/llm/messages/parseArguments.ts';
import { readTextToolCalls } from '../../src/llm/textCalls/textCalls.ts';
import { clientFor, greeting, hear, served } from '../llm/serve.ts';
import { compare, inMs, line } from './measure.ts';

// What a character costs in a text ten times as long: 1 where the reader is linear, 10 where it is quadratic.

const budget = 2.5;
const size = 60_000;

await table('calls written as text', {
  'one long argument': (length) =>
    rescue(`<tool_call>{"name": "fs_write", "arguments": {"content": "${'x'.repeat(length)}"}}</tool_call>`),
  'ordinary lines': (length) => rescue(fill('an ordinary line\n', length)),
  'beginnings that are none': (length) => rescue(fill('<tool_call>{"name": "rm"\n', length)),
  'broken calls': (length) => rescue(fill('<tool_call>{"name": "fs_read", "arguments": {\n', length)),
  'quoted calls': (length) => rescue(fill('<tool_call>{"name": "fs_read"}</tool_call> so\n', length)),
  'open strings': (length) => rescue(fill('{"name": "fs_read", "arguments": {"\n', length)),
  'many calls': (length) => rescue(fill('<function=fs_read><parameter=path>a</parameter></function>\n', length)),
  'empty calls': (length) => rescue(fill('<function=fs_read></function>\n', length)),
  fences: (length) => rescue(fill('```json\n{"name": "fs_read", "arguments": {}}\n```\nso\n', length)),
  backslashes: (length) => rescue(`{"name": "fs_read", "arguments": {"a": "${fill('\\\\', length)}"}}`),
  blanks: (length) => rescue(fill(' \n', length)),
});

await table('arguments of a call', {
  'one long text': (length) => read({ content: fill('x = {"a": [1, 2]}\n', 10 * length) }),
  'many keys': (length) => read(Object.fromEntries(Array.from({ length }, (_, at) => [`key${at}`, at]))),
  'a long list': (length) => read({ list: Array.from({ length }, (_, at) => at) }),
});

await table('events of a stream', {
  'keys nobody knows (S09)': (length) =>
    stream(`data: {${Array.from({ length: length / 2 }, (_, at) => `"k${at}":1`).join(',')}}\n\n`),
  'levels without end (S08)': (length) => stream(`data: {"choices":${'['.repeat(10 * length)}\n\n`),
  'blank lines': (length) => stream('\n'.repeat(10 * length)),
});

async function table(what: string, readers: Record<string, (length: number) => () => Promise<void>>): Promise<void> {
  console.log(what);
  for (const [name, make] of Object.entries(readers)) {
    const [small, large] = [make(size), make(10 * size)];
    const cost = await compare({
      small: async () => {
        for (let count = 0; count < 10; count++) await small(); // as much text as the large one
      },
      large,
    });
    // Less than a few milliseconds is not measured, but guessed.
    const growth = Math.max(cost.large!, 5) / Math.max(cost.small!, 5);
    const numbers = { small: inMs(cost.small!), large: inMs(cost.large!), growth: `${growth.toFixed(2)} x` };
    line(name, numbers, growth, budget);
  }
}

function rescue(text: string): () => Promise<void> {
  const chunks: ChatStreamChunk[] = [];
  for (let at = 0; at < text.length; at += 20) chunks.push({ content: text.slice(at, at + 20), done: false });
  chunks.push({ done: true, finishReason: 'stop' });
  async function* stream() {
    yield* chunks;
  }
  return async () => {
    for await (const _ of readTextToolCalls(stream(), greeting.tools!));
  };
}

function read(args: object): () => Promise<void> {
  const text = JSON.stringify(args);
  return async () => {
    if (parseToolArguments(text).malformed !== undefined) throw new Error('these are good arguments');
  };
}

function stream(beginning: string): () => Promise<void> {
  const body = `${beginning}data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;
  const headers = { 'content-type': 'text/event-stream' };
  const client = clientFor('https://bench.example/v1', { fetchLimits: { answerBytes: 2 * body.length } });
  return async () => {
    await served({ headers, body }, 'whole', () => hear(client.chatStream(greeting)));
  };
}

function fill(unit: string, length: number): string {
  return unit.repeat(Math.ceil(length / unit.length));
}
