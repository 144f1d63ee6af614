import * as z from 'zod';
import { isObject, type JsonObject } from '../core/json.ts';
import { optionalNonEmptyStringSchema } from './wireFields.ts';

export interface ErrorBody {
  /** User-facing message of the body, unredacted; '' if absent. */
  words: string;
  codes: string[];
  parameter?: string;
  status?: number;
  /** Milliseconds to wait in Google's format: `error.details[] = {@type: …RetryInfo, retryDelay: "34s"}`. */
  retryDelayMs?: number;
  /** Google: `error.details[] = {@type: …QuotaFailure, violations: [{quotaId: "GenerateRequestsPerDayPerProjectPerModel"}]}` */
  dailyQuota: boolean;
}

export function readErrorBody(body: unknown): ErrorBody {
  const objects = errorObjects(body);
  const codes = objects.flatMap(({ code, type, status }) =>
    [code, type, status].filter((one) => typeof one === 'string'),
  );
  const parameter = objects.find(({ param }) => param !== undefined)?.param ?? fieldIn(body);
  const text = errorBodyMessage(body) || codes.join(' ');
  const status = statusIn(objects) ?? statusOf(codes.join(' '), text);
  const details = objects.flatMap((object) => object.details);
  const retryDelayMs = details.map(({ retryDelay }) => retryDelay).find((delay) => delay !== undefined);
  return {
    words: text,
    codes,
    ...(parameter !== undefined && { parameter }),
    ...(status !== undefined && { status }),
    ...(retryDelayMs !== undefined && { retryDelayMs }),
    dailyQuota: details.some(({ violations }) => violations.some(({ quotaId }) => quotaId?.includes('PerDay'))),
  };
}

const code = z.union([z.string(), z.number()]).optional().catch(undefined);
const detailSchema = z.object({
  retryDelay: z
    .string()
    .regex(/^\d+(\.\d+)?s$/)
    .transform((delay) => Number.parseFloat(delay) * 1000 || undefined) // "0s" is no information
    .optional()
    .catch(undefined),
  violations: z.array(z.object({ quotaId: optionalNonEmptyStringSchema }).catch({})).catch([]),
});
const errorSchema = z.object({
  code,
  type: optionalNonEmptyStringSchema,
  status: code,
  status_code: code,
  http_status: code,
  param: optionalNonEmptyStringSchema,
  details: z.array(detailSchema.catch({ violations: [] })).catch([]),
});
type ErrorObject = z.infer<typeof errorSchema>;

/** Returns the objects with error fields: the content of `{error: {…}}` and its parent; MiniMax's `base_resp`; Gemini's list. */
function errorObjects(body: unknown): ErrorObject[] {
  const first = Array.isArray(body) ? body[0] : body;
  if (!isObject(first)) return [];
  const objects = [first.error, first.base_resp, first].filter(isObject);
  return objects.map((object) => errorSchema.parse(object));
}

function statusIn(objects: readonly ErrorObject[]): number | undefined {
  const candidates = objects.flatMap((object) => [object.code, object.status_code, object.status, object.http_status]);
  return candidates.map(Number).find((status) => Number.isInteger(status) && status >= 400 && status < 600);
}

function statusOf(codes: string, text: string): number | undefined {
  if (/^unexpected endpoint or method/i.test(text)) return 404; // LM Studio answers 200 to a wrong path
  if (/rate.?limit|too_many_requests|resource_exhausted|insufficient_quota/i.test(codes)) return 429;
  return /authentication|invalid_api_key|permission/i.test(codes) ? 401 : undefined;
}

export function htmlToPlainText(text: string): string {
  const plain = beginningOf(text, 20_000)
    .replace(/<(script|style|head)\b[\s\S]*?<\/\1\s*>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return beginningOf(plain, 500);
}

/** Truncates between words, so that a repeated key is complete and `redact` finds the key. */
function beginningOf(text: string, most: number): string {
  return text.length <= most
    ? text
    : text
        .slice(0, most)
        .replace(/[!-~]{1,100}$/, '')
        .trimEnd();
}

/** Returns the rejected field of a FastAPI server: `{detail: [{loc: ["body", "temperature"], msg}]}`. */
function fieldIn(body: unknown): string | undefined {
  const { detail } = isObject(body) ? body : {};
  const [first] = Array.isArray(detail) ? detail : [];
  if (!isObject(first) || !Array.isArray(first.loc)) return undefined;
  const names = first.loc[0] === 'body' ? first.loc.slice(1) : first.loc;
  return names.length > 0 ? names.join('.') : undefined;
}

const wordFields = ['error', 'message', 'detail', 'errors', 'msg', 'error_description', 'title'];
const isWordField = (name: string): boolean => /(message|msg|error|fault|detail|reason|resp|string)s?$/i.test(name);

/**
 * Returns the message of an error body: `{error: {message}}` (OpenAI), `{error: "…"}` (Ollama, xAI), `{detail}` (FastAPI, Mistral; also a
 * list of `{msg}`), `{message}` (vLLM), `[{error}]` (Gemini), `{errors: […]}`, `{error_message}`, `{base_resp: {status_msg}}` (MiniMax),
 * `{fault: {faultstring}}` (Apigee).
 */
export function errorBodyMessage(body: unknown, depth = 0): string {
  if (typeof body === 'string') return htmlToPlainText(body);
  if (depth > 5) return '';
  if (Array.isArray(body)) {
    const messages = body.slice(0, 5).map((item) => errorBodyMessage(item, depth + 1));
    return messages.filter((message) => message !== '').join('; ');
  }
  if (!isObject(body)) return '';
  for (const key of [...wordFields, ...Object.keys(body).filter(isWordField)]) {
    const message = errorBodyMessage(body[key], depth + 1);
    if (message !== '') return withUpstream(message, body);
  }
  return '';
}

/** Returns true for an error object: a field `error`, `error_message`, `errors` or `fault`, an error type, or a code with a message. */
export function isErrorObject(event: JsonObject): boolean {
  if (
    Object.entries(event).some(
      ([name, value]) => /^(err(or)?s?|faults?|exception)([_A-Z]|$)/.test(name) && isGiven(value),
    )
  )
    return true;
  const { object, type, status, success, code, detail, base_resp: base } = event;
  if (object === 'error' || type === 'error' || success === false || isGiven(detail)) return true;
  if (isObject(base) && isGiven(base.status_code)) return true;
  const failed = typeof status === 'string' ? /^(error|fail)/i.test(status) : Number(status) >= 400;
  const coded = isGiven(code) && !/^(2\d\d|ok|success)$/i.test(String(code));
  return (failed || coded) && errorBodyMessage(event) !== '';
}

/** Returns false for empty values: servers send null, empty, `{}`, 0 or false. */
const isGiven = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value) && value !== '0';

/** Adds `metadata.raw`, because OpenRouter's own message is only "Provider returned error". */
function withUpstream(message: string, body: JsonObject): string {
  const raw = isObject(body.metadata) ? body.metadata.raw : undefined;
  return typeof raw === 'string' && raw !== '' ? `${message}: ${htmlToPlainText(raw)}` : message;
}
