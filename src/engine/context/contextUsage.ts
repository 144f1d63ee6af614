import type { ChatRequest } from '../../llm/core/client.ts';
import type { ContextUsage } from '../../protocol/content/contextUsage.ts';
import type { RunConversation } from '../core/loopConversation.ts';
import { tokensOfInstructions, tokensOfPrefix, tokensOfRun, tokensOfTools } from '../core/tokenCount.ts';
import { type PromptParts, partsOfSent } from './promptMessages.ts';

/** Parts of the window. It is emptied late and by much, because what follows has to be read anew. */
export const full = 0.85;
const leastFull = 0.25;

/** Tokens that may be sent before room is made. */
export const compactionThreshold = (window: number, { maxTokens = 0 }: Omit<ChatRequest, 'messages'>): number =>
  Math.max(window * full - maxTokens, window * leastFull);

/** What would be sent now. */
export function fillingOf(
  run: RunConversation,
  prefix: Omit<ChatRequest, 'messages'>,
  window: number | undefined,
): ContextUsage {
  const parts = partsOfSent(run);
  return filled(parts, prefix, window, tokensOfRun(run, tokensOfPrefix(prefix) + parts.sent));
}

export const filesOf = (files: ContextUsage['files']): Pick<ContextUsage, 'files'> => (files?.length ? { files } : {});

/** @param total tokens of all of it */
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
