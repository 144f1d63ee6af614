import { message } from '../../protocol/text/l10n.ts';
import type { ChatRequest, ChatStreamChunk, LLMClient, ReplyAccumulator } from '../core/client.ts';
import { createDeadlineWatch } from '../core/deadlines.ts';
import { LLMError } from '../core/errors.ts';
import { withUniqueToolNames } from '../messages/uniqueToolNames.ts';
import { type ReadTimeLimit, timeLimitError } from '../transport/timeLimits.ts';
import type { RateLimiter } from './rateLimit.ts';
import { RepetitionGuard } from './repetition.ts';

/**
 * Time limits of a stream in milliseconds; 0 disables a limit. `connectMs` ends with the first sign of the client: connected, loading, or
 * reading the prompt. `userIdleMs` applies between two later chunks, and a keep-alive counts as a chunk.
 */
export interface TimeLimits {
  connectMs: number;
  /**
   * Limit until the first text, thinking or call; restarts when a server reports prompt progress. Disabled for local models, where the
   * prefill may take minutes.
   */
  firstTokenMs: number;
  idleMs: number;
}

interface Listening {
  client: LLMClient;
  limits: TimeLimits & { totalMs: number };
  limiter: RateLimiter | undefined;
  request: ChatRequest;
  reply: ReplyAccumulator;
  shown: { any: boolean };
  deadline: number;
  signal: AbortSignal;
  onChunk?(chunk: ChatStreamChunk): void;
  shows(chunk: ChatStreamChunk): boolean;
}

/** Adds one streamed reply to `reply`. On a stop or timeout, abandons the client, which may be hung. */
export async function readReplyStream({
  client,
  limits,
  limiter,
  request,
  reply,
  shown,
  deadline,
  signal,
  onChunk,
  shows,
}: Listening): Promise<void> {
  signal.throwIfAborted();
  const left = new AbortController();
  const distinct = withUniqueToolNames(request);
  const chunks = client.chatStream(distinct?.request ?? request, AbortSignal.any([signal, left.signal]));
  const watch = createDeadlineWatch(signal);
  const repetition = new RepetitionGuard();
  let since = performance.now();
  let read = -1;
  let hasOutput = false;
  let begun = false;
  try {
    for (;;) {
      const { ms, limit, of } = nextLimit(limits, hasOutput, begun, since, deadline);
      const step = await watch.wait(chunks.next(), ms, () => timeLimitError(request.model, limit, of));
      if (step.done) throw new LLMError('LLM_INCOMPLETE', message(brokenOff), { retryable: true });
      const chunk = distinct?.ownNames(step.value) ?? step.value;
      hasOutput = true;
      const hasContent = Boolean(chunk.content || chunk.thinking || chunk.toolCallDelta || chunk.toolCall);
      begun ||= hasContent;
      const { fraction = -1 } = chunk.progress ?? {};
      if (fraction > read) {
        read = fraction;
        since = performance.now();
      }
      shown.any ||= hasContent && shows(chunk);
      if (chunk.rateLimit) limiter?.update(chunk.rateLimit);
      reply.add(chunk);
      onChunk?.(chunk);
      if (chunk.done) return;
      repetition.check(chunk);
    }
  } finally {
    watch.close();
    left.abort();
    void chunks.return().catch(() => {}); // queued after a hung step; must not be awaited
  }
}

const brokenOff = 'The answer ended early.';

/** Factor on the limits. The HTTP client has the same limits and a more precise error, so it may report first. */
const grace = 1.05;

function nextLimit(
  limits: TimeLimits & { totalMs: number },
  hasOutput: boolean,
  begun: boolean,
  since: number,
  deadline: number,
): ReadTimeLimit {
  const now = performance.now();
  let next: ReadTimeLimit = { ms: deadline - now, limit: 'total', of: limits.totalMs };
  const consider = (limit: ReadTimeLimit['limit'], of: number, from: number) => {
    const ms = from + of * grace - now;
    if (of > 0 && ms < next.ms) next = { ms, limit, of };
  };
  if (begun) consider('idle', limits.idleMs, now);
  else consider('firstToken', limits.firstTokenMs, since);
  if (!hasOutput) consider('connect', limits.connectMs, since);
  return { ...next, ms: next.ms === Number.POSITIVE_INFINITY ? 0 : Math.max(1, next.ms) };
}
