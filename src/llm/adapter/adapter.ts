// @invariant adapter-never-throws: The adapter and the tool host never throw; a client throws only `LLMError` or the abort reason.
import type { AssistantMessage, ErrorInfo, TokenUsage } from '../../protocol/content/messages.ts';
import { message } from '../../protocol/text/l10n.ts';
import { messageOf } from '../../protocol/text/localized.ts';
import {
  type ChatRequest,
  type ChatStreamChunk,
  type FinishReason,
  type LLMClient,
  ReplyAccumulator,
} from '../core/client.ts';
import { sleep } from '../core/deadlines.ts';
import { LLMError } from '../core/errors.ts';
import { withGeneratingModelId } from '../messages/providerMetadata.ts';
import { minRequestCost, type Price, withUsageCost } from '../models/prices.ts';
import type { RateLimiter, RateLimitReservation } from './rateLimit.ts';
import { estimateTokens, type RateLimitWait, waitForRateLimit } from './rateLimitWait.ts';
import { readReplyStream, type TimeLimits } from './readStream.ts';
import { type CachedReply, cachedReplyChunks, cacheKeyOf, type ResponseCache } from './responseCache.ts';
import { decideRetry } from './retry.ts';

/** Time limits (a limit of 0 is disabled), retries and defaults of an adapter. Delays are milliseconds. */
export interface AdapterLimits extends TimeLimits {
  totalMs: number;
  retries: number;
  baseDelayMs: number;
  maxDelayMs: number;
  retryAfterCapMs: number;
  jitter: boolean;
  /** Thinking tokens of a request without a budget or `thinkingOff`; 0 leaves the budget to the provider. */
  thinkingBudget: number;
}

const defaultAdapterLimits: AdapterLimits = {
  connectMs: 60_000,
  firstTokenMs: 600_000,
  idleMs: 120_000,
  totalMs: 0,
  retries: 3,
  baseDelayMs: 1000,
  maxDelayMs: 60_000,
  retryAfterCapMs: 60_000,
  jitter: true,
  thinkingBudget: 0,
};

export interface AdapterResult {
  success: boolean;
  /**
   * The reply. After a failure or a stop: the received part, marked `incomplete`, with the calls already complete. The loop decides if
   * these calls count. Absent if nothing was received.
   */
  message?: AssistantMessage;
  finishReason?: FinishReason;
  model?: string;
  usage?: TokenUsage;
  error?: ErrorInfo;
  aborted?: boolean;
  /**
   * True if an earlier reply to the same request was reused. Nothing was sent or billed, and `usage` is the usage of the original reply.
   */
  cached?: boolean;
  attempts: number;
  delayMs: number;
}

/** A wait before a retry. `attempt` is the attempt after the wait (2: the first retry), `until` its start (epoch ms). */
export interface RetryWait {
  attempt: number;
  delayMs: number;
  until: number;
  error: ErrorInfo;
}

export interface CompletionOptions {
  signal: AbortSignal;
  /** Allows a cached reply: only at temperature 0, and only if the adapter has a cache. */
  cache?: boolean;
  limits?: Partial<Pick<AdapterLimits, 'retries' | 'baseDelayMs' | 'maxDelayMs' | 'jitter'>>;
  /**
   * Receives the chunks of the reply. A reply that broke off before anything was shown is requested again, and its beginning is delivered
   * twice.
   */
  onChunk?(chunk: ChatStreamChunk): void;
  /**
   * Returns true if the chunk is visible to the user. A reply with visible content is never requested again. Absent: every chunk is
   * visible.
   */
  shows?(chunk: ChatStreamChunk): boolean;
  /** Event target whose event `now` ends the current wait of the call. */
  hurry?: EventTarget;
  onRetry?(wait: RetryWait): void;
  onWait?(wait: RateLimitWait): void;
}

export interface LLMAdapter {
  /** Runs one model call. Never throws; after a stop, returns at once and delivers no further chunk. */
  complete(request: ChatRequest, options: CompletionOptions): Promise<AdapterResult>;
  /**
   * Returns the minimum cost, in US dollars, of a call with a prompt of `tokens` tokens; undefined if the price of the model is unknown.
   */
  leastCost?(model: string, tokens: number): number | undefined;
}

export interface AdapterDependencies {
  limiter?: RateLimiter;
  cache?: { replies: ResponseCache; provider: string };
  /** Returns the price of the requested model, or of the model named in the answer. With a price, `usage` contains the cost. */
  priceOf?(model: string, answered?: string): Price | undefined;
}

/** Creates the reliable wrapper of a client: time limits, retries until something was shown, failures as values. */
export function createAdapter(
  client: LLMClient,
  limits: Partial<AdapterLimits> = {},
  parts: AdapterDependencies = {},
): LLMAdapter {
  const all = { ...defaultAdapterLimits, ...limits };
  return {
    leastCost: (model, tokens) => minRequestCost(tokens, parts.priceOf?.(model)),
    async complete(asked, options) {
      const thinkingBudget = asked.thinkingOff ? 0 : (asked.thinkingBudget ?? all.thinkingBudget);
      const request = thinkingBudget > 0 ? { ...asked, thinkingBudget } : asked;
      const key = options.cache && parts.cache ? cacheKeyOf(parts.cache.provider, request) : undefined;
      const known = key === undefined || options.signal.aborted ? undefined : parts.cache?.replies.get(key);
      if (known) return answerAgain(known, options);
      const result = await complete({
        client,
        limits: { ...all, ...options.limits },
        limiter: parts.limiter,
        request,
        options,
      });
      if (result.usage) result.usage = withUsageCost(result.usage, parts.priceOf?.(request.model, result.model));
      if (result.message) result.message = withGeneratingModelId(result.message, request.model);
      const { message, finishReason, model, usage } = result;
      if (key !== undefined && result.success && message && finishReason && finishReason !== 'length') {
        parts.cache?.replies.set(key, { message, finishReason, model, usage });
      }
      return result;
    },
  };
}

