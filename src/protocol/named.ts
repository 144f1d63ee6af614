/** Things that one message can name, and answers to what is typed after an `@`. */
export const [mostMentions, mostCompletions] = [20, 50] as const;

/** As it stands in the words: `@src/a.ts`, `@problems`. */
export const wordOf = ({ kind, path }: { kind: string; path?: string }): string => `@${path ?? kind}`;

/** Tokens of a text file that goes with a message, by its length alone: `data` is base64. */
export const tokensOfData = (data: string): number => (data.length * 3) / 16;

/** The text that a file which goes with a message has as base64. */
export const textOfData = (data: string): string =>
  new TextDecoder().decode(Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0)));
