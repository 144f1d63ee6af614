import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, listen } from './listening.ts';
import { slices } from './slices.ts';

type Json = Record<string, unknown>;

interface GoogleContent {
  role: string;
  parts: Json[];
}

export interface GoogleBody {
  contents: GoogleContent[];
  systemInstruction?: { parts: Json[] };
  tools?: { functionDeclarations: { name: string; description?: string; parameters?: Json }[] }[];
  toolConfig?: Json;
  generationConfig?: Json;
}

export interface GoogleRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: GoogleBody;
  /** The other side left before the answer was over. */
  abandoned: boolean;
}

type Step = { send: string } | { endless(nth: number): string; everyMs: number } | { hang: true } | { cut: true };

/**
 * One answer as Gemini writes it: `googleReply.text('Hello').call('fs_read', { path: 'a' })`. Each method gives a new
 * reply; the finish reason and the usage come by themselves in the last event.
 */
export class GoogleReply {
  readonly statusCode: number = 200;
  readonly headers: Record<string, string> = { 'content-type': 'text/event-stream' };
  readonly steps: readonly Step[] = [];
  /** Before the headers. */
  readonly delayMs: number = 0;
  readonly ends: boolean = true;

  text(text: string): GoogleReply {
    return this.parts(...slices(text, 4).map((slice) => ({ text: slice })));
  }

  thinking(text: string): GoogleReply {
    return this.parts(...slices(text, 4).map((slice) => ({ text: slice, thought: true })));
  }

  /** Whole, as Gemini sends it; `more` is beside the call in its part (`thoughtSignature`) or in it (`id`). */
  call(name: string, args?: unknown, { id, ...more }: { id?: string; thoughtSignature?: string } = {}): GoogleReply {
    return this.parts(callPart(name, args, { id, ...more }));
  }

  /** Several parts in one event: parallel calls come like this. */
  together(...parts: Json[]): GoogleReply {
    return this.event({ candidates: [{ content: { role: 'model', parts }, index: 0 }] });
  }

  /** Parts, an event each. */
  parts(...parts: Json[]): GoogleReply {
    return parts.reduce<GoogleReply>((reply, part) => reply.together(part), this);
  }

  event(data: Json): GoogleReply {
    return this.raw(`data: ${JSON.stringify({ ...data, modelVersion: 'gemini-test' })}\r\n\r\n`);
  }

  raw(text: string): GoogleReply {
    return this.with({ steps: [...this.steps, { send: text }] });
  }

  /** Time before the headers are sent; `Infinity`: they never are. */
  late(ms: number): GoogleReply {
    return this.with({ delayMs: ms });
  }

  /** Says nothing more and stays. */
  hang(): GoogleReply {
    return this.with({ steps: [...this.steps, { hang: true }], ends: false });
  }

  cut(): GoogleReply {
    return this.with({ steps: [...this.steps, { cut: true }], ends: false });
  }

  /** Text until the other side leaves. */
  endless(everyMs = 5): GoogleReply {
    const endless = (nth: number) =>
      `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text: `and on ${nth} ` }] } }] })}\n\n`;
    return this.with({ steps: [...this.steps, { endless, everyMs }], ends: false });
  }

  status(statusCode: number, body: string | object, headers: Record<string, string> = {}): GoogleReply {
    const type = typeof body === 'string' ? 'text/html' : 'application/json; charset=UTF-8';
    const send = typeof body === 'string' ? body : JSON.stringify(body);
    return this.with({ statusCode, headers: { 'content-type': type, ...headers }, steps: [{ send }], ends: false });
  }

  /** As Google words its errors. */
  error(code: number, status: string, message: string, details?: object[]): GoogleReply {
    return this.status(code, { error: { code, message, status, ...(details && { details }) } });
  }

