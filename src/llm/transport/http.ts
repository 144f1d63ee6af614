import { message } from '../../protocol/text/l10n.ts';
import { withMessageLinks } from '../../protocol/text/links.ts';
import { joinLocalizableTexts } from '../../protocol/text/localized.ts';
import { onAbort } from '../../protocol/values/abort.ts';
import { createDeadlineWatch, withDeadline } from '../core/deadlines.ts';
import { LLMError } from '../core/errors.ts';
import { parseJson } from '../core/json.ts';
import { parseRateLimitHeaders, type RateLimitReport } from '../core/rateLimitHeaders.ts';
import { providerLabel } from '../models/providers.ts';
import { connectionError, connectionInterruptedError } from './connectionErrors.ts';
import { htmlToPlainText } from './errorBody.ts';
import {
  type Endpoint,
  endpointName,
  endpointNotFoundAdvice,
  httpStatusToError,
  withClosingPunctuation,
} from './providerErrors.ts';
import { redact } from './redact.ts';
import { toRequestBody } from './requestBody.ts';
import { type ReadTimeLimit, timeLimitError } from './timeLimits.ts';

/** Limits in milliseconds and bytes; a time of 0 disables the limit. */
export interface FetchLimits {
  connectMs: number;
  idleMs: number;
  /** Limit between two events of a stream; keep-alive comments do not extend the limit. */
  eventMs: number;
  /** Limit after the model has finished, for servers that never close; the answer received by then is complete. */
  closeMs: number;
  eventBytes: number;
  /** Maximum bytes of a decompressed answer without its event wrapping; the wrapping may add up to three times as much. */
  answerBytes: number;
}

export const defaultProviderFetchLimits: FetchLimits = {
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
  body?: object;
  limits: FetchLimits;
  signal?: AbortSignal;
}

/** A successful answer (2xx) with an unread body. The owner must read the body to the end or call `cancel`. */
export interface HttpAnswer {
  endpoint: Endpoint;
  limits: FetchLimits;
  signal: AbortSignal | undefined;
  contentType: string;
  rateLimit: RateLimitReport | undefined;
  /** Returns the next bytes; undefined at the end. `until` replaces the limit between two bytes. */
  read(until?: ReadTimeLimit): Promise<Uint8Array | undefined>;
  peek(): Promise<Uint8Array | undefined>;
  discount(bytes: number): void;
  cancel(): void;
}

/**
 * Sends a request. Uses `globalThis.fetch` at the time of the call, because VS Code patches fetch for proxies and certificates. Redirects
 * are not followed: fetch would send `api-key` headers to the other server. Throws `LLMError`, or the signal's reason.
 */
export async function sendHttpRequest(request: HttpRequest): Promise<HttpAnswer> {
  const { endpoint, signal } = request;
  signal?.throwIfAborted();
  const url = checkAddress(request.url, endpoint);
  const connection = new AbortController();
  const stopListening = onAbort(signal, () => connection.abort());
  const close = () => {
    stopListening();
    connection.abort();
  };
  try {
    const response = await fetchHeaders(request, url, connection.signal);
    const answer = toAnswer(request, response, close);
    if (!response.ok) throw await refusal(answer, response);
    return answer;
  } catch (error) {
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
      ...(body !== undefined && { body: toRequestBody(body) }),
      redirect: 'manual',
      signal,
    });
    return await withDeadline(response, {
      ms: limits.connectMs,
      signal: request.signal,
      expired: () => timeLimitError(endpointName(endpoint), 'connect', limits.connectMs),
    });
  } catch (error) {
    request.signal?.throwIfAborted();
    throw error instanceof LLMError ? error : connectionError(endpoint, error);
  }
}

