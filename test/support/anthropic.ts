import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, listen } from './listening.ts';
import { slices } from './slices.ts';

/** A block of a reply as Anthropic streams it. */
export interface Block {
  begin: object;
  deltas: object[];
}

export const text = (words: string, size = 4): Block => ({
  begin: { type: 'text', text: '' },
  deltas: slices(words, size).map((slice) => ({ type: 'text_delta', text: slice })),
});

export const thinking = (words: string, signature: string, size = 8): Block => ({
  begin: { type: 'thinking', thinking: '', signature: '' },
  deltas: [
    ...slices(words, size).map((slice) => ({ type: 'thinking_delta', thinking: slice })),
    { type: 'signature_delta', signature },
  ],
});

/** A string is sent as it is, malformed or not; `''` is how a call without arguments comes. Names as on the wire. */
export const call = (name: string, args: object | string, id = `toolu_${name}`, size = 12): Block => ({
  begin: { type: 'tool_use', id, name, input: {} },
  deltas: ['', ...slices(typeof args === 'string' ? args : JSON.stringify(args), size)].map((partial_json) => ({
    type: 'input_json_delta',
    partial_json,
  })),
});

/** A block that comes whole, at its beginning. */
export const whole = (begin: object): Block => ({ begin, deltas: [] });

export interface StreamOptions {
  /** Null: the stream ends after its last block, without a stop reason and without `message_stop`. */
  stop?: string | null;
  usage?: object;
}

/** A reply as the objects of its events. */
export function events(blocks: readonly Block[], { stop, usage = { output_tokens: 5 } }: StreamOptions = {}): object[] {
  const calls = blocks.some(({ begin }) => 'type' in begin && begin.type === 'tool_use');
  const start = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-scripted', content: [] };
  const end = [
    { type: 'message_delta', delta: { stop_reason: stop ?? (calls ? 'tool_use' : 'end_turn') }, usage },
    { type: 'message_stop' },
  ];
  return [
    { type: 'message_start', message: { ...start, usage: { input_tokens: 12, output_tokens: 1 } } },
    { type: 'ping' },
    ...blocks.flatMap(({ begin, deltas }, index) => [
      { type: 'content_block_start', index, content_block: begin },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    ...(stop === null ? [] : end),
  ];
}

/** Events as bytes on the wire; a string is an event's data as it is. */
export function sse(all: readonly (object | string)[]): string {
  return all
    .map((event) => {
      const data = typeof event === 'string' ? event : JSON.stringify(event);
      const name = typeof event === 'object' && 'type' in event ? `event: ${event.type}\n` : '';
      return `${name}data: ${data}\n\n`;
    })
    .join('');
}

/** `hang` stays and says nothing more; `cut` closes and `reset` resets the connection. */
export type Step = string | { wait: number } | 'hang' | 'cut' | 'reset';

export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  steps: Step[];
  /** Before the headers, in milliseconds. */
  lateMs?: number;
}

export const reply = (blocks: readonly Block[], options?: StreamOptions): Answer => ({
  steps: [sse(events(blocks, options))],
});

/** A reply that stops in the middle, after its last block. */
export const broken = (blocks: readonly Block[], ...how: Step[]): Answer => ({
  steps: [sse(events(blocks, { stop: null })), ...how],
});

export const refusal = (
  status: number,
  type: string,
  message: string,
  headers: Record<string, string> = {},
): Answer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  steps: [JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_1' })],
});

export interface Asked {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: whatever was sent; tests look at parts of it
  body: any;
  /** The other side left before the answer was over. */
  abandoned: boolean;
}

export interface AnthropicServer {
  url: string;
  asked: Asked[];
  readonly openSockets: number;
  close(): Promise<void>;
}

/** Anthropic's Messages on this machine, as far as a client can tell: answers in the order of the requests. */
export async function startAnthropic(
  answers: readonly Answer[] | ((asked: Asked) => Answer),
): Promise<AnthropicServer> {
  const asked: Asked[] = [];
  const answerFor = (one: Asked) =>
    one.headers['anthropic-version'] === undefined
      ? refusal(400, 'invalid_request_error', 'anthropic-version: header is required')
      : typeof answers === 'function'
        ? answers(one)
        : (answers[asked.length - 1] ?? refusal(400, 'invalid_request_error', 'The script of this server is over.'));
  const server = await listen(async (request, response) => {
    const text = await bodyOf(request);
    const body = text === '' ? undefined : JSON.parse(text);
    const { method = '', url: path = '', headers } = request;
    const one: Asked = { method, path, headers, body, abandoned: false };
    asked.push(one);
    response.on('close', () => {
      one.abandoned = !response.writableFinished;
    });
    await perform(answerFor(one), response);
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    asked,
    get openSockets() {
      return server.openSockets;
    },
    close: () => server.close(),
  };
}

async function perform({ status = 200, headers, steps, lateMs = 0 }: Answer, response: ServerResponse): Promise<void> {
  if (lateMs === Number.POSITIVE_INFINITY) return;
  await pause(lateMs);
  response.writeHead(status, { connection: 'close', 'content-type': 'text/event-stream', ...headers });
  response.flushHeaders();
  for (const step of steps) {
    if (step === 'hang' || response.destroyed) return;
    if (typeof step === 'object') await pause(step.wait);
    else if (step === 'cut' || step === 'reset') {
      await pause(5); // what was written before gets out first
      if (step === 'reset') response.socket?.resetAndDestroy();
      else response.destroy();
      return;
    } else response.write(step);
  }
  response.end();
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
