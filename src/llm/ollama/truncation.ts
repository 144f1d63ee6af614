import { groupDigits, type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import type { WireMessage } from './wire.ts';

/** No language and no code has this many characters to a token; several times that is a prompt that was not read. */
const charactersPerToken = 8;

/**
 * A sentence when Ollama has probably dropped the beginning of a conversation, which it does without a word where
 * `truncate: false` is not known. It then reads as much as fits, or much less than was sent.
 */
export function truncationIn(
  messages: readonly WireMessage[],
  promptTokens: number,
  window: number | undefined,
): LocalizedMessage | undefined {
  const wayOut = message('Set a larger context size, or start a new run.');
  const read = groupDigits(promptTokens);
  if (window !== undefined && promptTokens >= window * 0.97) {
    return message(
      'Ollama read {0} tokens, all that its window of {1} holds. The beginning of the conversation may be missing. {2}',
      read,
      groupDigits(window),
      wayOut,
    );
  }
  const sent = messages.reduce((sum, { content }) => sum + content.length, 0);
  if (promptTokens > 0 && sent > 4096 && sent > promptTokens * charactersPerToken) {
    return message(
      'Ollama read only {0} tokens of {1} characters. The beginning of the conversation is probably missing. {2}',
      read,
      groupDigits(sent),
      wayOut,
    );
  }
  return undefined;
}
