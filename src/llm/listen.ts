import type { ChatRequest, ChatStreamChunk, LLMClient, Reply } from './client.ts';
import { createWatch, inWords } from './clock.ts';
import { withDistinctNames } from './distinct.ts';
import { LLMError } from './errors.ts';
import type { RateLimiter } from './rateLimit.ts';

/** Milliseconds; 0 is off. */
export interface TimeLimits {
  /** Until the client gives any sign: connected, loading, reading the prompt. */
  connectMs: number;
  /** Until the first text, thinking or call. A local model may take minutes: off for it. */
  firstTokenMs: number;
  /** Between two chunks after that; a provider's keep-alive counts as one. */
  idleMs: number;
}

interface Listening {
  client: LLMClient;
  limits: TimeLimits & { totalMs: number };
  limiter: RateLimiter | undefined;
  request: ChatRequest;
  reply: Reply;
  /** Becomes true with the first thing that a person could see. */
  shown: { any: boolean };
  /** On the clock of `performance.now`. */
  deadline: number;
  signal: AbortSignal;
  onChunk?(chunk: ChatStreamChunk): void;
}

/** Adds one streamed reply to `reply`. Leaves the client behind when it is stopped or out of time: it may be hung. */
export async function listen({
  client,
  limits,
  limiter,
  request,
  reply,
  shown,
  deadline,
  signal,
  onChunk,
}: Listening): Promise<void> {
  signal.throwIfAborted();
  const left = new AbortController();
  const distinct = withDistinctNames(request);
  const chunks = client.chatStream(distinct?.request ?? request, AbortSignal.any([signal, left.signal]));
  const watch = createWatch(signal);
  const started = performance.now();
  let heard = false;
  try {
    for (;;) {
      const limit = nextLimit(limits, heard, shown.any, started, deadline);
      const expired = () => timeOut(`${request.model} ${limit.what} ${inWords(limit.limit)}.`);
      const step = await watch.wait(chunks.next(), limit.ms, expired);
      if (step.done) throw new LLMError('LLM_INCOMPLETE', 'The answer broke off before its end.', { retryable: true });
      const chunk = distinct?.ownNames(step.value) ?? step.value;
      heard = true;
      shown.any ||= Boolean(chunk.content || chunk.thinking || chunk.toolCallDelta || chunk.toolCall);
      if (chunk.rateLimit) limiter?.hear(chunk.rateLimit);
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

function nextLimit(
  limits: TimeLimits & { totalMs: number },
  heard: boolean,
  shown: boolean,
  started: number,
  deadline: number,
) {
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
