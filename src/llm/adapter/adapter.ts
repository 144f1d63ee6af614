import type { AssistantMessage, ErrorInfo, TokenUsage } from '../../protocol/content/messages.ts';
import { message } from '../../protocol/text/l10n.ts';
import { messageOf } from '../../protocol/text/localized.ts';
import { type ChatRequest, type ChatStreamChunk, type FinishReason, type LLMClient, Reply } from '../core/client.ts';
import { sleep } from '../core/deadlines.ts';
import { LLMError } from '../core/errors.ts';
import { withWriter } from '../messages/providerMetadata.ts';
import { leastCost, type Price, withCost } from '../models/prices.ts';
import type { RateLimiter, Reservation } from './rateLimit.ts';
import { estimateTokens, type RateWait, waitForRateLimit } from './rateLimitWait.ts';
import { readStream, type TimeLimits } from './readStream.ts';
import { type CachedReply, cachedChunks, cacheKeyOf, type ResponseCache } from './responseCache.ts';
import { decideRetry } from './retry.ts';

/** Milliseconds; a time limit of 0 is off. */
export interface AdapterLimits extends TimeLimits {
  /** The whole call with its retries. */
  totalMs: number;
  retries: number;
  baseDelayMs: number;
  maxDelayMs: number;
  retryAfterCapMs: number;
  /** A quarter more or less on our own waits. */
  jitter: boolean;
  /** For requests that say nothing of it: tokens to think with; 0: as the provider has it. */
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
   * The reply. After a failure or a stop: what had come of it, `incomplete`, with the calls that were already
   * complete; whether any of them counts is for the loop to say. Absent when nothing had come.
   */
  message?: AssistantMessage;
  finishReason?: FinishReason;
  model?: string;
  usage?: TokenUsage;
  error?: ErrorInfo;
  /** Stopped by the signal; no `error` then. */
  aborted?: boolean;
  /** The reply was given before, to the same request; nothing was sent or is paid, and `usage` is what it took then. */
  cached?: boolean;
  attempts: number;
  /** Time spent waiting before and between attempts. */
  delayMs: number;
}

/** `attempt` is the one that follows (2: the first retry), `until` when it begins (epoch ms). */
export interface RetryWait {
  attempt: number;
  delayMs: number;
  until: number;
  error: ErrorInfo;
}

export interface CompleteOptions {
  signal: AbortSignal;
  /** May be answered with an earlier reply, at temperature 0 and where the adapter has a cache. */
  cache?: boolean;
  /** In place of the adapter's own, for this call. */
  limits?: Partial<Pick<AdapterLimits, 'retries' | 'baseDelayMs' | 'maxDelayMs' | 'jitter'>>;
  /** Hears the reply while it comes: of one that broke off unseen and is asked for again, the beginning once more. */
  onChunk?(chunk: ChatStreamChunk): void;
  /** Whether a person sees something of what `onChunk` heard: that is never asked for again. Without it: all of it. */
  shows?(chunk: ChatStreamChunk): boolean;
  /** Its event `now` ends the wait that the call is in. */
  hurry?: EventTarget;
  onRetry?(wait: RetryWait): void;
  onWait?(wait: RateWait): void;
}

export interface LlmAdapter {
  /** One model call. Never throws; after a stop it returns at once, and no chunk follows. */
  complete(request: ChatRequest, options: CompleteOptions): Promise<AdapterResult>;
  /** US dollars that a call with a prompt of so many tokens costs at least; undefined: what the model costs is not known. */
  leastCost?(model: string, tokens: number): number | undefined;
}

/** What an adapter shares with others of its provider. */
export interface AdapterParts {
  limiter?: RateLimiter;
  /** Asked only for calls that allow it. `provider` keeps the replies of one endpoint from another's. */
  cache?: { replies: ResponseCache; provider: string };
  /** Of the model that was asked, or that says it has answered: where it is known, `usage` says what the call cost. */
  priceOf?(model: string, answered?: string): Price | undefined;
}

/** Makes a client dependable: time limits, retries as long as nothing was shown, failures as values. */
export function createAdapter(
  client: LLMClient,
  limits: Partial<AdapterLimits> = {},
  parts: AdapterParts = {},
): LlmAdapter {
  const all = { ...defaultAdapterLimits, ...limits };
  return {
    leastCost: (model, tokens) => leastCost(tokens, parts.priceOf?.(model)),
    async complete(asked, options) {
      const thinkingBudget = asked.thinkingBudget ?? all.thinkingBudget;
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
      if (result.usage) result.usage = withCost(result.usage, parts.priceOf?.(request.model, result.model));
      if (result.message) result.message = withWriter(result.message, request.model);
      const { message, finishReason, model, usage } = result;
      if (key !== undefined && result.success && message && finishReason && finishReason !== 'length') {
        parts.cache?.replies.set(key, { message, finishReason, model, usage });
      }
      return result;
    },
  };
}

function answerAgain(kept: CachedReply, { onChunk }: CompleteOptions): AdapterResult {
  const reply = unpaid(kept);
  const result = { message: reply.message, ...endOf(reply), cached: true, attempts: 0, delayMs: 0 };
  try {
    for (const chunk of cachedChunks(reply)) onChunk?.(chunk);
    return { success: true, ...result };
  } catch (thrown) {
    return { success: false, ...result, error: toLLMError(thrown).toInfo() };
  }
}

/** What it cost then is not paid twice. */
function unpaid({ usage, ...reply }: CachedReply): CachedReply {
  return { ...reply, ...(usage && { usage: usage.cost === undefined ? usage : { ...usage, cost: 0 } }) };
}

interface Call {
  client: LLMClient;
  limits: AdapterLimits;
  limiter: RateLimiter | undefined;
  request: ChatRequest;
  options: CompleteOptions;
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
    const reply = new Reply();
    const shown = { any: false };
    let place: Reservation | undefined;
    const counts = () => ({ attempts: attempt + 1, delayMs });
    try {
      place = limiter?.reserve(limiter.countsTokens ? estimateTokens(request) : 0);
      if (!isHurried) delayMs += await waitForRateLimit(place, deadline, call.options); // who is in a hurry wants it sent
      await readStream({ ...call.options, ...call, shows, reply, shown, deadline });
      place?.answered();
      checkEnd(reply, request.model);
      return { success: true, message: reply.toMessage(), ...endOf(reply), ...counts() };
    } catch (thrown) {
      const partial = reply.begun ? { message: { ...reply.toMessage(), incomplete: true } } : {};
      if (signal.aborted) return { success: false, aborted: true, ...partial, ...endOf(reply), ...counts() };
      const error = toLLMError(thrown);
      const failure = (info: ErrorInfo) => ({ success: false, ...partial, ...endOf(reply), error: info, ...counts() });
      if (shown.any) return failure(error.toInfo()); // what was shown cannot be taken back
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
      if (reply.usage) place?.settle(reply.usage.totalTokens);
    }
  }
}

/** Throws for replies that came to their end and are still none. */
function checkEnd(reply: Reply, model: string): void {
  const { finishReason, finishMessage } = reply;
  const words = finishMessage ? `: ${finishMessage}` : '.';
  if (finishReason === 'content_filter') {
    const filtered = message('The provider of {0} filtered this answer{1}', reply.model ?? model, words);
    throw new LLMError('LLM_CONTENT_FILTERED', filtered);
  }
  if (finishReason === 'error' || finishReason === undefined) {
    const text = message('{0} ended its answer with an error{1}', reply.model ?? model, words);
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
