import type { ChatRequest } from '../../llm/core/client.ts';
import type { Filling } from '../../protocol/content/contextUsage.ts';
import type { Conversation } from '../core/loopConversation.ts';
import { tokensOfInstructions, tokensOfPrefix, tokensOfRun, tokensOfTools } from '../core/tokenCount.ts';
import { type Parts, partsOfSent } from './promptMessages.ts';

/** Parts of the window. It is emptied late and by much, because what follows has to be read anew. */
export const full = 0.85;
const leastFull = 0.25;

/** Tokens that may be sent before room is made. */
export const roomAt = (window: number, { maxTokens = 0 }: Omit<ChatRequest, 'messages'>): number =>
  Math.max(window * full - maxTokens, window * leastFull);

/** What would be sent now. */
export function fillingOf(
  run: Conversation,
  prefix: Omit<ChatRequest, 'messages'>,
  window: number | undefined,
): Filling {
  const parts = partsOfSent(run);
  return filled(parts, prefix, window, tokensOfRun(run, tokensOfPrefix(prefix) + parts.sent));
}

export const filesOf = (files: Filling['files']): Pick<Filling, 'files'> => (files?.length ? { files } : {});

/** @param total tokens of all of it */
export function filled(
  { instructions, leftOut, words, output, answers, summary }: Parts,
  prefix: Omit<ChatRequest, 'messages'>,
  window: number | undefined,
  total: number,
): Filling {
  return {
    total: Math.round(total),
    ...(window !== undefined && { size: window, roomAt: Math.round(roomAt(window, prefix)) }),
    instructions: instructions + tokensOfInstructions(prefix),
    tools: tokensOfTools(prefix),
    ...{ words, output, answers, summary, leftOut },
  };
}
