/** Initial tokens of a context; the size doubles as conversations grow. */
export const initialContextTokens = 8192;
const usualContext = 32_768;
const reply = 4096;
/** Tokens that a prompt leaves at least for its reply, and a margin for the engine. */
export const [leastReplyTokens, replyMargin] = [256, 64];

/**
 * Returns the maximum tokens of a context.
 *
 * @param setting 0: not configured
 */
export const maxContextSize = (setting: number): number => (setting === 0 ? usualContext : setting);

export const tokensWithReply = (prompt: number, maxTokens = reply): number =>
  prompt + Math.max(leastReplyTokens + replyMargin, Math.min(reply, maxTokens));

export function contextSizeForTokens(tokens: number, most: number): number {
  let size = initialContextTokens;
  while (size < tokens && size < most) size *= 2;
  return Math.min(size, most);
}

export function contextSizeCandidates(largest: number, size: number): number[] {
  const sizes: number[] = [];
  for (let one = largest; one > size; one = contextSizeForTokens(one / 2, one - 1)) sizes.push(one);
  return sizes;
}
