import type { AdapterResult, CompleteOptions, LlmAdapter } from '../llm/adapter.ts';
import type { ChatRequest } from '../llm/client.ts';
import type { EventBody } from '../protocol/events.ts';
import type { ErrorInfo } from '../protocol/messages.ts';
import { tokensOfMessages, tokensOfPrefix } from './tokens.ts';

/** A model behind its adapter: `id` as people pick it (`provider/model`), `host` where it is, when it is behind an address. */
export interface Called {
  adapter: LlmAdapter;
  id?: string;
  host?: string;
}

interface Telling extends Omit<CompleteOptions, 'onRetry' | 'onWait'> {
  emit(event: EventBody): Promise<void>;
  node?: string;
  /** Of what is sent, where they have been counted. */
  tokens?: number;
}

/**
 * One model call, on record: that it goes out, each try that gives no answer, what it waits for, and what it took. Rejects only when
 * that cannot be kept.
 */
export async function callModel(
  called: Called,
  request: ChatRequest,
  { emit, node, tokens, ...options }: Telling,
): Promise<AdapterResult> {
  const { model } = request;
  const at = { ...(node !== undefined && { node }), ...requestOf(called, request, tokens) };
  const failed = (attempt: number, { code, message }: ErrorInfo, waitMs?: number) =>
    emit({ type: 'attempt', attempt, code, message, ...(waitMs !== undefined && { waitMs }), model, ...at });
  const startedAt = performance.now();
  void emit({ type: 'request', model, ...at });
  const reply = await called.adapter.complete(request, {
    ...options,
    onRetry: ({ attempt, delayMs, until, error }) => {
      failed(attempt - 1, error, Math.round(delayMs)).catch(() => {}); // a record that fails ends the run by itself
      void emit({ type: 'progress', text: `${error.message} Trying again.`, until, attempt });
    },
    onWait: ({ until }) => void emit({ type: 'progress', text: 'Waiting for a place within the rate limit.', until }),
  });
  const { usage, attempts, cached, error } = reply;
  if (usage && !cached) {
    const ms = Math.round(performance.now() - startedAt);
    const delayMs = Math.round(reply.delayMs);
    await emit({ type: 'usage', usage, attempts, model: reply.model ?? model, ms, ...at, ...(delayMs && { delayMs }) });
  }
  if (error) await failed(attempts, error);
  return reply;
}

/** What is kept of a call that goes out. */
export function requestOf({ id, host }: Called, { messages, ...prefix }: ChatRequest, tokens?: number) {
  return {
    ...(id !== undefined && { asked: id }),
    ...(host !== undefined && { host }),
    sent: {
      messages: messages.length,
      tools: prefix.tools?.length ?? 0,
      tokens: tokens ?? tokensOfPrefix(prefix) + tokensOfMessages(messages),
    },
  };
}
