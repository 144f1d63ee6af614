import { type ChildProcess, fork } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { ChatRequest, LLMClient } from '../../src/llm/core/client.ts';
import { createLLMClient, type ProviderChoice } from '../../src/llm/createClient.ts';
import type { Message } from '../../src/protocol/content/messages.ts';
import { inMs, line, median } from './measure.ts';

// What a request costs on each wire at the end of a run of so many turns, against copying and sending the same bytes to the same
// server, which is a process of its own. CPU time, medians of rounds in turns: only ratios of one run mean anything.

const lengths = [100, 1000, 5000];
const rounds = Number(process.env.ROUNDS ?? 5);
const [warmUp, measured] = [3, 10];
/** Times the bytes alone, at the longest; shorter requests are mostly the answer and its connection. */
const budget = 1.2;

const wires: Record<string, Pick<ProviderChoice, 'provider'> & { path: string }> = {
  'Chat Completions': { provider: 'openai-compatible', path: '/v1' },
  Responses: { provider: 'openai-responses', path: '/v1' },
  Anthropic: { provider: 'anthropic', path: '' },
  Google: { provider: 'google', path: '/v1beta' },
  Ollama: { provider: 'ollama', path: '' },
};

const answers: [path: RegExp, answer: string][] = [
  [/completions/, 'data: {"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'],
  [
    /responses/,
    'data: {"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"ok"}]}]}}\n\n',
  ],
  [
    /messages/,
    [
      '{"type":"message_start","message":{"model":"m","usage":{"input_tokens":1,"output_tokens":1}}}',
      '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"ok"}}',
      '{"type":"content_block_stop","index":0}',
      '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}',
      '{"type":"message_stop"}',
    ]
      .map((event) => `data: ${event}\n\n`)
      .join(''),
  ],
  [/stream/, 'data: {"candidates":[{"content":{"parts":[{"text":"ok"}]},"finishReason":"STOP"}]}\n\n'],
  [/show/, '{}'],
  [/chat/, '{"message":{"role":"assistant","content":"ok"},"done":true,"done_reason":"stop"}\n'],
];

const tools = Array.from({ length: 19 }, (_, at) => ({
  name: `tool.number${at}`,
  description: 'Does what a tool of this number does. '.repeat(3),
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
}));

if (process.argv[2] === 'serve') serve();
else await measure();

async function measure(): Promise<void> {
  const server = await startServer();
  try {
    for (const [name, { provider, path }] of Object.entries(wires)) {
      const client = createLLMClient({ provider, model: 'm', apiKey: 'none', baseUrl: `${server.url}${path}` });
      console.log(name);
      for (const length of lengths) {
        const messages = conversation(length);
        const sent = await sentBy(client, messages);
        const value = JSON.parse(sent.body.toString());
        const [bytes, ours] = await compare(
          () => costOf(() => sendBytes(sent), []),
          () => costOf(() => drain(client, [...messages]), messages),
        );
        const [floor, whole] = await compare(
          () => costOf(() => sendBytes(sent), []),
          () => costOf(() => post(sent, JSON.stringify(value)), []),
        );
        const times = ours / bytes;
        const numbers = {
          bytes: inMs(bytes),
          ours: inMs(ours),
          times: times.toFixed(2),
          stringify: (whole / floor).toFixed(2),
        };
        const mb = (sent.body.length / 1e6).toFixed(1);
        line(`after ${length} turns, ${mb} MB`, numbers, length === lengths.at(-1) ? times : 0, budget);
      }
    }
  } finally {
    server.process.kill();
  }
}

/** Medians of the two in turns, beside nothing else: the garbage of a third would be collected on their bill. */
async function compare(base: () => Promise<number>, other: () => Promise<number>): Promise<[number, number]> {
  const [bases, others]: [number[], number[]] = [[], []];
  for (let round = -1; round < rounds; round++) {
    const [one, two] = [await base(), await other()];
    if (round < 0) continue;
    bases.push(one);
    others.push(two);
  }
  return [median(bases), median(others)];
}

/** Milliseconds of CPU time of one request; each has one turn more than the one before. */
async function costOf(send: () => Promise<void>, messages: Message[]): Promise<number> {
  let before = process.cpuUsage();
  for (let turn = -warmUp; turn < measured; turn++) {
    if (turn === 0) before = process.cpuUsage();
    await send();
    messages.push(...turnOf(messages.length));
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / measured;
}

async function drain(client: LLMClient, messages: readonly Message[]): Promise<void> {
  let text = '';
  for await (const { content = '' } of client.chatStream(requestOf(messages))) text += content;
  if (text !== 'ok') throw new Error(`The answer is ${text}.`);
}

interface Sent {
  url: string;
  body: Buffer;
  headers: Record<string, string>;
}

/** Copies the bytes once and sends them: what no request of this length can be below. */
function sendBytes(sent: Sent): Promise<void> {
  return post(sent, Buffer.concat([sent.body.subarray(0, -9), sent.body.subarray(-9)]));
}

async function post({ url, headers }: Sent, body: string | Uint8Array): Promise<void> {
  const answer = await fetch(url, { method: 'POST', headers, body });
  await answer.text();
}

/** What the client sends of these messages. */
async function sentBy(client: LLMClient, messages: readonly Message[]): Promise<Sent> {
  const fetchBefore = globalThis.fetch;
  let sent: Sent | undefined;
  globalThis.fetch = (url, init) => {
    const body = Buffer.from(init?.body as Uint8Array);
    sent = { url: String(url), body, headers: init?.headers as Record<string, string> };
    return fetchBefore(url, init);
  };
  try {
    await drain(client, messages);
  } finally {
    globalThis.fetch = fetchBefore;
  }
  return sent!;
}

function requestOf(messages: readonly Message[]): ChatRequest {
  return { model: 'm', systemPrompt: 'You are an agent. '.repeat(100), messages, tools };
}

function conversation(turns: number): Message[] {
  const first: Message = { role: 'user', content: 'Read everything, and say what is in it.' };
  return [first, ...Array.from({ length: turns }, (_, at) => turnOf(at)).flat()];
}

/** A turn of an agent: some words, a read, and what it gave. */
function turnOf(at: number): Message[] {
  const id = `call-${at}-${Math.random().toString(36).slice(2)}`;
  const path = `src/folder${at % 7}/file${at}.ts`;
  const toolCalls = [{ id, name: 'tool.number3', arguments: { path } }];
  const text = `export const answer${at} = "forty-two";\n// größer\n`.repeat(10);
  const content = JSON.stringify({ ok: true, data: { path, text } });
  return [
    { role: 'assistant', content: `I read file ${at}, and then the one that comes after it in the list.`, toolCalls },
    { role: 'tool', content: '', toolResults: [{ toolCallId: id, content }] },
  ];
}

/** In a process of its own, so that its CPU time is not counted. */
async function startServer(): Promise<{ url: string; process: ChildProcess }> {
  const child = fork(fileURLToPath(import.meta.url), ['serve'], { execArgv: ['--import', 'tsx'] });
  const port = await new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', () => reject(new Error('The server of the bench did not start.')));
  });
  return { url: `http://127.0.0.1:${port}`, process: child };
}

function serve(): void {
  const server = createServer((request, response) => {
    request.resume();
    request.once('end', () => {
      const answer = answers.find(([path]) => path.test(request.url ?? ''))?.[1] ?? '{}';
      response.writeHead(200, { 'content-type': /^data/.test(answer) ? 'text/event-stream' : 'application/json' });
      response.end(answer);
    });
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}
