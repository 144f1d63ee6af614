import type { ChatRequest } from '../../llm/core/client.ts';
import type { ContextUsage } from '../../protocol/content/contextUsage.ts';
import type { RunConversation } from '../core/loopConversation.ts';
import { tokensOfInstructions, tokensOfPrefix, tokensOfRun, tokensOfTools } from '../core/tokenCount.ts';
import { type PromptParts, partsOfSent } from './promptMessages.ts';

/** Shares of the context window. Compaction is late and large, because each compaction invalidates the provider's cache. */
export const full = 0.85;
const leastFull = 0.25;

export const compactionThreshold = (window: number, { maxTokens = 0 }: Omit<ChatRequest, 'messages'>): number =>
  Math.max(window * full - maxTokens, window * leastFull);

export function fillingOf(
  run: RunConversation,
  prefix: Omit<ChatRequest, 'messages'>,
  window: number | undefined,
): ContextUsage {
  const parts = partsOfSent(run);
  return filled(parts, prefix, window, tokensOfRun(run, tokensOfPrefix(prefix) + parts.sent));
}

export const filesOf = (files: ContextUsage['files']): Pick<ContextUsage, 'files'> => (files?.length ? { files } : {});

export function filled(
  { instructions, leftOut, words, output, answers, summary }: PromptParts,
  prefix: Omit<ChatRequest, 'messages'>,
  window: number | undefined,
  total: number,
): ContextUsage {
  return {
    total: Math.round(total),
    ...(window !== undefined && { size: window, roomAt: Math.round(compactionThreshold(window, prefix)) }),
    instructions: instructions + tokensOfInstructions(prefix),
    tools: tokensOfTools(prefix),
    ...{ words, output, answers, summary, leftOut },
  };
}
