import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, listen } from './listening.ts';
import { type ProviderReply, reply, type Step } from './reply.ts';
import { keepBody } from './sent.ts';

export { type ProviderReply, reply } from './reply.ts';

export interface WireRequest {
  model: string;
  messages: { role: string; content: string | null; tool_calls?: unknown[]; tool_call_id?: string }[];
  tools?: { function: { name: string } }[];
  [parameter: string]: unknown;
}

export interface RecordedRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: WireRequest;
  at: number;
  /** The other side left before the answer was over. */
  abandoned: boolean;
}

/** Replies in the order of the requests, or a function of the request that chooses. */
export type ProviderScript = readonly ProviderReply[] | ((request: WireRequest, count: number) => ProviderReply);

export interface Provider {
  /** The base URL: `http://127.0.0.1:…/v1`. */
  url: string;
  port: number;
  /** Chat requests, as they came. */
  requests: RecordedRequest[];
  /** Everything else that was asked for (`GET /v1/models`). */
  otherRequests: RecordedRequest[];
  /** Open sockets that a request came through; every answer closes its own. (Fetch may open an idle one ahead.) */
  readonly openSockets: number;
  /** Changes what the following requests get. */
  script: ProviderScript;
  /** What `GET /models` lists. */
  models: object[];
  /** Answers `GET /models` instead. */
  listing?(request: RecordedRequest): ProviderReply;
  close(): Promise<void>;
}

/** An OpenAI-compatible provider on this machine, which does what its script says, faults included. */
export async function startProvider(script: ProviderScript): Promise<Provider> {
  const server = await listen((request, response) => answer(provider, request, response));
  const { port } = server;
  const provider: Provider = {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    requests: [],
    otherRequests: [],
    script,
    models: [{ id: 'scripted', context_length: 32_768 }],
    get openSockets() {
      return server.openSockets;
    },
    close: () => server.close(),
  };
  return provider;
}

async function answer(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const recorded = await record(request);
  response.on('close', () => {
    recorded.abandoned = !response.writableFinished;
  });
  if (request.method === 'POST' && recorded.path.split('?')[0]!.endsWith('/chat/completions')) {
    provider.requests.push(recorded);
    keepBody(recorded.body);
    await perform(choose(provider, recorded.body), response);
    return;
  }
  provider.otherRequests.push(recorded);
  const known = recorded.path.split('?')[0]!.endsWith('/models');
  const list = () => provider.listing?.(recorded) ?? reply.status(200, { object: 'list', data: provider.models });
  await perform(known ? list() : reply.status(404), response);
}

function choose({ script, requests }: Provider, body: WireRequest): ProviderReply {
  const count = requests.length - 1;
  if (typeof script === 'function') return script(body, count);
  return script[count] ?? reply.status(400, { error: { message: 'The script of this provider is over.' } });
}

async function record(request: IncomingMessage): Promise<RecordedRequest> {
  const text = await bodyOf(request);
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    body: (text === '' ? {} : JSON.parse(text)) as WireRequest,
    at: Date.now(),
    abandoned: false,
  };
}

/** Does what a reply says, for as long as the other side is there. */
export async function perform(scripted: ProviderReply, response: ServerResponse): Promise<void> {
  const gone = new Promise<'gone'>((resolve) => response.on('close', () => resolve('gone')));
  if (scripted.delayMs > 0 && (await pause(scripted.delayMs, gone)) === 'gone') return;
  response.writeHead(scripted.statusCode, { connection: 'close', ...scripted.headers });
  response.flushHeaders();
  for (const step of scripted.allSteps()) {
    if (response.destroyed || (await take(step, response, gone)) === 'gone') return;
  }
  response.end();
}

async function take(step: Step, response: ServerResponse, gone: Promise<'gone'>): Promise<'gone' | undefined> {
  if ('send' in step) return write(step.send, response, gone);
  if ('wait' in step) return pause(step.wait, gone);
  if ('after' in step) return Promise.race([step.after.then(() => undefined), gone]);
  if ('hang' in step) return gone;
  if ('cut' in step) {
    await pause(5, gone); // what was written before gets out first
    if (step.cut === 'reset') response.socket?.resetAndDestroy();
    else response.destroy();
    return gone;
  }
  for (let nth = 1; !response.destroyed; nth++) {
    if ((await write(step.endless(nth), response, gone)) === 'gone') break;
    if (step.everyMs > 0 && (await pause(step.everyMs, gone)) === 'gone') break;
  }
  return 'gone';
}

async function write(bytes: string | Buffer, response: ServerResponse, gone: Promise<'gone'>) {
  if (bytes.length === 0 || response.write(bytes)) return undefined;
  const drained = new Promise<undefined>((resolve) => response.once('drain', () => resolve(undefined)));
  return Promise.race([drained, gone]);
}

async function pause(ms: number, gone: Promise<'gone'>): Promise<'gone' | undefined> {
  if (ms === Number.POSITIVE_INFINITY) return gone;
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  const first = await Promise.race([over, gone]);
  clearTimeout(timer);
  return first;
}
