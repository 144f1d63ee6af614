import { LLMError, type LLMErrorCode } from './errors.ts';
import { isObject, type JsonObject } from './json.ts';
import { redact } from './redact.ts';

/** Where requests go, as people are told; `secrets` are kept out of every message. */
export interface Endpoint {
  /** What people call it: `OpenAI`, `OpenAI-compatible endpoint`. */
  label: string;
  /** `api.example.com`, `localhost:8080`. */
  host: string;
  secrets: readonly string[];
  hasKey: boolean;
}

/** What the provider said, in `LLMError.details`. */
export interface ProviderWords {
  status?: number;
  /** Its own words, redacted. */
  words: string;
  /** The parameter it objects to, when it names one. */
  parameter?: string;
}

export const nameOf = (endpoint: Endpoint) => `${endpoint.label} (${endpoint.host})`;

const keyIsBad =
  /api_key_invalid|(invalid|incorrect|missing|wrong|unknown|no|valid) (\w+ )?api[ _-]?key|api[ _-]?key[^.]{0,30}(invalid|not valid|incorrect|missing|expired|not found)/i;
const windowIsFull =
  /context_length_exceeded|exceed_context_size|string_above_max_length|maximum context length|available context size|prompt is too long|input is too long|(exceed|larger than|longer than)[^.]{0,60}(context|maximum number of tokens|token limit)|context (window|length|size|limit)[^.]{0,40}exceed|reduce the length of the (messages|prompt|input)/i;
const isFiltered = /content_filter|content_policy_violation|ResponsibleAIPolicyViolation/;
const quotaIsSpent = /insufficient_quota|exceeded your current quota|insufficient (balance|credit)/i;

/** An answer with a status other than 2xx as the error to throw. `body` is parsed JSON, or text. */
export function errorOfStatus(endpoint: Endpoint, status: number, body: unknown, headers?: Headers): LLMError {
  return toError(endpoint, status, body, headers && retryAfterOf(headers, Date.now()));
}

/** An error object inside a stream that began well (HTTP 200): its own code stands in for the status. */
export function errorInStream(endpoint: Endpoint, body: unknown): LLMError {
  return toError(endpoint, statusIn(body), body);
}

function toError(endpoint: Endpoint, status: number | undefined, body: unknown, retryAfterMs?: number): LLMError {
  const words = wordsOf(endpoint, body);
  const everything = `${words} ${codesIn(body).join(' ')}`;
  const name = nameOf(endpoint);
  const said = words === '' ? '.' : `: ${words}`;
  const parameter = parameterIn(body);
  const details: ProviderWords = { ...(status !== undefined && { status }), words, ...(parameter && { parameter }) };
  const error = (code: LLMErrorCode, message: string, retryable: boolean) =>
    new LLMError(code, message, { status, retryable, retryAfterMs: retryAfterMs ?? retryDelayIn(body), details });

  if (status === 401 || status === 403 || (status === 400 && keyIsBad.test(everything))) {
    return endpoint.hasKey
      ? error('LLM_AUTH_FAILED', `${name} refused the API key${endSentence(said)} Run *Towpath: Set API Key*.`, false)
      : error('LLM_AUTH_FAILED', `No API key for ${name}. Run *Towpath: Set API Key*.`, false);
  }
  if (status === 429) {
    // Google says "exceeded your current quota" for each limit a minute too, and then when to come back.
    const spent = quotaIsSpent.test(everything) && (retryDelayIn(body) === undefined || isDailyQuota(body));
    const message = spent ? `The account at ${name} has no credit left` : `${name} asks for fewer requests`;
    return error('LLM_RATE_LIMITED', message + said, !spent);
  }
  if ((status === undefined || status < 502) && windowIsFull.test(everything)) {
    return error('LLM_CONTEXT_OVERFLOW', `The conversation is longer than the model's window${said}`, false);
  }
  if (status === 400 && isFiltered.test(everything)) {
    return error('LLM_CONTENT_FILTERED', `${name} filtered this request${said}`, false);
  }
  if (status === undefined) {
    const retryable = !/invalid_request|bad_request|not_found|unsupported/i.test(everything);
    return error('LLM_HTTP_ERROR', `${name} broke off with an error${said}`, retryable);
  }
  const hint = status === 404 ? ' Check the address (most end in /v1) and the name of the model.' : '';
  const message = `${name} answered ${status}${hint ? endSentence(said) : said}${hint}`;
  return error('LLM_HTTP_ERROR', message, status === 408 || status === 425 || status >= 500);
}

const endSentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);

function wordsOf(endpoint: Endpoint, body: unknown): string {
  return redact(typeof body === 'string' ? asPlainText(body) : messageIn(body), endpoint.secrets);
}

/** HTML or other text as one line of at most 500 characters. */
export function asPlainText(text: string): string {
  return text
    .slice(0, 20_000)
    .replace(/<(script|style|head)\b[\s\S]*?<\/\1\s*>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 500);
}

/**
 * The sentence in an error body, whatever its shape: `{error: {message}}` (OpenAI), `{error: "…"}` (Ollama, xAI),
 * `{detail}` (FastAPI, Mistral; also a list of `{msg}`), `{message}` (vLLM), `[{error}]` (Gemini), `{errors: […]}`.
 */
function messageIn(body: unknown, depth = 0): string {
  if (typeof body === 'string') return asPlainText(body);
  if (depth > 5) return '';
  if (Array.isArray(body)) {
    const messages = body.slice(0, 5).map((item) => messageIn(item, depth + 1));
    return messages.filter((message) => message !== '').join('; ');
  }
  if (!isObject(body)) return '';
  for (const key of ['error', 'message', 'detail', 'errors', 'msg', 'error_description', 'title', 'error_message']) {
    const message = messageIn(body[key], depth + 1);
    if (message !== '') return withUpstream(message, body);
  }
  return '';
}

/** OpenRouter says only "Provider returned error"; the reason is in `metadata.raw`. */
function withUpstream(message: string, body: JsonObject): string {
  const raw = isObject(body.metadata) ? body.metadata.raw : undefined;
  return typeof raw === 'string' && raw !== '' ? `${message}: ${asPlainText(raw)}` : message;
}

function errorObjects(body: unknown): JsonObject[] {
  const first = Array.isArray(body) ? body[0] : body;
  if (!isObject(first)) return [];
  return isObject(first.error) ? [first.error, first] : [first];
}

function codesIn(body: unknown): string[] {
  return errorObjects(body).flatMap((object) =>
    [object.code, object.type, object.status].filter((code) => typeof code === 'string'),
  );
}

function parameterIn(body: unknown): string | undefined {
  for (const { param } of errorObjects(body)) if (typeof param === 'string' && param !== '') return param;
  return undefined;
}

function statusIn(body: unknown): number | undefined {
  for (const object of errorObjects(body)) {
    for (const key of ['code', 'status_code', 'status', 'http_status']) {
      const status = Number(object[key]);
      if (Number.isInteger(status) && status >= 400 && status < 600) return status;
    }
  }
  const codes = codesIn(body).join(' ');
  if (/rate.?limit|too_many_requests|resource_exhausted/i.test(codes)) return 429;
  if (/authentication|invalid_api_key|permission/i.test(codes)) return 401;
  return undefined;
}

/**
 * What the headers ask to wait, in milliseconds: `retry-after-ms` (OpenAI, Azure), else `Retry-After` in seconds or as
 * a date. Nonsense, zero and the past are nothing: then our own back-off holds.
 */
export function retryAfterOf(headers: Headers, now: number): number | undefined {
  const inMs = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (inMs > 0 && Number.isFinite(inMs)) return inMs;
  const text = headers.get('retry-after')?.trim();
  if (!text) return undefined;
  const seconds = Number(text);
  const ms = Number.isNaN(seconds) ? Date.parse(text) - now : seconds * 1000;
  return ms > 0 && Number.isFinite(ms) ? ms : undefined;
}

/** `error.details[] = {@type: …QuotaFailure, violations: [{quotaId: "GenerateRequestsPerDayPerProjectPerModel"}]}` */
function isDailyQuota(body: unknown): boolean {
  return errorObjects(body).some(({ details }) => details !== undefined && /PerDay/.test(JSON.stringify(details)));
}

/** Google says it in the body: `error.details[] = {@type: …RetryInfo, retryDelay: "34s"}`. */
function retryDelayIn(body: unknown): number | undefined {
  for (const { details } of errorObjects(body)) {
    for (const detail of Array.isArray(details) ? details : []) {
      const delay = isObject(detail) && typeof detail.retryDelay === 'string' ? detail.retryDelay : '';
      const seconds = Number(/^([\d.]+)s$/.exec(delay)?.[1] ?? Number.NaN);
      if (seconds > 0) return seconds * 1000;
    }
  }
  return undefined;
}
