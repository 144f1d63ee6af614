import type { AdapterResult } from '../../llm/adapter/adapter.ts';
import { mayBeFull } from '../../llm/transport/providerErrors.ts';
import type { RunConversation } from '../core/loopConversation.ts';
import { tokensOfPrefix, tokensOfRun } from '../core/tokenCount.ts';
import type { AcceptedRequests } from './acceptedRequests.ts';
import type { CompactionOptions } from './compaction.ts';
import { tokensOfSent } from './promptMessages.ts';

/** Part of the window from which on a request may be too long: tokens are estimated, and models count in their own ways. */
const nearlyFull = 0.7;
/** Tokens of a first request that no window is too small for. */
const smallRequest = 4000;

/**
 * Tells whether a request that was refused without a known cause may have been too long: it nearly fills the window or, where its size is not
 * known, is longer than any that this model has answered. Room is made for that once, until the model answers.
 */
export function mayBeTooLong(
  { run, prefix, called, contextWindow }: CompactionOptions,
  { error, message, attempts }: AdapterResult,
  accepted: AcceptedRequests,
): boolean {
  if (!error || message || !mayBeFull(error, attempts)) return false;
  const estimate = tokensOfPrefix(prefix) + tokensOfSent(run);
  const longest = accepted.of(called, prefix.model);
  if (longest === 0 && estimate < smallRequest) return false;
  const answered = lastAnswer(run);
  if (run.compactions.some(({ at }) => at > answered)) return false;
  if (contextWindow === undefined) return estimate > longest;
  return Math.max(estimate, tokensOfRun(run, estimate)) + (prefix.maxTokens ?? 0) >= contextWindow * nearlyFull;
}

/** Index of the last whole answer; -1: there is none. */
const lastAnswer = ({ messages }: RunConversation): number =>
  messages.findLastIndex((message) => message.role === 'assistant' && !message.incomplete);
