import type { ChatStreamChunk } from './client.ts';
import { inWords } from './clock.ts';

/** How far a model is with the tokens that it has to read before it answers, as people are told. @param ms since it began */
export function reading(so: { tokens: number; total: number; ms: number }): NonNullable<ChatStreamChunk['progress']> {
  const fraction = so.tokens / so.total;
  const part = fraction > 0 && fraction < 1 ? `: ${Math.floor(fraction * 100)} %` : '';
  return { text: `Reading the conversation${part}${timeLeft(so)}`, fraction };
}

/** From what was read so far; nothing while that tells little, or when it is over in a moment. */
function timeLeft({ tokens, total, ms }: { tokens: number; total: number; ms: number }): string {
  const left = tokens > 0 ? (ms * (total - tokens)) / tokens : 0;
  return left >= 2000 ? `, about ${inWords(Math.round(left / 1000) * 1000)} left` : '';
}
