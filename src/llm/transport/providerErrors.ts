import type { ErrorInfo } from '../../protocol/content/messages.ts';
import type { ErrorReason, LLMErrorCode } from '../../protocol/text/codes.ts';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { withMessageLinks } from '../../protocol/text/links.ts';
import { joinLocalizableTexts, type LocalizableText } from '../../protocol/text/localized.ts';
import { LLMError, type Retryability } from '../core/errors.ts';
import { retryAfterOf } from '../core/rateLimitHeaders.ts';
import { isOutputLimitRejection } from '../messages/outputLimit.ts';
import { providerLabel } from '../models/providers.ts';
import { type ErrorBody, readErrorBody } from './errorBody.ts';
import { redact } from './redact.ts';

/** Target of requests in user-facing messages; every message redacts `secrets`. */
export interface Endpoint {
  label: string;
  host: string;
  secrets: readonly string[];
  hasKey: boolean;
  credentials?: LocalizedMessage;
  notFoundHint?: LocalizableText;
}

/** Form of `LLMError.details`: the provider's answer. */
export interface ProviderErrorDetails {
  status?: number;
  words: string;
  parameter?: string;
  window?: number;
  /** True if the conversation may be too long: the status fits, and the message names no other cause. */
  mayBeFull?: true;
}

export function endpointName(endpoint: Endpoint): LocalizableText {
  const label = providerLabel(endpoint);
  const where = ` (${endpoint.host})`;
  return typeof label === 'string' ? label + where : joinLocalizableTexts([label, where], '');
}

export const endpointNotFoundAdvice = (endpoint: Endpoint): LocalizableText =>
  endpoint.notFoundHint ?? message('Check the address and the name of the model.');

const keyIsBad =
  /api_key_invalid|(invalid|incorrect|missing|wrong|unknown|no|valid) (\w+ )?api[ _-]?key|api[ _-]?key[^.]{0,30}(invalid|not valid|incorrect|missing|expired|not found)/i;
/**
 * Messages about a conversation that is too long: a part of the request that is too much, or a limit of the context. Besides the messages
 * at `windowPatterns`: Z.ai ("Prompt exceeds max length"), GitHub Copilot ("prompt token count of 140001 exceeds the limit of"), Ark ("exceed
 * max message tokens"), MiniMax ("context window exceeds limit (2013)", where the number is no size), Cohere and Bedrock ("too many input
 * tokens"), old llama.cpp ("failed to find free space in the KV cache"). Others are found by `isPossibleContextOverflow`.
 */
const windowTerms = new RegExp(
  [
    /(context_length|context_window|max_context\w*)_exceeded|context ?window ?exceeded|exceed_context_size|(prompt|input|tokens)_too_long|tokens?_limit_(reached|exceeded)/,
    /maximum (context|prompt) length|context length (of|is) only|(available|configured) context size/,
    /\b(prompt|input)( prompt| length| tokens)?( \([^)]*\))?( is)? too (long|large)|max(imum)? length exceeded|max(imum)? input (characters|tokens) is|tokens exceeds? limit|too many (input |prompt )?tokens/,
    /(exceed|larger than|longer than|greater than|less than|shorter than)[^.]{0,60}(context|token limit|maximum number of tokens|max_\w*len)/,
    /exceed(s|ed|ing)?( the| your)? max(imum)?( allowed| input| sequence| message| prompt| model)*[ _](length|len|tokens)/,
    /(context (window|length|size|limit)|token count|number of tokens)[^.]{0,40}exceed/,
    /range of input length should be|tokens?\b[^.]{0,40}must be <|must have (less|fewer) than \d+ tokens/,
    /超长|(长度|上下文|token).{0,12}(超过|超出|过长)|(超过|超出).{0,12}(长度|上下文|token)/,
    /reduce the length of the (messages|prompt|input)|(space|slot) in the kv cache/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);
/** A single text or list is too long for its field (a description, an id, tools), independent of the conversation. */
const oneTextIsLong = /(string|array)_above_max_length|(string|array) too long|should have at most/i;
const hasManyMessages = /'(messages|input)': array too long/i;
/** Rate or quota limits: a shorter conversation does not help. */
const asksToWait =
  /throttl|rate.?limit|per (minute|hour|day|month)|too many requests|overload|at capacity|try again (later|in)\b|please wait/i;
