import stringify from 'safe-stable-stringify';
import type { AssistantMessage, TokenUsage } from '../../protocol/content/messages.ts';
import type { ChatRequest, ChatStreamChunk, FinishReason } from '../core/client.ts';

export interface CachedReply {
  message: AssistantMessage;
  finishReason: FinishReason;
  model?: string;
  usage?: TokenUsage;
}

export interface ResponseCache {
  get(key: string): CachedReply | undefined;
  set(key: string, reply: CachedReply): void;
}

interface ResponseCacheOptions {
  entries?: number;
  ttlMs?: number;
  now?: () => number;
}

export function createResponseCache({
  entries = 100,
  ttlMs = 3_600_000,
  now = () => performance.now(),
}: ResponseCacheOptions = {}): ResponseCache {
  const replies = new Map<string, { reply: CachedReply; until: number }>(); // insertion order is the order of use
  return {
    get(key) {
      const found = replies.get(key);
      replies.delete(key);
      if (!found || now() >= found.until) return undefined;
      replies.set(key, found);
      return found.reply;
    },
    set(key, reply) {
      replies.delete(key);
      replies.set(key, { reply, until: now() + ttlMs });
      while (replies.size > entries) replies.delete(replies.keys().next().value!);
    },
  };
}

/**
 * Returns the cache key of a request: equal for equal requests to `provider`, regardless of key order, run and requester. Undefined for a
 * temperature other than 0, whose reply is random.
 */
export function cacheKeyOf(provider: string, { cacheKey: _, asker: __, ...request }: ChatRequest): string | undefined {
  return request.temperature === 0 ? stringify([provider, request]) : undefined;
}

export function cachedReplyChunks({ message, finishReason, model, usage }: CachedReply): ChatStreamChunk[] {
  const { thinking, content, toolCalls = [], native } = message;
  return [
    ...(thinking ? [{ thinking, done: false }] : []),
    ...(content ? [{ content, done: false }] : []),
    ...toolCalls.map((toolCall) => ({ toolCall, done: false })),
    { done: true, finishReason, ...(native && { native }), ...(usage && { usage }), ...(model && { model }) },
  ];
}