function answerAgain(cached: CachedReply, { onChunk }: CompletionOptions): AdapterResult {
  const reply = unpaid(cached);
  const result = { message: reply.message, ...endOf(reply), cached: true, attempts: 0, delayMs: 0 };
  try {
    for (const chunk of cachedReplyChunks(reply)) onChunk?.(chunk);
    return { success: true, ...result };
  } catch (thrown) {
    return { success: false, ...result, error: toLLMError(thrown).toInfo() };
  }
}

function unpaid({ usage, ...reply }: CachedReply): CachedReply {
  return { ...reply, ...(usage && { usage: usage.cost === undefined ? usage : { ...usage, cost: 0 } }) };
}

interface Call {
  client: LLMClient;
  limits: AdapterLimits;
  limiter: RateLimiter | undefined;
  request: ChatRequest;
  options: CompletionOptions;
}

async function complete(call: Call): Promise<AdapterResult> {
  const { limits, limiter, request } = call;
  const { signal, onRetry, onChunk, shows = () => onChunk !== undefined } = call.options;
  const deadline = limits.totalMs > 0 ? performance.now() + limits.totalMs : Number.POSITIVE_INFINITY;
  const policy = { ...limits, baseMs: limits.baseDelayMs, maxMs: limits.maxDelayMs };
  let delayMs = 0;
  let slips = 0;
  let isHurried = false;
  for (let attempt = 0; ; attempt++) {
    const reply = new ReplyAccumulator();
    const shown = { any: false };
    let reservation: RateLimitReservation | undefined;
    const counts = () => ({ attempts: attempt + 1, delayMs });
    try {
      reservation = limiter?.reserve(limiter.countsTokens ? estimateTokens(request) : 0);
      if (!isHurried) delayMs += await waitForRateLimit(reservation, deadline, call.options); // the user wants the request sent immediately
      await readReplyStream({ ...call.options, ...call, shows, reply, shown, deadline });
      reservation?.answered();
      checkEnd(reply, request.model);
      return { success: true, message: reply.toMessage(), ...endOf(reply), ...counts() };
    } catch (thrown) {
      const partial = reply.begun ? { message: { ...reply.toMessage(), incomplete: true } } : {};
      if (signal.aborted) return { success: false, aborted: true, ...partial, ...endOf(reply), ...counts() };
      const error = toLLMError(thrown);
      const failure = (info: ErrorInfo) => ({ success: false, ...partial, ...endOf(reply), error: info, ...counts() });
      if (shown.any) return failure(error.toInfo()); // shown text cannot be withdrawn
      if (error.retryable === 'once' && ++slips > 1) return failure(error.toInfo());
      const decision = decideRetry(error, attempt, policy, Math.random);
      if ('giveUp' in decision) return failure(decision.giveUp);
      if (performance.now() + decision.delayMs > deadline) return failure(error.toInfo());
      if (error.code === 'LLM_RATE_LIMITED') limiter?.hold(decision.delayMs);
      try {
        const until = Date.now() + decision.delayMs;
        onRetry?.({ attempt: attempt + 2, delayMs: decision.delayMs, until, error: error.toInfo() });
        isHurried = await sleep(decision.delayMs, signal, call.options.hurry);
      } catch (thrown) {
        if (signal.aborted) return { success: false, aborted: true, ...counts() };
        return failure(toLLMError(thrown).toInfo());
      }
      delayMs += decision.delayMs;
    } finally {
      if (reply.usage) reservation?.settle(reply.usage.totalTokens);
    }
  }
}

function checkEnd(reply: ReplyAccumulator, model: string): void {
  const { finishReason, finishMessage } = reply;
  const detail = finishMessage ? `: ${finishMessage}` : '.';
  if (finishReason === 'content_filter') {
    const filtered = message('The provider of {0} filtered this answer{1}', reply.model ?? model, detail);
    throw new LLMError('LLM_CONTENT_FILTERED', filtered);
  }
  if (finishReason === 'error' || finishReason === undefined) {
    const text = message('{0} ended its answer with an error{1}', reply.model ?? model, detail);
    throw new LLMError('LLM_BAD_RESPONSE', text, { retryable: true });
  }
  if (reply.content.trim() === '' && reply.toolCalls.length === 0 && finishReason !== 'length') {
    const nothing = reply.thinking.trim()
      ? message('The model ended after its thinking, without an answer.')
      : message('The model returned an empty answer.');
    throw new LLMError('LLM_BAD_RESPONSE', nothing, { retryable: 'once', reason: 'empty' });
  }
}

function endOf({
  finishReason,
  model,
  usage,
}: Omit<CachedReply, 'message' | 'finishReason'> & Pick<AdapterResult, 'finishReason'>): Pick<
  AdapterResult,
  'finishReason' | 'model' | 'usage'
> {
  return { ...(finishReason && { finishReason }), ...(model && { model }), ...(usage && { usage }) };
}

function toLLMError(thrown: unknown): LLMError {
  if (thrown instanceof LLMError) return thrown;
  return new LLMError('UNKNOWN', messageOf(thrown) || message('Something went wrong.'), { cause: thrown });
}
