/** Word before the caret that begins with a sign. */
export interface Typed {
  after: '@' | '/';
  from: number;
  query: string;
}

/** Of what was typed no more is read: a long message costs no more at each key than a short one. */
const longest = 200;

export function typedBefore(text: string, caret: number): Typed | undefined {
  const before = text.slice(Math.max(0, caret - longest - 2), caret); // with the sign, and what stands before it
  const command = caret <= longest + 1 ? /^\/([^\s/]*)$/.exec(before)?.[1] : undefined;
  if (command !== undefined) return { after: '/', from: 0, query: command };
  const [, query] = /(?:^|[\s([{"'])@([^\s@]*)$/.exec(before) ?? [];
  return query === undefined || query.length > longest
    ? undefined
    : { after: '@', from: caret - query.length - 1, query };
}
