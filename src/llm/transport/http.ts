import { message } from '../../protocol/text/l10n.ts';
import { linked } from '../../protocol/text/links.ts';
import { joined } from '../../protocol/text/localized.ts';
import { createWatch, withDeadline } from '../core/deadlines.ts';
import { LLMError } from '../core/errors.ts';
import { parseJson } from '../core/json.ts';
import { type RateLimitNews, rateLimitIn } from '../core/rateHeaders.ts';
import { labelOf } from '../models/providers.ts';
import { connectionError, interruptedError } from './connectionErrors.ts';
import { asPlainText } from './errorBody.ts';
import { type Endpoint, endpointName, errorOfStatus, wayToFind, withPeriod } from './providerErrors.ts';
import { redact } from './redact.ts';
import { outOfTime, type Until } from './timeLimits.ts';

/** Milliseconds and bytes; a time of 0 is no limit. */
export interface FetchLimits {
  /** Until the headers of the answer are here. */
  connectMs: number;
  /** Between two bytes. */
  idleMs: number;
  /** Between two events of a stream: keep-alive comments do not carry it over this. */
  eventMs: number;
  /** After the model has said that it is finished, for servers that never close: what came by then is the answer. */
  closeMs: number;
  /** One event of a stream. */
  eventBytes: number;
  /** A whole answer, after decompression, without the wrapping of its events, up to three times as much. */
  answerBytes: number;
}

export const defaultFetchLimits: FetchLimits = {
  connectMs: 60_000,
  idleMs: 120_000,
  eventMs: 600_000,
  closeMs: 5_000,
  eventBytes: 8 * 1024 * 1024,
  answerBytes: 32 * 1024 * 1024,
};

interface HttpRequest {
  endpoint: Endpoint;
  url: string;
  headers?: Record<string, string>;
  /** Sent as JSON with POST; without it the request is a GET. */
  body?: unknown;
  limits: FetchLimits;
  signal?: AbortSignal;
}

/** A good answer (2xx) whose body is still on its way. Whoever has it reads it to the end or calls `cancel`. */
export interface HttpAnswer {
  endpoint: Endpoint;
  limits: FetchLimits;
  signal: AbortSignal | undefined;
  contentType: string;
  /** What the headers say of the provider's limits. */
  rateLimit: RateLimitNews | undefined;
  /** The next bytes, or undefined at the end. `until` stands in for the limit between two bytes. */
  read(until?: Until): Promise<Uint8Array | undefined>;
  /** The first bytes, which `read` then gives once more. */
  peek(): Promise<Uint8Array | undefined>;
  /** So many of the bytes that came were wrapping and are not kept: they do not count as a part of the answer. */
  discount(bytes: number): void;
  /** Closes the socket. */
  cancel(): void;
}

/**
 * The one fetch: `globalThis.fetch` as it is at the time of the call, because the editor patches it for proxies and
 * certificates. Redirects are not followed: fetch would take `api-key` headers along to the other server.
 * Throws `LLMError`, or the signal's reason.
 */
export async function sendHttpRequest(request: HttpRequest): Promise<HttpAnswer> {
  const { endpoint, signal } = request;
  signal?.throwIfAborted();
  const url = checkAddress(request.url, endpoint);
  const connection = new AbortController();
  const close = () => connection.abort();
  signal?.addEventListener('abort', close);
  try {
    const response = await fetchHeaders(request, url, connection.signal);
    const answer = toAnswer(request, response, () => {
      signal?.removeEventListener('abort', close);
      close();
    });
    if (!response.ok) throw await refusal(answer, response);
    return answer;
  } catch (error) {
    signal?.removeEventListener('abort', close);
    close();
    throw error;
  }
}

async function fetchHeaders(request: HttpRequest, url: URL, signal: AbortSignal): Promise<Response> {
  const { endpoint, limits, headers, body } = request;
  try {
    const response = globalThis.fetch(url.href, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: 'manual',
      signal,
    });
    return await withDeadline(response, {
      ms: limits.connectMs,
      signal: request.signal,
      expired: () => outOfTime(endpointName(endpoint), 'connect', limits.connectMs),
    });
  } catch (error) {
    request.signal?.throwIfAborted();
    throw error instanceof LLMError ? error : connectionError(endpoint, error);
  }
}

function toAnswer(request: HttpRequest, response: Response, close: () => void): HttpAnswer {
  const { endpoint, limits, signal } = request;
  const reader = response.body?.getReader();
  const watch = createWatch(signal);
  let received = 0;
  let wrapping = 0;
  let peeked: Uint8Array | undefined;
  const silence: Until = { ms: limits.idleMs, limit: 'idle', of: limits.idleMs };
  const readOn = async ({ ms, limit, of } = silence) => {
    if (!reader) return undefined;
    try {
      const { value } = await watch.wait(reader.read(), ms, () => outOfTime(endpointName(endpoint), limit, of));
      received += value?.byteLength ?? 0;
      if (received - Math.min(wrapping, 3 * limits.answerBytes) > limits.answerBytes)
        throw tooLong(endpoint, 'answer', limits.answerBytes);
      return value;
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof LLMError ? error : interruptedError(endpoint, error);
    }
  };
  return {
    endpoint,
    limits,
    signal,
    contentType: (response.headers.get('content-type') ?? '').toLowerCase(),
    rateLimit: rateLimitIn(response.headers, Date.now()),
    async read(until) {
      const bytes = peeked ?? (await readOn(until));
      peeked = undefined;
      return bytes;
    },
    async peek() {
      peeked ??= await readOn();
      return peeked;
    },
    discount(bytes) {
      wrapping += bytes;
    },
    cancel() {
      watch.close();
      reader?.cancel().catch(() => {}); // a body that already failed says so again
      close();
    },
  };
}

