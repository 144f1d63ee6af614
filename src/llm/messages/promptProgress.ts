import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { textAs } from '../../protocol/text/localized.ts';
import type { ChatStreamChunk } from '../core/client.ts';
import { lasting } from '../core/deadlines.ts';

/** How far a model is with the tokens that it has to read before it answers, as people are told. @param ms since it began */
export function reading(so: { tokens: number; total: number; ms: number }): NonNullable<ChatStreamChunk['progress']> {
  const fraction = so.tokens / so.total;
  const percent = Math.floor(fraction * 100);
  const left = timeLeft(so);
  const words =
    fraction > 0 && fraction < 1
      ? left
        ? message('Reading prompt: {0}%, about {1} left', percent, left)
        : message('Reading prompt: {0}%', percent)
      : left
        ? message('Reading prompt, about {0} left', left)
        : message('Reading prompt');
  return { ...textAs(words), fraction };
}

/** From what was read so far; nothing while that tells little, or when it is over in a moment. */
function timeLeft({ tokens, total, ms }: { tokens: number; total: number; ms: number }): LocalizedMessage | undefined {
  const left = tokens > 0 ? (ms * (total - tokens)) / tokens : 0;
  return left >= 2000 ? lasting(Math.round(left / 1000) * 1000) : undefined;
}
