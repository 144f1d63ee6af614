import type { AdapterResult, CompleteOptions, LlmAdapter } from '../../llm/adapter/adapter.ts';
import type { ChatRequest } from '../../llm/core/client.ts';
import type { ContextUsage } from '../../protocol/content/contextUsage.ts';
import type { ErrorInfo } from '../../protocol/content/messages.ts';
import type { EventBody } from '../../protocol/run/events.ts';
import { message } from '../../protocol/text/l10n.ts';
import { localizedMessageIn, textAs, unended } from '../../protocol/text/localized.ts';
import { type Budget, unheldWarning } from './budget.ts';
import { tokensOfMessages, tokensOfPrefix } from './tokenCount.ts';

/** A model behind its adapter: `id` as people pick it (`provider/model`), `host` where it is, when it is behind an address. */
export interface Called {
  adapter: LlmAdapter;
  id?: string;
  host?: string;
  /** What may be spent on it; without one nobody counts. */
  budget?: Budget;
  /** It has one thing at a time in the memory of this machine: what it is asked beside a run is in that run's way. */
  onThisMachine?: true;
}

interface Telling extends Omit<CompleteOptions, 'onRetry' | 'onWait'> {
  emit(event: EventBody): Promise<void>;
  node?: string;
  /** Of what is sent, where they have been counted. */
  tokens?: number;
  /** The window of the conversation that it is a part of. */
  filling?: ContextUsage;
  /** It is no answer in the conversation. */
  beside?: true;
}

/** How a call is told. */
interface Told {
  /** It goes out; `unheld`: a limit of money is set that cannot hold it. */
  begins?(unheld: boolean): void;
  /** Resolves when that is kept: until then the call counts with what it surely costs. */
  ended?(reply: AdapterResult): Promise<void>;
}

/**
 * One model call, as far as the person's money allows it: whatever asks a model asks it here. One that would pass a limit does not go
 * out: its result is an error of which `isOverLimit` is true. Rejects only with what `ended` rejects with.
 * @param tokens of what is sent
 */
export async function askModel(
  { adapter, budget }: Called,
  request: ChatRequest,
  options: CompleteOptions,
  { begins, ended }: Told = {},
  tokens = tokensOf(request),
): Promise<AdapterResult> {
  const least = adapter.leastCost?.(request.model, tokens);
  const admitted = await budget?.admit(least);
  if (admitted && 'refused' in admitted) return { success: false, error: admitted.refused, attempts: 0, delayMs: 0 };
  let cost = least;
  try {
    begins?.(Boolean(admitted?.unheld));
    const reply = await adapter.complete(request, options);
    // Of one that broke off without being counted its prompt was paid, if anything came.
    cost = reply.cached ? 0 : (reply.usage?.cost ?? (reply.message ? least : 0));
    await ended?.(reply);
    return reply;
  } finally {
    await admitted?.paid(cost);
  }
}

/**
 * The same on the record of a run: that it goes out, each try that gives no answer, what it waits for, and what it took. Rejects only
 * when that cannot be kept.
 */
export async function callModel(
  called: Called,
  request: ChatRequest,
  { emit, node, tokens, filling, beside, ...options }: Telling,
): Promise<AdapterResult> {
  const { model } = request;
  const at = {
    ...(node !== undefined && { node }),
    ...calledRequest(called, request, tokens),
    ...(beside && { beside }),
  };
  const full = filling && { filling };
  const failed = (attempt: number, { code, message }: ErrorInfo, waitMs?: number) =>
    emit({ type: 'attempt', attempt, code, message, ...(waitMs !== undefined && { waitMs }), model, ...at });
  let startedAt = 0;
  return askModel(
    called,
    request,
    {
      ...options,
      onRetry: ({ attempt, delayMs, until, error }) => {
        failed(attempt - 1, error, Math.round(delayMs)).catch(() => {}); // a record that fails ends the run by itself
        void emit({ type: 'progress', ...textAs(unended(localizedMessageIn(error))), until, attempt });
      },
      onWait: ({ until }) => void emit({ type: 'progress', ...textAs(message('Waiting for the rate limit')), until }),
    },
    {
      begins(unheld) {
        startedAt = performance.now();
        void emit({ type: 'request', model, ...at, ...full });
        if (unheld) options.onChunk?.({ warning: message(unheldWarning), done: false });
      },
      async ended({ usage, attempts, cached, error, ...reply }) {
        if (usage && !cached) {
          const ms = Math.round(performance.now() - startedAt);
          const delayMs = Math.round(reply.delayMs);
          const waited = delayMs && { delayMs };
          await emit({ type: 'usage', usage, attempts, model: reply.model ?? model, ms, ...at, ...full, ...waited });
        }
        if (error) await failed(attempts, error);
      },
    },
    at.sent.tokens,
  );
}

/** What is kept of a call that goes out. */
export function calledRequest({ id, host }: Called, request: ChatRequest, tokens = tokensOf(request)) {
  return {
    ...(id !== undefined && { asked: id }),
    ...(host !== undefined && { host }),
    sent: {
      messages: request.messages.length,
      tools: request.tools?.length ?? 0,
      tokens,
    },
  };
}

const tokensOf = ({ messages, ...prefix }: ChatRequest): number => tokensOfPrefix(prefix) + tokensOfMessages(messages);
