/** Tokens that a context begins with; it grows to twice as many, and again, as its conversations do. */
export const firstContext = 8192;
/** Tokens that a context grows to at most where nobody has said: a conversation that is longer is read and written slowly. */
const usualContext = 32_768;
/** Tokens kept free for a reply, where more than what is there can be had. */
const reply = 4096;

/** Tokens that a context may come to. @param setting 0: nobody has said */
export const maxContextSize = (setting: number): number => (setting === 0 ? usualContext : setting);

/** Tokens in which a prompt and its reply have room. */
export const withReply = (prompt: number, maxTokens = reply): number => prompt + Math.min(reply, maxTokens);

/** The smallest context that holds so many tokens, but no larger than `most`. */
export function contextFor(tokens: number, most: number): number {
  let size = firstContext;
  while (size < tokens && size < most) size *= 2;
  return Math.min(size, most);
}

/** Those that are larger than one of `size`, from `largest` on down to what is next to it. */
export function contextsFrom(largest: number, size: number): number[] {
  const sizes: number[] = [];
  for (let one = largest; one > size; one = contextFor(one / 2, one - 1)) sizes.push(one);
  return sizes;
}
