import type { AssistantMessage, ErrorInfo, TokenUsage } from '../protocol/messages.ts';
import { type ChatRequest, type ChatStreamChunk, type FinishReason, type LLMClient, Reply } from './client.ts';
import { createWatch, inWords, sleep } from './clock.ts';
import { LLMError } from './errors.ts';
import { decideRetry } from './retry.ts';

/** Milliseconds; a time limit of 0 is off. */
export interface AdapterLimits {
  /** Until the client gives any sign: connected, loading, reading the prompt. */
  connectMs: number;
  /** Until the first text, thinking or call. A local model may take minutes: off for it. */
  firstTokenMs: number;
  /** Between two chunks after that; a provider's keep-alive counts as one. */
  idleMs: number;
  /** The whole call with its retries. */
  totalMs: number;
  retries: number;
  baseDelayMs: number;
  maxDelayMs: number;
  retryAfterCapMs: number;
}

export const defaultAdapterLimits: AdapterLimits = {
  connectMs: 60_000,
  firstTokenMs: 600_000,
  idleMs: 120_000,
  totalMs: 0,
  retries: 3,
  baseDelayMs: 1000,
  maxDelayMs: 60_000,
  retryAfterCapMs: 60_000,
};

export interface AdapterResult {
  success: boolean;
  /**
   * The reply. After a failure or a stop: what had been shown of it, `incomplete`, with the calls that were already
   * complete; whether any of them counts is for the loop to say. Absent when nothing had been shown.
   */
  message?: AssistantMessage;
  finishReason?: FinishReason;
  model?: string;
  usage?: TokenUsage;
  error?: ErrorInfo;
  /** Stopped by the signal; no `error` then. */
  aborted?: boolean;
  attempts: number;
  /** Time spent waiting between attempts. */
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
  onChunk?(chunk: ChatStreamChunk): void;
  onRetry?(wait: RetryWait): void;
}

export interface LlmAdapter {
  /** One model call. Never throws; after a stop it returns at once, and no chunk follows. */
  complete(request: ChatRequest, options: CompleteOptions): Promise<AdapterResult>;
}

/** Makes a client dependable: time limits, retries before anything was shown, failures as values. */
export function createAdapter(client: LLMClient, limits: Partial<AdapterLimits> = {}): LlmAdapter {
  const all = { ...defaultAdapterLimits, ...limits };
  return { complete: (request, options) => complete(client, all, request, options) };
}

async function complete(
  client: LLMClient,
  limits: AdapterLimits,
  request: ChatRequest,
  { signal, onChunk, onRetry }: CompleteOptions,
): Promise<AdapterResult> {
  const deadline = limits.totalMs > 0 ? performance.now() + limits.totalMs : Number.POSITIVE_INFINITY;
  const policy = { ...limits, baseMs: limits.baseDelayMs, maxMs: limits.maxDelayMs, jitter: true };
  let delayMs = 0;
  let emptyReplies = 0;
  for (let attempt = 0; ; attempt++) {
    const reply = new Reply();
    const shown = { any: false };
    const counts = { attempts: attempt + 1, delayMs };
    try {
      await listen(client, limits, request, reply, shown, deadline, signal, onChunk);
      checkEnd(reply, request.model);
      return { success: true, message: reply.toMessage(), ...endOf(reply), ...counts };
    } catch (thrown) {
      const partial = reply.shown ? { message: { ...reply.toMessage(), incomplete: true } } : {};
      if (signal.aborted) return { success: false, aborted: true, ...partial, ...endOf(reply), ...counts };
      const error = toLLMError(thrown);
      const failure = (info: ErrorInfo) => ({ success: false, ...partial, ...endOf(reply), error: info, ...counts });
      if (shown.any) return failure(error.toInfo()); // what was shown cannot be taken back
      if (isEmptyReply(error) && ++emptyReplies > 1) return failure(error.toInfo());
      const decision = decideRetry(error, attempt, policy, Math.random);
      if ('giveUp' in decision) return failure(decision.giveUp);
      if (performance.now() + decision.delayMs > deadline) return failure(error.toInfo());
      try {
        const until = Date.now() + decision.delayMs;
        onRetry?.({ attempt: attempt + 2, delayMs: decision.delayMs, until, error: error.toInfo() });
        await sleep(decision.delayMs, signal);
      } catch (thrown) {
        if (signal.aborted) return { success: false, aborted: true, ...counts };
        return failure(toLLMError(thrown).toInfo());
      }
      delayMs += decision.delayMs;
    }
  }
}