export const isContextOverflowText = (rejection: string): boolean =>
  (windowTerms.test(rejection) && !oneTextIsLong.test(rejection) && !asksToWait.test(rejection)) ||
  hasManyMessages.test(rejection);
/** The request exceeds the account's tokens per minute (Groq: 413, OpenAI: 429), so waiting does not help. */
const moreThanAMinute = /\blimit:? (\d[\d,]*), requested:? (\d[\d,]*)/i;
const isFiltered = /content_filter|content_policy_violation|ResponsibleAIPolicyViolation|invalid_prompt|bio_policy/;
/**
 * Messages that require another model: the name is unknown (OpenAI, Groq, Mistral: codes; vLLM, Ollama, LM Studio: text), or a feature is
 * unsupported (Ollama "does not support tools", OpenRouter "No endpoints found that support image input").
 */
const modelIsOther =
  /model_not_found|model_decommissioned|invalid_model|not a valid model|(no such|unknown|invalid) model|model[^.]{0,120}(not found|not exist|not available|not loaded|decommissioned)|(not|n't) support[^.]{0,40}(tool|function|image|vision|multimodal)|support (tool use|image input)/i;
const quotaIsSpent =
  /insufficient_quota|exceeded your current quota|insufficient (balance|credit)|credit balance is too low/i;

const count = '(\\d[\\d,]{2,11})';
/**
 * Context sizes in messages: OpenAI, vLLM, OpenRouter ("maximum context length is 8192 tokens"), Mistral ("32768 maximum context length"),
 * llama.cpp ("the available context size (4096 tokens)"), LM Studio ("context length of only 4096 tokens", "n_ctx: 4096"), Anthropic
 * ("215000 tokens > 200000 maximum"), Google ("number of tokens allowed (1048576)"), xAI ("maximum prompt length is 131072"), Moonshot
 * ("exceeded model token limit: 8192"), TensorRT-LLM ("Prompt length (5056) exceeds maximum sequence length (2048)"), Poolside ("maximum
 * allowed input length of 262144"), DashScope ("Range of input length should be [1, 129024]"), TGI ("must be <= 8193"), SiliconFlow and
 * tabbyAPI ("max_seq_len (32768)"), GitHub Copilot ("exceeds the limit of 128000"), Bedrock ("Max input tokens: 8192").
 */
const windowPatterns = [
  `max(?:imum)?(?: allowed)? (?:input|sequence) length(?: of| is)?[ :(]{1,2}${count}`,
  `input length should be \\[\\d+, ?${count}`,
  `(?:max_\\w*len|n_ctx)[ :(=]{1,3}${count}`,
  `must be <=? ?${count}`,
  `exceeds the limit of ${count}`,
  `max input tokens: ${count}`,
  `(?:context|prompt)[ _](?:length|size|window)(?: limit)?(?: is| of)?(?: only)?[ :(=]{1,3}${count}`,
  `${count} maximum`,
  `max size: ${count}`,
  `max length: ?${count}`,
  `> ${count}`,
  `tokens allowed \\(?${count}`,
  `token limit: ${count}`,
].map((pattern) => new RegExp(pattern, 'i'));

function reportedWindow(rejection: string): number | undefined {
  const reported = windowPatterns.map((pattern) => pattern.exec(rejection)?.[1]).find((found) => found !== undefined);
  return asWindow(reported);
}

function asWindow(reported: string | undefined): number | undefined {
  const tokens = toNumber(reported);
  return tokens >= leastWindow ? tokens : undefined;
}
const leastWindow = 512;

export function reportedContextSize({ code, details }: ErrorInfo): number | undefined {
  const { window } = (details ?? {}) as Partial<ProviderErrorDetails>;
  return code === 'LLM_CONTEXT_OVERFLOW' && typeof window === 'number' ? window : undefined;
}

/**
 * Returns true if a failed request may have been too long without an explicit message. A 500 counts only after repeated failures of the
 * same request.
 */
export function isPossibleContextOverflow({ details }: ErrorInfo, attempts: number): boolean {
  const { mayBeFull = false, status = 0 } = (details ?? {}) as Partial<ProviderErrorDetails>;
  return mayBeFull && (status < 500 || attempts > 1);
}

const refusals = [400, 413, 422, 500];
const isOfConversation = /^(messages|input|prompt|contents|max(_\w+)?_tokens)\b/;
const namesPart =
  /\b(schema|tools?( ?(calls?|use|results?))?|functions?|roles?|signature|grammar|jinja|template|regex|pattern|json|unexpected token|images?|files?|pdf|audio|media|url|base64|account|billing|balance|payment|subscription|access|permission|region|budget|cache control|stop( sequences?)?)\b/i;
const namesFault =
  /\b(un(known|recogni[sz]ed|supported|expected)|extra|missing|required|invalid|malformed|duplicate|deprecated|syntax|parse|without|must|should|cannot|can't|could not|no such|not (found|supported|permitted|allowed|valid|enabled)|(does|do) not)\b/i;
const namesSize = /token|context|window|length|long|large|size|limit|exceed|maximum|at most|too (many|much|big)/i;

function isPossibleLengthRejection(rejection: string, parameter: string | undefined): boolean {
  if (oneTextIsLong.test(rejection) || asksToWait.test(rejection)) return false;
  if (isOutputLimitRejection(`${rejection} ${parameter ?? ''}`)) return false;
  if (parameter !== undefined && !isOfConversation.test(parameter)) return false;
  const plain = rejection.replace(/invalid_request(_error)?|invalid_?parameter(_error)?/gi, '').replaceAll('_', ' '); // removed: the type of nearly every rejection
  return !namesPart.test(plain) && (!namesFault.test(plain) || namesSize.test(plain));
}
/**
 * The server cannot parse the model's output: llama-server ("… output that does not match the expected peg-native format", earlier "Failed
 * to parse input at pos 7"), Ollama ("error parsing tool call"), Groq (codes).
 */
const modelSlipped =
  /output (that )?does not match the expected|failed to parse input at pos|error parsing tool call|tool_use_failed|output_parse_failed|json_validate_failed/i;

/** Converts an answer with a status other than 2xx. `body` is parsed JSON, or text. */
export function httpStatusToError(endpoint: Endpoint, status: number, body: unknown, headers?: Headers): LLMError {
  return toError(endpoint, status, readErrorBody(body), headers);
}

/** Converts an error object in a stream with HTTP 200; the code of the object replaces the status. */
export function streamErrorToError(endpoint: Endpoint, body: unknown): LLMError {
  const read = readErrorBody(body);
  return toError(endpoint, read.status, read);
}

function toError(endpoint: Endpoint, status: number | undefined, body: ErrorBody, headers = new Headers()): LLMError {
  const { codes, parameter, retryDelayMs, dailyQuota } = body;
  const words = redact(body.words, endpoint.secrets);
  const everything = `${words} ${codes.join(' ')}`;
  const name = endpointName(endpoint);
  const reported = words === '' ? '.' : `: ${words}`;
  const objected = parameter && { parameter: redact(parameter, endpoint.secrets).slice(0, 200) };
  const details: ProviderErrorDetails = { ...(status !== undefined && { status }), words, ...objected };
  const retryAfterMs = retryAfterOf(headers, Date.now()) ?? retryDelayMs;
  const error = (code: LLMErrorCode, message: LocalizableText, usually: Retryability, reason?: ErrorReason) => {
    const retryable = mayBeRepeated(code, headers) ?? usually;
    return new LLMError(code, message, { status, retryable, retryAfterMs, reason, details });
  };

  if (status === 401 || status === 403 || (status === 400 && keyIsBad.test(everything))) {
    return error(
      'LLM_AUTH_FAILED',
      endpoint.hasKey ? refusal(endpoint, withClosingPunctuation(reported)) : keyless(name),
      false,
    );
  }
  const perMinute = moreThanAMinute.exec(words);
  if (perMinute && isMore(perMinute[2], perMinute[1])) {
    const window = asWindow(perMinute[1]);
    if (window !== undefined) details.window = window;
    const text = message('The conversation is longer than {0} accepts in one request{1}', name, reported);
    return error('LLM_CONTEXT_OVERFLOW', text, false);
  }
  if (status === 429) {
    // Google also sends "exceeded your current quota" for limits per minute, with a retry delay.
    const spent = quotaIsSpent.test(everything) && (retryDelayMs === undefined || dailyQuota);
    const text = spent
      ? creditSpent(name, reported)
      : message('{0} rejected the request because of its rate limit{1}', name, reported);
    return error('LLM_RATE_LIMITED', text, !spent, spent ? 'no-credit' : undefined);
  }
  if (status === 402 || ((status === 400 || status === undefined) && quotaIsSpent.test(everything))) {
    return error('LLM_HTTP_ERROR', creditSpent(name, reported), false, 'no-credit');
  }
  if ((status === undefined || status < 502) && isContextOverflowText(everything) && !isOutputLimitRejection(words)) {
    const window = reportedWindow(words);
    if (window !== undefined) details.window = window;
    return error(
      'LLM_CONTEXT_OVERFLOW',
      message("The conversation is longer than the model's context window{0}", reported),
      false,
    );
  }
  if ((status === 400 || status === undefined) && isFiltered.test(everything)) {
    return error('LLM_CONTENT_FILTERED', message('{0} filtered this request{1}', name, reported), false);
  }
  if (modelSlipped.test(everything)) {
    return error('LLM_BAD_RESPONSE', message('{0} could not read the output of its model{1}', name, reported), 'once');
  }
  if (status === undefined) {
    const retryable = !/invalid_|\bimage_|bad_request|not_found|unsupported/i.test(everything);
    return error('LLM_HTTP_ERROR', message('{0} ended with an error{1}', name, reported), retryable);
  }
  const reason = status === 404 || modelIsOther.test(everything) ? 'other-model' : undefined;
  if (refusals.includes(status) && !reason && isPossibleLengthRejection(everything, parameter))
    details.mayBeFull = true;
  const answered = (words: string) => message('{0} answered {1}{2}', name, status, words);
  const isLost = status === 404 || status === 405;
  const text = isLost
    ? joinLocalizableTexts([answered(withClosingPunctuation(reported)), endpointNotFoundAdvice(endpoint)])
    : answered(reported);
  return error('LLM_HTTP_ERROR', text, status === 408 || status === 425 || status >= 500, reason);
}

const toNumber = (text = ''): number => Number(text.replaceAll(',', ''));
const isMore = (requested: string | undefined, limit: string | undefined): boolean =>
  toNumber(requested) > toNumber(limit);

const keyless = (name: LocalizableText) =>
  withMessageLinks(message('No API key for {0}. Run *Towpath: Set API Key*.', name), { commands: ['towpath.setKey'] });

const creditSpent = (name: LocalizableText, reported: string) =>
  message('The account at {0} has no credit left{1}', name, reported);

function refusal(endpoint: Endpoint, reported: string): LocalizedMessage {
  const name = endpointName(endpoint);
  const { credentials } = endpoint;
  if (!credentials)
    return withMessageLinks(message('{0} rejected the API key{1} Run *Towpath: Set API Key*.', name, reported), {
      commands: ['towpath.setKey'],
    });
  return withMessageLinks(
    message(
      '{0} rejected {1}{2} Run *Towpath: Set API Key* or *Towpath: Set Header Secret*.',
      name,
      credentials,
      reported,
    ),
    { commands: ['towpath.setKey', 'towpath.setSecret'] },
  );
}

export const withClosingPunctuation = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);

/**
 * Returns `x-should-retry` of the headers (OpenAI, Anthropic; also followed by their libraries); undefined if absent. Ignored for errors
 * that would repeat: a rejected key, a long conversation, a filter.
 */
function mayBeRepeated(code: LLMErrorCode, headers: Headers): boolean | undefined {
  const reported = headers.get('x-should-retry')?.trim().toLowerCase();
  if (reported === 'false') return false;
  return reported === 'true' && (code === 'LLM_HTTP_ERROR' || code === 'LLM_RATE_LIMITED') ? true : undefined;
}
