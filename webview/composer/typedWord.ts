export interface TypedCompletionQuery {
  after: '@' | '/';
  from: number;
  query: string;
}

/** Maximum of characters examined, so that long messages do not slow down typing. */
const longest = 200;

export function typedQueryBeforeCaret(text: string, caret: number): TypedCompletionQuery | undefined {
  const before = text.slice(Math.max(0, caret - longest - 2), caret); // with the sign and the preceding character
  const command = caret <= longest + 1 ? /^\/([^\s/]*)$/.exec(before)?.[1] : undefined;
  if (command !== undefined) return { after: '/', from: 0, query: command };
  const [, query] = /(?:^|[\s([{"'])@([^\s@]*)$/.exec(before) ?? [];
  return query === undefined || query.length > longest
    ? undefined
    : { after: '@', from: caret - query.length - 1, query };
}
