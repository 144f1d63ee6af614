import type { AdapterResult } from '../../llm/adapter/adapter.ts';
import { isPossibleContextOverflow } from '../../llm/transport/providerErrors.ts';
import type { RunConversation } from '../core/loopConversation.ts';
import { nextPromptTokens, promptPrefixTokens } from '../core/tokenCount.ts';
import type { AcceptedRequestSizes } from './acceptedRequests.ts';
import type { CompactionOptions } from './compaction.ts';
import { estimatedPromptTokens } from './promptMessages.ts';

/** Share of the context window from which a request may be too long, because token counts are estimates. */
const nearlyFull = 0.7;
const smallRequest = 4000;

/**
 * Tells whether a request rejected without a known cause may have been too long: the request nearly fills the window or, for an unknown
 * window, exceeds every answered request of the model. Such a request is compacted once per answer.
 */
export function mayExceedContextWindow(
  { run, prefix, called, contextWindow }: CompactionOptions,
  { error, message, attempts }: AdapterResult,
  accepted: AcceptedRequestSizes,
): boolean {
  if (!error || message || !isPossibleContextOverflow(error, attempts)) return false;
  const estimate = promptPrefixTokens(prefix) + estimatedPromptTokens(run);
  const longest = accepted.of(called, prefix.model);
  if (longest === 0 && estimate < smallRequest) return false;
  const answered = lastAnswer(run);
  if (run.compactions.some(({ at }) => at > answered)) return false;
  if (contextWindow === undefined) return estimate > longest;
  return Math.max(estimate, nextPromptTokens(run, estimate)) + (prefix.maxTokens ?? 0) >= contextWindow * nearlyFull;
}

const lastAnswer = ({ messages }: RunConversation): number =>
  messages.findLastIndex((message) => message.role === 'assistant' && !message.incomplete);