/**
 * What the body is: by its first character, which no gateway gets wrong, and where that says nothing by the content
 * type. `text`: a web page of a proxy or a captive portal, not a model.
 */
export async function contentKindOf(answer: HttpAnswer): Promise<'events' | 'json' | 'text'> {
  if (answer.contentType.includes('html')) return 'text';
  const beginning = new TextDecoder().decode((await answer.peek())?.subarray(0, 64)).trimStart();
  if (/^[[{]/.test(beginning)) return 'json';
  if (beginning.startsWith('<')) return 'text';
  return answer.contentType.includes('json') && !/^[deir:]/.test(beginning) ? 'json' : 'events'; // `data:`, `: comment`
}

/** Statuses that name another address; 304 and the others below 400 are no answer to a request of ours. */
const redirects: ReadonlySet<number> = new Set([300, 301, 302, 303, 307, 308]);

async function refusal(answer: HttpAnswer, response: Response): Promise<LLMError> {
  const { endpoint } = answer;
  if (response.type === 'opaqueredirect' || redirects.has(response.status)) {
    const target = response.headers.get('location');
    const name = endpointName(endpoint);
    const text = target
      ? message(
          '{0} redirects to {1}. Redirects are not followed; set the final address.',
          name,
          redact(target, endpoint.secrets).slice(0, 300),
        )
      : message('{0} redirects. Redirects are not followed; set the final address.', name);
    return new LLMError('LLM_HTTP_ERROR', text, { status: response.status || undefined });
  }
  return errorOfStatus(endpoint, response.status, parseOrText(await readBeginning(answer)), response.headers);
}

/** At most 64 KiB of a body that is told to a person; what cannot be read is not missed. */
export async function readBeginning(answer: HttpAnswer): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    const soon: Until = { ms: 5000, limit: 'idle', of: 5000 };
    for (let bytes = await answer.read(soon); bytes; bytes = await answer.read(soon)) {
      text += decoder.decode(bytes, { stream: true });
      if (text.length > 65_536) break;
    }
  } catch {
    answer.signal?.throwIfAborted();
  }
  answer.cancel();
  return text;
}

function parseOrText(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** The whole body as JSON. */
export async function readJsonAnswer(answer: HttpAnswer): Promise<unknown> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (let bytes = await answer.read(); bytes; bytes = await answer.read()) {
      text += decoder.decode(bytes, { stream: true });
    }
  } finally {
    answer.cancel();
  }
  text += decoder.decode();
  try {
    return parseJson(text);
  } catch {
    throw unreadableAnswer(answer.endpoint, text);
  }
}

/**
 * The error for what should have been a message and is not; an empty one may well work the next time. `begun`: others
 * of the same answer were messages, so that the address is right.
 */
export function unreadableAnswer(endpoint: Endpoint, text: string, begun = false): LLMError {
  const beginning = redact(asPlainText(text), endpoint.secrets);
  const name = endpointName(endpoint);
  const said = (words: string) => message('{0} sent something that is not an answer of a model: {1}', name, words);
  const messageText =
    beginning === ''
      ? message('{0} sent an empty answer.', name)
      : begun
        ? said(beginning)
        : joined([said(withPeriod(beginning)), wayToFind(endpoint)]);
  return new LLMError('LLM_BAD_RESPONSE', messageText, { retryable: beginning === '' });
}

export function tooLong(endpoint: Endpoint, what: 'answer' | 'event', bytes: number): LLMError {
  const size = bytes >= 1_048_576 ? `${Math.round(bytes / 1_048_576)} MiB` : message('{0} bytes', bytes);
  const text = message(
    what === 'answer' ? '{0} sent an answer of more than {1}.' : '{0} sent an event of more than {1}.',
    endpointName(endpoint),
    size,
  );
  return new LLMError('LLM_BAD_RESPONSE', text);
}

/** A key goes out encrypted or not at all; this machine's own servers are the exception. */
function checkAddress(address: string, endpoint: Endpoint): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    const text = message('The address of {0} is not a web address (https://…).', labelOf(endpoint));
    throw new LLMError('LLM_HTTP_ERROR', text);
  }
  if (url.username || url.password) {
    const text = linked(
      message(
        'The address of {0} contains a user name or password. Use *Towpath: Set API Key*.',
        endpointName(endpoint),
      ),
      { commands: ['towpath.setKey'] },
    );
    throw new LLMError('LLM_HTTP_ERROR', text);
  }
  if (url.protocol === 'http:' && endpoint.secrets.length > 0 && !isLoopback(url.hostname)) {
    const text = message(
      '{0} is reached without encryption, so no key or secret is sent there. Use an https address.',
      endpointName(endpoint),
    );
    throw new LLMError('LLM_HTTP_ERROR', text);
  }
  return url;
}

export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
