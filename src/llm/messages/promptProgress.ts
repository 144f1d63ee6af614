import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { toStoredText } from '../../protocol/text/localized.ts';
import type { ChatStreamChunk } from '../core/client.ts';
import { durationMessage } from '../core/deadlines.ts';

export function toPromptProgress(so: {
  tokens: number;
  total: number;
  ms: number;
}): NonNullable<ChatStreamChunk['progress']> {
  const fraction = so.tokens / so.total;
  const percent = Math.floor(fraction * 100);
  const left = timeLeft(so);
  const text =
    fraction > 0 && fraction < 1
      ? left
        ? message('Reading prompt: {0}%, about {1} left', percent, left)
        : message('Reading prompt: {0}%', percent)
      : left
        ? message('Reading prompt, about {0} left', left)
        : message('Reading prompt');
  return { ...toStoredText(text), fraction };
}

function timeLeft({ tokens, total, ms }: { tokens: number; total: number; ms: number }): LocalizedMessage | undefined {
  const left = tokens > 0 ? (ms * (total - tokens)) / tokens : 0;
  return left >= 2000 ? durationMessage(Math.round(left / 1000) * 1000) : undefined;
}
