export const [maxMentions, maxCompletions] = [20, 50] as const;

export const maxMentionText = 20_000;

interface Named {
  kind: string;
  path?: string | undefined;
  name?: string | undefined;
  line?: number | undefined;
  from?: number;
  to?: number;
}

export function mentionTextOf({ kind, path, name, line, from, to }: Named): string {
  if (kind === 'lines') return `@${path}:${from}${to === from ? '' : `-${to}`}`;
  if (kind === 'problem') return `@problem:${path}:${line}`;
  if (kind === 'change') return `@change:${path}`;
  if (kind === 'test' || kind === 'terminal') return `@${kind}${name ? `:${name}` : ''}`;
  return `@${path ?? kind}`;
}

export const completedComposerText = (row: { mention: Named } | { slash: { word: string } }): string =>
  'slash' in row ? row.slash.word : mentionTextOf(row.mention);

export const estimateBase64Tokens = (data: string): number => (data.length * 3) / 16;

export const decodeBase64Text = (data: string): string =>
  new TextDecoder().decode(Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0)));