/** Adds one streamed reply to `reply`. Leaves the client behind when it is stopped or out of time: it may be hung. */
async function listen(
  client: LLMClient,
  limits: AdapterLimits,
  request: ChatRequest,
  reply: Reply,
  shown: { any: boolean },
  deadline: number,
  signal: AbortSignal,
  onChunk: CompleteOptions['onChunk'],
): Promise<void> {
  signal.throwIfAborted();
  const left = new AbortController();
  const chunks = client.chatStream(request, AbortSignal.any([signal, left.signal]));
  const watch = createWatch(signal);
  const started = performance.now();
  let heard = false;
  try {
    for (;;) {
      const limit = nextLimit(limits, heard, shown.any, started, deadline);
      const expired = () => timeOut(`${request.model} ${limit.what} ${inWords(limit.limit)}.`);
      const step = await watch.wait(chunks.next(), limit.ms, expired);
      if (step.done) throw new LLMError('LLM_INCOMPLETE', 'The answer broke off before its end.', { retryable: true });
      const chunk = step.value;
      heard = true;
      shown.any ||= Boolean(chunk.content || chunk.thinking || chunk.toolCallDelta || chunk.toolCall);
      reply.add(chunk);
      onChunk?.(chunk);
      if (chunk.done) return;
    }
  } finally {
    watch.close();
    left.abort();
    void chunks.return().catch(() => {}); // queued behind a hung step; nobody waits for it
  }
}

const timeOut = (message: string) => new LLMError('LLM_TIMEOUT', message, { retryable: true });

/** An HTTP client keeps the same limits and knows better what happened; it gets a moment to say so first. */
const grace = 1.05;

function nextLimit(limits: AdapterLimits, heard: boolean, shown: boolean, started: number, deadline: number) {
  const now = performance.now();
  let next = { ms: deadline - now, what: 'did not finish within', limit: limits.totalMs };
  const consider = (limit: number, from: number, what: string) => {
    const ms = from + limit * grace - now;
    if (limit > 0 && ms < next.ms) next = { ms, what, limit };
  };
  if (shown) consider(limits.idleMs, now, 'fell silent for');
  else consider(limits.firstTokenMs, started, 'said nothing for');
  if (!heard) consider(limits.connectMs, started, 'gave no sign for');
  return { ...next, ms: next.ms === Number.POSITIVE_INFINITY ? 0 : Math.max(1, next.ms) };
}

const nothingSaid = 'The model answered with nothing.';
const isEmptyReply = (error: LLMError) => error.message === nothingSaid;

/** Throws for replies that came to their end and are still none. */
function checkEnd(reply: Reply, model: string): void {
  const { finishReason } = reply;
  if (finishReason === 'content_filter') {
    throw new LLMError('LLM_CONTENT_FILTERED', `The provider of ${reply.model ?? model} filtered this answer.`);
  }
  if (finishReason === 'error' || finishReason === undefined) {
    const message = `${reply.model ?? model} ended its answer with an error.`;
    throw new LLMError('LLM_BAD_RESPONSE', message, { retryable: true });
  }
  if (reply.content.trim() === '' && reply.toolCalls.length === 0 && finishReason !== 'length') {
    throw new LLMError('LLM_BAD_RESPONSE', nothingSaid, { retryable: true });
  }
}

function endOf({ finishReason, model, usage }: Reply): Pick<AdapterResult, 'finishReason' | 'model' | 'usage'> {
  return { ...(finishReason && { finishReason }), ...(model && { model }), ...(usage && { usage }) };
}

function toLLMError(thrown: unknown): LLMError {
  if (thrown instanceof LLMError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new LLMError('UNKNOWN', message || 'Something went wrong.', { cause: thrown });
}
