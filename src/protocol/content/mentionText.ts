/** Things that one message can name, and answers to what is typed after an `@`. */
export const [maxMentions, maxCompletions] = [20, 50] as const;

/** Characters of a mention that has its text with it. */
export const maxMentionText = 20_000;

interface Named {
  kind: string;
  path?: string | undefined;
  name?: string | undefined;
  line?: number | undefined;
  from?: number;
  to?: number;
}

/** As it stands in the words: `@src/a.ts`, `@src/a.ts:3-9`, `@problems`, `@terminal:npm test`. */
export function wordOf({ kind, path, name, line, from, to }: Named): string {
  if (kind === 'lines') return `@${path}:${from}${to === from ? '' : `-${to}`}`;
  if (kind === 'problem') return `@problem:${path}:${line}`;
  if (kind === 'change') return `@change:${path}`;
  if (kind === 'test' || kind === 'terminal') return `@${kind}${name ? `:${name}` : ''}`;
  return `@${path ?? kind}`;
}

/** Of what is chosen after an `@` or a `/`, as it stands in the words. */
export const completedWord = (row: { mention: Named } | { slash: { word: string } }): string =>
  'slash' in row ? row.slash.word : wordOf(row.mention);

/** Tokens of a text file that goes with a message, by its length alone: `data` is base64. */
export const tokensOfData = (data: string): number => (data.length * 3) / 16;

/** The text that a file which goes with a message has as base64. */
export const textOfData = (data: string): string =>
  new TextDecoder().decode(Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0)));
