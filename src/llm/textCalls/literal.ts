const quotes = ['<|"|>', '<escape>', '"'] as const;

/**
 * Parses Gemma's argument object: `{path:<|"|>a<|"|>,from:2,tags:[<|"|>b<|"|>]}`, with unquoted keys and marked strings. Throws
 * `SyntaxError`.
 */
export function parseGemmaArguments(text: string, start: number): { value: Record<string, unknown>; end: number } {
  let at = start;
  const fail = (): never => {
    throw new SyntaxError(`not a plain object at ${at}`);
  };
  const blank = () => {
    while (' \t\r\n'.includes(text[at] ?? '-')) at++;
  };
  const accept = (character: string): boolean => {
    blank();
    if (text[at] !== character) return false;
    at++;
    return true;
  };
  const quoted = (): string | undefined => {
    const quote = quotes.find((one) => text.startsWith(one, at));
    if (quote === undefined) return undefined;
    const end = text.indexOf(quote, at + quote.length);
    if (end === -1) return fail();
    const inner = text.slice(at + quote.length, end);
    at = end + quote.length;
    return inner;
  };
  const plain = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const [found] = pattern.exec(text) ?? fail();
    at += found.length;
    return found;
  };
  const value = (depth: number): unknown => {
    blank();
    if (depth > 100) fail();
    if (text[at] === '{') return object(depth + 1);
    if (accept('[')) {
      const items: unknown[] = [];
      while (!accept(']')) {
        if (items.length > 0 && !accept(',')) fail();
        items.push(value(depth + 1));
      }
      return items;
    }
    const inner = quoted();
    if (inner !== undefined) return inner;
    const word = plain(/true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y);
    return JSON.parse(word);
  };
  const object = (depth: number): Record<string, unknown> => {
    if (!accept('{')) fail();
    const entries = new Map<string, unknown>();
    while (!accept('}')) {
      if (entries.size > 0 && !accept(',')) fail();
      blank();
      const key = quoted() ?? plain(/[A-Za-z_$][\w.$-]*/y);
      if (key === '__proto__' || entries.has(key) || !accept(':')) fail();
      entries.set(key, value(depth));
    }
    return Object.fromEntries(entries);
  };
  return { value: object(0), end: at };
}
