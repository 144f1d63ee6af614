import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, listen } from './listening.ts';

/** What an Ollama on this machine does, line by line, after it has been asked. */
export type OllamaStep = object | string | { wait: number } | 'hang' | 'cut';

export interface OllamaReply {
  status?: number;
  headers?: Record<string, string>;
  /** Milliseconds before the headers; `Infinity`: they never come. */
  delayMs?: number;
  /** Objects are sent as lines, strings as they are. */
  steps: OllamaStep[];
}

export interface OllamaModelShown {
  capabilities?: string[];
  details?: object;
  model_info?: object;
  parameters?: string;
}

export interface OllamaRequest {
  path: string;
  headers: IncomingMessage['headers'];
  body: { model: string; messages: object[]; tools?: object[]; think?: unknown; [parameter: string]: unknown };
}

export interface OllamaServer {
  url: string;
  /** Chats, as they came. */
  chats: OllamaRequest[];
  /** Every other request. */
  others: OllamaRequest[];
  /** Answers in the order of the chats. */
  script: OllamaReply[];
  models: Record<string, OllamaModelShown>;
  readonly openSockets: number;
  close(): Promise<void>;
}

/** A part of an answer. */
export const piece = (message: object, more: object = {}) => ({
  model: 'scripted',
  created_at: '2025-01-01T00:00:00Z',
  message: { role: 'assistant', content: '', ...message },
  done: false,
  ...more,
});

/** The last line of an answer. */
export const done = (more: object = {}) =>
  piece({}, { done: true, done_reason: 'stop', prompt_eval_count: 12, eval_count: 5, ...more });

/** An Ollama on this machine, which checks what the real one checks and does what its script says. */
export async function startOllama(script: OllamaReply[] = []): Promise<OllamaServer> {
  const listener = await listen((request, response) => answer(server, request, response));
  const server: OllamaServer = {
    url: `http://127.0.0.1:${listener.port}`,
    chats: [],
    others: [],
    script,
    models: { scripted: { capabilities: ['completion', 'tools', 'thinking', 'vision'] } },
    get openSockets() {
      return listener.openSockets;
    },
    close: () => listener.close(),
  };
  return server;
}

async function answer(server: OllamaServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = await bodyOf(request);
  const asked: OllamaRequest = {
    path: request.url ?? '',
    headers: request.headers,
    body: text === '' ? { model: '', messages: [] } : JSON.parse(text),
  };
  if (asked.path === '/api/chat') {
    server.chats.push(asked);
    return perform(refusal(server, asked.body) ?? next(server), response);
  }
  server.others.push(asked);
  if (asked.path === '/api/tags') {
    const models = Object.keys(server.models).map((name) => ({ name, model: name, size: 1, details: {} }));
    return perform({ steps: [JSON.stringify({ models })], headers: json }, response);
  }
  const shown = asked.path === '/api/show' ? server.models[asked.body.model] : undefined;
  if (shown) return perform({ steps: [JSON.stringify(shown)], headers: json }, response);
  await perform(notFound(asked.body.model), response);
}

const json = { 'content-type': 'application/json' };
const failure = (status: number, error: string): OllamaReply => ({
  status,
  steps: [JSON.stringify({ error })],
  headers: json,
});
const notFound = (model: string) => failure(404, `model '${model}' not found`);

/** What the real server refuses before it asks the model. */
function refusal({ models }: OllamaServer, body: OllamaRequest['body']): OllamaReply | undefined {
  const model = models[body.model];
  if (!model) return notFound(body.model);
  const can = (what: string) => model.capabilities === undefined || model.capabilities.includes(what);
  if (body.tools?.length && !can('tools'))
    return failure(400, `registry.ollama.ai/library/${body.model} does not support tools`);
  if (body.think !== undefined && !can('thinking')) return failure(400, `"${body.model}" does not support thinking`);
  return undefined;
}

function next({ script, chats }: OllamaServer): OllamaReply {
  return script[chats.length - 1] ?? failure(400, 'The script of this Ollama is over.');
}

async function perform(reply: OllamaReply, response: ServerResponse): Promise<void> {
  const gone = new Promise<void>((resolve) => response.on('close', () => resolve()));
  const pause = (ms: number) =>
    Promise.race([
      gone,
      ...(ms === Number.POSITIVE_INFINITY ? [] : [new Promise((resolve) => setTimeout(resolve, ms))]),
    ]);
  if (reply.delayMs) await pause(reply.delayMs);
  if (response.destroyed) return;
  response.writeHead(reply.status ?? 200, {
    'content-type': 'application/x-ndjson',
    connection: 'close',
    ...reply.headers,
  });
  response.flushHeaders();
  for (const step of reply.steps) {
    if (response.destroyed) return;
    if (step === 'hang') return gone;
    if (step === 'cut') {
      await pause(5); // what was written before gets out first
      response.destroy();
      return;
    }
    if (typeof step === 'object' && 'wait' in step) await pause(step.wait as number);
    else response.write(typeof step === 'string' ? step : `${JSON.stringify(step)}\n`);
  }
  response.end();
}
