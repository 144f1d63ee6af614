// @invariant one-place-asks-models: Every model request passes through `askModel`, which checks the budget first.
import type { AdapterResult, CompletionOptions, LLMAdapter } from '../../llm/adapter/adapter.ts';
import type { ChatRequest } from '../../llm/core/client.ts';
import type { ContextUsage } from '../../protocol/content/contextUsage.ts';
import type { ErrorInfo } from '../../protocol/content/messages.ts';
import type { RunEventBody } from '../../protocol/run/events.ts';
import { message } from '../../protocol/text/l10n.ts';
import { storedLocalizableText, toStoredText, withoutFullStop } from '../../protocol/text/localized.ts';
import { type SpendingBudget, unknownPriceWarning } from './budget.ts';
import { promptPrefixTokens, tokensOfMessages } from './tokenCount.ts';

/**
 * Model behind its adapter. `id`: `provider/model`. `host`: the server. `budget`: no limit if absent. `onThisMachine`: a local model that
 * handles one request at a time, so that parallel requests delay the run.
 */
export interface CallableModel {
  adapter: LLMAdapter;
  id?: string;
  host?: string;
  budget?: SpendingBudget;
  onThisMachine?: true;
}

interface ModelCallReporting extends Omit<CompletionOptions, 'onRetry' | 'onWait'> {
  emit(event: RunEventBody): Promise<void>;
  node?: string;
  tokens?: number;
  filling?: ContextUsage;
  beside?: true;
}

interface ModelCallListener {
  /** Reports the request; `unheld`: a spending limit cannot apply to the call. */
  begins?(unheld: boolean): void;
  /** Resolves after the record; until then the call counts with its minimum cost. */
  ended?(reply: AdapterResult): Promise<void>;
}

/**
 * Calls a model within the user's budget. All model calls use this function. A call above a limit is not sent; its result is an error with
 * `isSpendingLimitError`. Rejects only if `ended` rejects.
 *
 * @param tokens tokens of the request
 */
export async function askModel(
  { adapter, budget }: CallableModel,
  request: ChatRequest,
  options: CompletionOptions,
  { begins, ended }: ModelCallListener = {},
  tokens = tokensOf(request),
): Promise<AdapterResult> {
  const least = adapter.leastCost?.(request.model, tokens);
  const admitted = await budget?.admit(least);
  if (admitted && 'refused' in admitted) return { success: false, error: admitted.refused, attempts: 0, delayMs: 0 };
  let cost = least;
  try {
    begins?.(Boolean(admitted?.unheld));
    const reply = await adapter.complete(request, options);
    // An aborted call without usage data costs its prompt if any output arrived.
    cost = reply.cached ? 0 : (reply.usage?.cost ?? (reply.message ? least : 0));
    await ended?.(reply);
    return reply;
  } finally {
    await admitted?.paid(cost);
  }
}

/** Calls a model and records request, failed attempts, waits and usage. Rejects only if the record fails. */
export async function callModelAndRecord(
  called: CallableModel,
  request: ChatRequest,
  { emit, node, tokens, filling, beside, ...options }: ModelCallReporting,
): Promise<AdapterResult> {
  const { model } = request;
  const at = {
    ...(node !== undefined && { node }),
    ...requestEventFields(called, request, tokens),
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
        failed(attempt - 1, error, Math.round(delayMs)).catch(() => {}); // a failing record ends the run itself
        void emit({ type: 'progress', ...toStoredText(withoutFullStop(storedLocalizableText(error))), until, attempt });
      },
      onWait: ({ until }) =>
        void emit({ type: 'progress', ...toStoredText(message('Waiting for the rate limit')), until }),
    },
    {
      begins(unheld) {
        startedAt = performance.now();
        void emit({ type: 'request', model, ...at, ...full });
        if (unheld) options.onChunk?.({ warning: message(unknownPriceWarning), done: false });
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

export function requestEventFields({ id, host }: CallableModel, request: ChatRequest, tokens = tokensOf(request)) {
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

const tokensOf = ({ messages, ...prefix }: ChatRequest): number =>
  promptPrefixTokens(prefix) + tokensOfMessages(messages);