function toAnswer(request: HttpRequest, response: Response, close: () => void): HttpAnswer {
  const { endpoint, limits, signal } = request;
  const reader = response.body?.getReader();
  const watch = createDeadlineWatch(signal);
  let received = 0;
  let wrapping = 0;
  let peeked: Uint8Array | undefined;
  const silence: ReadTimeLimit = { ms: limits.idleMs, limit: 'idle', of: limits.idleMs };
  const readOn = async ({ ms, limit, of } = silence) => {
    if (!reader) return undefined;
    try {
      const { value } = await watch.wait(reader.read(), ms, () => timeLimitError(endpointName(endpoint), limit, of));
      received += value?.byteLength ?? 0;
      if (received - Math.min(wrapping, 3 * limits.answerBytes) > limits.answerBytes)
        throw responseTooLongError(endpoint, 'answer', limits.answerBytes);
      return value;
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof LLMError ? error : connectionInterruptedError(endpoint, error);
    }
  };
  return {
    endpoint,
    limits,
    signal,
    contentType: (response.headers.get('content-type') ?? '').toLowerCase(),
    rateLimit: parseRateLimitHeaders(response.headers, Date.now()),
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
      reader?.cancel().catch(() => {}); // a failed body rejects again
      close();
    },
  };
}

/**
 * Detects the kind of a body by its first character, which gateways preserve, else by the content type. `text`: the page of a proxy or
 * captive portal.
 */
export async function detectBodyKind(answer: HttpAnswer): Promise<'events' | 'json' | 'text'> {
  if (answer.contentType.includes('html')) return 'text';
  const beginning = new TextDecoder().decode((await answer.peek())?.subarray(0, 64)).trimStart();
  if (/^[[{]/.test(beginning)) return 'json';
  if (beginning.startsWith('<')) return 'text';
  return answer.contentType.includes('json') && !/^[deir:]/.test(beginning) ? 'json' : 'events'; // `data:`, `: comment`
}

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
  return httpStatusToError(endpoint, response.status, parseOrText(await readErrorBodyStart(answer)), response.headers);
}

/** Reads at most 64 KiB of a body for an error message; read errors are ignored. */
export async function readErrorBodyStart(answer: HttpAnswer): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    const soon: ReadTimeLimit = { ms: 5000, limit: 'idle', of: 5000 };
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
    throw unreadableAnswerError(answer.endpoint, text);
  }
}

/**
 * Returns the error of an invalid message; an empty message is retryable. `begun`: earlier messages of the answer were valid, so the
 * address is correct.
 */
export function unreadableAnswerError(endpoint: Endpoint, text: string, begun = false): LLMError {
  const beginning = redact(htmlToPlainText(text), endpoint.secrets);
  const name = endpointName(endpoint);
  const notAnAnswer = (text: string) => message('{0} sent something that is not an answer of a model: {1}', name, text);
  const messageText =
    beginning === ''
      ? message('{0} sent an empty answer.', name)
      : begun
        ? notAnAnswer(beginning)
        : joinLocalizableTexts([notAnAnswer(withClosingPunctuation(beginning)), endpointNotFoundAdvice(endpoint)]);
  return new LLMError('LLM_BAD_RESPONSE', messageText, { retryable: beginning === '' });
}

export function responseTooLongError(endpoint: Endpoint, what: 'answer' | 'event', bytes: number): LLMError {
  const size = bytes >= 1_048_576 ? `${Math.round(bytes / 1_048_576)} MiB` : message('{0} bytes', bytes);
  const text = message(
    what === 'answer' ? '{0} sent an answer of more than {1}.' : '{0} sent an event of more than {1}.',
    endpointName(endpoint),
    size,
  );
  return new LLMError('LLM_BAD_RESPONSE', text);
}

/** Rejects unencrypted URLs, except on this machine, so that a key is never sent in plain text. */
function checkAddress(address: string, endpoint: Endpoint): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    const text = message('The address of {0} is not a web address (https://…).', providerLabel(endpoint));
    throw new LLMError('LLM_HTTP_ERROR', text);
  }
  if (url.username || url.password) {
    const text = withMessageLinks(
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
