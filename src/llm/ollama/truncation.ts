import { type LocalizedMessage, message, withDigitGrouping } from '../../protocol/text/l10n.ts';
import type { OllamaWireMessage } from './wire.ts';

/** Characters per token above any language or code. A larger ratio indicates an unread prompt. */
const charactersPerToken = 8;

/**
 * Returns a warning if Ollama probably dropped the beginning of the conversation, as old servers without `truncate: false` do silently.
 * Ollama then evaluates the fitting part, or far less than was sent.
 */
export function promptTruncationWarning(
  messages: readonly OllamaWireMessage[],
  promptTokens: number,
  window: number | undefined,
): LocalizedMessage | undefined {
  const wayOut = message('Set a larger context size, or start a new run.');
  const read = withDigitGrouping(promptTokens);
  if (window !== undefined && promptTokens >= window * 0.97) {
    return message(
      'Ollama read {0} tokens, all that its window of {1} holds. The beginning of the conversation may be missing. {2}',
      read,
      withDigitGrouping(window),
      wayOut,
    );
  }
  const sent = messages.reduce((sum, { content }) => sum + content.length, 0);
  if (promptTokens > 0 && sent > 4096 && sent > promptTokens * charactersPerToken) {
    return message(
      'Ollama read only {0} tokens of {1} characters. The beginning of the conversation is probably missing. {2}',
      read,
      withDigitGrouping(sent),
      wayOut,
    );
  }
  return undefined;
}
