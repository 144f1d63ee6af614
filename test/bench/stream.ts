import { type ChildProcess, fork } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import { createOpenAIClient } from '../../src/llm/openai/client.ts';
import { longText } from '../support/longText.ts';
import { reply } from '../support/reply.ts';
import { compare, line, rounds, timesOf } from './measure.ts';

// How much reading a stream costs, against the least it could cost, in one run on one machine: only ratios mean anything.

const budgets = { parse: 1.6, loopback: 1.3, fragment: 1.25 };

/** As large as a long answer of an agent: thinking, text and a call, 50,000 events. */
const long = reply
  .thinking(longText('considering the question once more, from the other side. ', 1500), 'reasoning_content', 8)
  .text(longText('the quick brown fox — größer als der faule Hund 🙂. ', 5000), 8)
  .call('fs_write', { path: 'a.ts', content: 'export const answer = 42;\n'.repeat(3000) }, { size: 12 })
  .bytes();

const request = {
  model: 'scripted',
  messages: [{ role: 'user' as const, content: 'hi' }],
  tools: [{ name: 'fs.write', description: '', parameters: { type: 'object' } }],
};

if (process.argv[2] === 'serve') serve();
else await measure();

async function measure(): Promise<void> {
  const events = long.toString('utf8').split('\n\n').length - 1;
  console.log(`${(long.length / 1e6).toFixed(1)} MB, ${events} events, median of ${rounds} rounds, CPU time`);

  const pieces = cut(long, 16_384); // what a socket gives
  const parse = await timesOf(async () => floor(pieces), {
    towpath: () => withBody(pieces, () => drainClient('https://bench.example/v1')),
    'openai SDK': () => withBody(pieces, () => drainSdk('https://bench.example/v1')),
  });
  report('parse, against decode + split + JSON.parse', parse);

  const server = await startServer();
  try {
    const loopback = await timesOf(() => drainBody(`${server.url}/chat/completions`), {
      towpath: () => drainClient(server.url),
      'openai SDK': () => drainSdk(server.url),
    });
    report('over loopback HTTP, against a raw read of the body', loopback);
    check('parse', parse.towpath!.times);
    check('loopback', loopback.towpath!.times);
  } finally {
    server.process.kill();
  }

  const [small, large] = [50_000, 750_000].map((size) => ({ size, pieces: cut(callOf(size), 16_384) }));
  const cost = await compare({
    small: () => withBody(small!.pieces, () => drainClient('https://bench.example/v1'), 15),
    large: () => withBody(large!.pieces, () => drainClient('https://bench.example/v1')),
  });
  const growth = cost.large! / cost.small!;
  console.log(`one tool argument of 750 KB: ${growth.toFixed(2)} x the cost per fragment of one of 50 KB`);
  check('fragment', growth);
}

function report(what: string, costs: Record<string, { ms: number; times: number }>): void {
  console.log(what);
  for (const [name, { ms, times }] of Object.entries(costs)) {
    console.log(`  ${name.padEnd(12)} ${ms.toFixed(1).padStart(8)} ms  ${times.toFixed(2)} x`);
  }
}

function check(what: keyof typeof budgets, ratio: number): void {
  line(what, { times: ratio.toFixed(2), budget: `${budgets[what]}` }, ratio, budgets[what]);
}

function floor(pieces: readonly Uint8Array[]): void {
  const decoder = new TextDecoder();
  let rest = '';
  for (const piece of pieces) {
    const events = (rest + decoder.decode(piece, { stream: true })).split('\n\n');
    rest = events.pop()!;
    for (const event of events) if (event !== 'data: [DONE]') JSON.parse(event.slice(6));
  }
}

async function drainClient(baseUrl: string): Promise<void> {
  const client = createOpenAIClient({ provider: 'bench', label: 'bench', baseUrl });
  let calls = 0;
  for await (const chunk of client.chatStream(request)) if (chunk.toolCall && !chunk.toolCall.malformed) calls++;
  if (calls !== 1) throw new Error(`${calls} calls were read instead of one`);
}

async function drainSdk(baseURL: string): Promise<void> {
  const client = new OpenAI({
    baseURL,
    apiKey: 'none',
    maxRetries: 0,
    fetch: (url, init) => globalThis.fetch(url, init),
  });
  const { model, messages } = request;
  let chunks = 0;
  for await (const _ of await client.chat.completions.create({ model, messages, stream: true })) chunks++;
  if (chunks === 0) throw new Error('nothing was read');
}

async function drainBody(url: string): Promise<void> {
  const response = await fetch(url, { method: 'POST', body: '{}' });
  const reader = response.body!.getReader();
  while (!(await reader.read()).done);
}

async function withBody(pieces: readonly Uint8Array[], run: () => Promise<void>, times = 1): Promise<void> {
  const fetchBefore = globalThis.fetch;
  globalThis.fetch = async () => {
    let at = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces[at++];
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
  try {
    for (let count = 0; count < times; count++) await run();
  } finally {
    globalThis.fetch = fetchBefore;
  }
}

function callOf(size: number): Buffer {
  return reply.call('fs_write', { path: 'a', content: 'x'.repeat(size) }, { size: 12 }).bytes();
}

function cut(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

/** In a process of its own, so that its CPU time is not counted. */
async function startServer(): Promise<{ url: string; process: ChildProcess }> {
  const child = fork(fileURLToPath(import.meta.url), ['serve'], { execArgv: ['--import', 'tsx'] });
  const port = await new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', () => reject(new Error('The server of the bench did not start.')));
  });
  return { url: `http://127.0.0.1:${port}/v1`, process: child };
}

/** An event at a time, as a model writes them: what a read costs is a good part of what a stream costs. */
function serve(): void {
  const events = long.toString('utf8').split(/(?<=\n\n)/);
  const server = createServer(async (request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) {
      if (!response.write(event)) await new Promise((resolve) => response.once('drain', resolve));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}
