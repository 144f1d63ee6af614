/**
 * Parses `name(key="value", …)`, Gemma's syntax of calls: keyword arguments with literals only; nothing is evaluated. Throws `SyntaxError`.
 */
export function readPythonCall(
  text: string,
  start: number,
): { name: string; arguments: Record<string, unknown>; end: number } {
  let at = start;

  const fail = (): never => {
    throw new SyntaxError(`not a plain call at ${at}`);
  };
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  const blank = () => take(/\s*/y);
  const accept = (character: string) => {
    blank();
    if (text[at] !== character) return false;
    at++;
    return true;
  };
  const expect = (character: string) => accept(character) || fail();

  const string = (): string => {
    const quote = take(/"""|'''|"|'/y) ?? fail();
    const pieces: string[] = [];
    for (;;) {
      const plain = take(quote[0] === '"' ? /[^"\\]+/y : /[^'\\]+/y);
      if (plain !== undefined) {
        if (quote.length === 1 && plain.includes('\n')) fail();
        pieces.push(plain);
      } else if (text.startsWith(quote, at)) {
        at += quote.length;
        return pieces.join('');
      } else if (text[at] === '\\') {
        const sequence = take(/\\(?:[nrtbf\\'"]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|\n)/y) ?? fail();
        pieces.push(meaningOf(sequence));
      } else if (at < text.length)
        pieces.push(text[at++]!); // a quote inside a triple-quoted string
      else fail();
    }
  };

  const value = (depth: number): unknown => {
    blank();
    if (depth > 100) fail();
    if (text[at] === '"' || text[at] === "'") return string();
    if (accept('[')) return list(']', () => value(depth + 1));
    if (accept('{')) {
      const pairs = list('}', () => {
        blank();
        const key = string();
        expect(':');
        return [key, value(depth + 1)] as const;
      });
      return toObject(pairs);
    }
    const word = take(/True|False|None|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y) ?? fail();
    if (/[\w.]/.test(text[at] ?? ' ')) fail();
    if (word === 'None') return null;
    if (word === 'True' || word === 'False') return word === 'True';
    return Number.isFinite(Number(word)) ? Number(word) : fail();
  };

  const list = <Item>(close: string, item: () => Item): Item[] => {
    const items: Item[] = [];
    while (!accept(close)) {
      if (items.length > 0 && !accept(',')) fail();
      if (items.length > 0 && accept(close)) break;
      items.push(item());
    }
    return items;
  };

  const toObject = (pairs: readonly (readonly [string, unknown])[]): Record<string, unknown> => {
    const object = Object.fromEntries(pairs);
    if (Object.keys(object).length < pairs.length || Object.hasOwn(object, '__proto__')) fail();
    return object;
  };

  const printed = take(/print\(\s*/y) !== undefined;
  take(/default_api\./y);
  const name = take(/[A-Za-z_][\w.]*/y) ?? fail();
  expect('(');
  const pairs = list(')', () => {
    blank();
    const key = take(/[A-Za-z_]\w*/y) ?? fail();
    expect('=');
    return [key, value(0)] as const;
  });
  if (printed) expect(')');
  return { name, arguments: toObject(pairs), end: at };
}

const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', '\n': '' };

function meaningOf(sequence: string): string {
  const kind = sequence[1]!;
  if (kind === 'x' || kind === 'u') return String.fromCharCode(Number.parseInt(sequence.slice(2), 16));
  return escapes[kind] ?? kind;
}