  allSteps(): readonly Step[] {
    if (!this.ends) return this.steps;
    const usageMetadata = { promptTokenCount: 12, candidatesTokenCount: 5, totalTokenCount: 17 };
    const candidates = [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP' }];
    const end = `data: ${JSON.stringify({ candidates, usageMetadata, modelVersion: 'gemini-test' })}\r\n\r\n`;
    return [...this.steps, { send: end }];
  }

  with(change: Partial<GoogleReply>): GoogleReply {
    return Object.assign(new GoogleReply(), this, change);
  }
}

/** An empty reply to begin with. */
export const googleReply = new GoogleReply();

export function callPart(name: string, args?: unknown, { id, ...more }: Json = {}): Json {
  const functionCall = { ...(id !== undefined && { id }), name, ...(args !== undefined && { args }) };
  return { functionCall, ...more };
}

export type GoogleScript = readonly GoogleReply[] | ((request: GoogleBody, count: number) => GoogleReply);

export interface GoogleServer {
  /** The base URL: `http://127.0.0.1:…/v1beta`. */
  url: string;
  /** Requests for a reply, as they came. */
  requests: GoogleRequest[];
  otherRequests: GoogleRequest[];
  /** What the following requests get, once they are found good. */
  script: GoogleScript;
  /** What `GET /models` gives. */
  models: object;
  readonly openSockets: number;
  close(): Promise<void>;
}

export const googleKey = 'AIzaSyCANARY_0123456789abcdefghijklmnop';

/**
 * Gemini's API on this machine. What the real one refuses, it refuses: a missing or wrong key, fields of schemas it
 * does not know, calls and results that do not match and, of a model named `gemini-3…`, unsigned calls.
 */
export async function startGoogle(script: GoogleScript = []): Promise<GoogleServer> {
  const server = await listen((request, response) => answer(google, request, response));
  const google: GoogleServer = {
    url: `http://127.0.0.1:${server.port}/v1beta`,
    requests: [],
    otherRequests: [],
    script,
    models: { models: [] },
    get openSockets() {
      return server.openSockets;
    },
    close: () => server.close(),
  };
  return google;
}

async function answer(google: GoogleServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = await bodyOf(request);
  const recorded: GoogleRequest = {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    body: text === '' ? { contents: [] } : JSON.parse(text),
    abandoned: false,
  };
  response.on('close', () => {
    recorded.abandoned = !response.writableFinished;
  });
  const streams = /^\/v1beta\/(models|tunedModels)\/([^/:]+):streamGenerateContent\?alt=sse$/.exec(recorded.path);
  (streams ? google.requests : google.otherRequests).push(recorded);
  await perform(refuse(recorded, streams?.[2] ?? '') ?? choose(google, recorded, streams !== null), response);
}

function choose({ script, requests, models }: GoogleServer, { path, body }: GoogleRequest, streams: boolean) {
  if (!streams) {
    const known = /^\/v1beta\/models(\?|$)/.test(path);
    return known ? googleReply.status(200, models) : googleReply.error(404, 'NOT_FOUND', 'Not found.');
  }
  if (typeof script === 'function') return script(body, requests.length - 1);
  return script[requests.length - 1] ?? googleReply.error(400, 'INVALID_ARGUMENT', 'The script is over.');
}

function refuse({ headers, path, body, method }: GoogleRequest, model: string): GoogleReply | undefined {
  const invalid = (message: string, details?: object[]) => googleReply.error(400, 'INVALID_ARGUMENT', message, details);
  if (/[?&]key=/.test(path)) return invalid('The key is in the address.');
  const key = headers['x-goog-api-key'];
  if (key === undefined) {
    const message = "Method doesn't allow unregistered callers (callers without established identity).";
    return googleReply.error(403, 'PERMISSION_DENIED', message);
  }
  if (key !== googleKey) {
    const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' };
    return invalid('API key not valid. Please pass a valid API key.', [info]);
  }
  if (method !== 'POST') return undefined;
  const problem = problemOf(body, model);
  return problem === undefined ? undefined : invalid(problem);
}

function problemOf({ contents, tools = [] }: GoogleBody, model: string): string | undefined {
  for (const [at, { role, parts }] of contents.entries()) {
    if (role !== 'user' && role !== 'model') return 'Please use a valid role: user, model.';
    if (parts.length === 0 || parts.some((part) => part.text === '' && !part.thoughtSignature)) {
      return `contents[${at}].parts must not be empty.`;
    }
    const calls = parts.filter(({ functionCall }) => functionCall);
    const results = (contents[at + 1]?.parts ?? []).filter(({ functionResponse }) => functionResponse);
    if (calls.length !== results.length) {
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
    }
    if (calls.length > 0 && model.startsWith('gemini-3') && !calls[0]!.thoughtSignature) {
      return `Function call is missing a thought_signature in functionCall parts. Additional data, position ${at + 1}.`;
    }
  }
  for (const { name, parameters } of tools.flatMap(({ functionDeclarations }) => functionDeclarations)) {
    if (!/^[A-Za-z_][\w.:-]{0,63}$/.test(name)) return `Invalid function name: ${name}`;
    const problem = parameters && schemaProblem(parameters, `${name}.parameters`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const types = ['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT'];
const known =
  'type format description nullable enum items properties required anyOf minimum maximum minItems maxItems minLength maxLength';

/** Why Google would refuse this schema; undefined when it would not. */
export function schemaProblem(schema: Json, path = 'parameters'): string | undefined {
  for (const name of Object.keys(schema)) {
    if (!known.split(' ').includes(name)) return `Invalid JSON payload received. Unknown name "${name}" at '${path}'.`;
  }
  const { type, properties, items, anyOf } = schema;
  if (type === undefined && anyOf === undefined) return `${path}.type: must be specified`;
  if (type !== undefined && !types.includes(type as string)) return `${path}.type: ${type}`;
  if (properties !== undefined && type !== 'OBJECT') return `${path}.properties: only allowed for OBJECT type`;
  if (schema.enum !== undefined && type !== 'STRING') return `${path}.enum: only allowed for STRING type`;
  if ((schema.enum as unknown[] | undefined)?.some((value) => typeof value !== 'string' || value === '')) {
    return `${path}.enum: cannot be empty`;
  }
  if (type === 'ARRAY' && items === undefined) return `${path}.items: missing field`;
  for (const name of (schema.required as string[] | undefined) ?? []) {
    if (!Object.hasOwn((properties ?? {}) as Json, name)) return `${path}.required: property is not defined: ${name}`;
  }
  const inner = [...Object.entries((properties ?? {}) as Json), ...Object.entries((anyOf ?? []) as Json)];
  for (const [name, value] of items === undefined ? inner : [...inner, ['items', items] as const]) {
    const problem = schemaProblem(value as Json, `${path}.${name}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

async function perform(reply: GoogleReply, response: ServerResponse): Promise<void> {
  const gone = new Promise<void>((resolve) => response.on('close', resolve));
  if (reply.delayMs > 0) await pause(reply.delayMs, gone);
  if (response.destroyed) return;
  response.writeHead(reply.statusCode, { connection: 'close', ...reply.headers });
  response.flushHeaders();
  for (const step of reply.allSteps()) {
    if (response.destroyed) return;
    if ('send' in step) response.write(step.send);
    else if ('hang' in step) await gone;
    else if ('cut' in step) {
      await pause(5, gone); // what was written before gets out first
      response.destroy();
    } else {
      for (let nth = 1; !response.destroyed; nth++) {
        response.write(step.endless(nth));
        await pause(step.everyMs, gone);
      }
    }
  }
  response.end();
}

async function pause(ms: number, gone: Promise<void>): Promise<void> {
  if (ms === Number.POSITIVE_INFINITY) return gone;
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([over, gone]);
  clearTimeout(timer);
}
