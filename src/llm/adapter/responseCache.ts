import stringify from 'safe-stable-stringify';
import type { AssistantMessage, TokenUsage } from '../../protocol/content/messages.ts';
import type { ChatRequest, ChatStreamChunk, FinishReason } from '../core/client.ts';

/** A whole reply, as it was. */
export interface CachedReply {
  message: AssistantMessage;
  finishReason: FinishReason;
  model?: string;
  usage?: TokenUsage;
}

/** Replies to requests that were made before, the least recently used given up first. */
export interface ResponseCache {
  get(key: string): CachedReply | undefined;
  set(key: string, reply: CachedReply): void;
}

interface ResponseCacheOptions {
  /** How many replies are kept. */
  entries?: number;
  /** How long one is good, in milliseconds. */
  ttlMs?: number;
  now?: () => number;
}

export function createResponseCache({
  entries = 100,
  ttlMs = 3_600_000,
  now = () => performance.now(),
}: ResponseCacheOptions = {}): ResponseCache {
  const kept = new Map<string, { reply: CachedReply; until: number }>(); // in the order of use
  return {
    get(key) {
      const found = kept.get(key);
      kept.delete(key);
      if (!found || now() >= found.until) return undefined;
      kept.set(key, found);
      return found.reply;
    },
    set(key, reply) {
      kept.delete(key);
      kept.set(key, { reply, until: now() + ttlMs });
      while (kept.size > entries) kept.delete(kept.keys().next().value!);
    },
  };
}

/**
 * Equal for requests that ask `provider` the same, whatever the order of keys; undefined for those whose reply is a
 * matter of chance (a temperature other than 0). The run a request belongs to, and who asks, do not count.
 */
export function cacheKeyOf(provider: string, { cacheKey: _, asker: __, ...request }: ChatRequest): string | undefined {
  return request.temperature === 0 ? stringify([provider, request]) : undefined;
}

/** The reply as if it were streamed. */
export function cachedChunks({ message, finishReason, model, usage }: CachedReply): ChatStreamChunk[] {
  const { thinking, content, toolCalls = [], native } = message;
  return [
    ...(thinking ? [{ thinking, done: false }] : []),
    ...(content ? [{ content, done: false }] : []),
    ...toolCalls.map((toolCall) => ({ toolCall, done: false })),
    { done: true, finishReason, ...(native && { native }), ...(usage && { usage }), ...(model && { model }) },
  ];
}
