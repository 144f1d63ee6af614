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
): string | undefined {
  const wayOut = 'Set a larger context size, or begin a new run.';
  const read = promptTokens.toLocaleString('en-US');
  if (window !== undefined && promptTokens >= window * 0.97) {
    const size = window.toLocaleString('en-US');
    return `Ollama read ${read} tokens, as much as its window of ${size} holds; the beginning of the conversation may be missing. ${wayOut}`;
  }
  const sent = messages.reduce((sum, { content }) => sum + content.length, 0);
  if (promptTokens > 0 && sent > 4096 && sent > promptTokens * charactersPerToken) {
    const characters = sent.toLocaleString('en-US');
    return `Ollama read only ${read} tokens of ${characters} characters; the beginning of the conversation is probably missing. ${wayOut}`;
  }
  return undefined;
}
