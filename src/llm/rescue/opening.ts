import type { KnownTools } from './known.ts';

/**
 * What a line is, by its beginning: the beginning of a call of a known tool (`call`), of an ordinary fence (`fence`),
 * ordinary text, or not to be told yet (`wait`).
 */
export type Opening = 'call' | 'fence' | 'text' | 'wait';

/** A call that has not named its tool by then is none. */
export const openingLimit = 400;

/** @param head the text from the beginning of the line; no more than `openingLimit` of it is looked at */
export function openingOf(head: string, known: KnownTools): Opening {
  if (head !== '' && !' <[{`~'.includes(head[0]!)) return 'text'; // nearly every line
  const opening = openingIn(head.slice(0, openingLimit).replace(/^ {1,3}(?! )/, ''), known); // four blanks: a code block
  return opening === 'wait' && head.length >= openingLimit ? 'text' : opening;
}

const markers = ['<tool_call>', '<function=', '[TOOL_CALLS]', '<|python_tag|>', '<|tool_calls_begin|>'] as const;

function openingIn(line: string, known: KnownTools): Opening {
  if (/^ {0,3}$/.test(line)) return 'wait';
  const first = line[0];
  if (first === '`' || first === '~') return openingOfFence(line, known);
  if (first === '{') return openingOfJson(line, known).opening;
  const plain = line.slice(0, 32).replaceAll('｜', '|').replaceAll('▁', '_'); // DeepSeek's own letters
  const marker = markers.find((one) => plain.startsWith(one));
  if (marker) return openingAfter(marker, line.slice(marker.length), known);
  if (markers.some((one) => one.startsWith(plain))) return 'wait';
  return first === '[' ? openingOfJson(line, known).opening : 'text';
}

function openingAfter(marker: (typeof markers)[number], text: string, known: KnownTools): Opening {
  const rest = text.trimStart();
  switch (marker) {
    case '<|tool_calls_begin|>':
      return 'call'; // no person writes that at the beginning of a line
    case '<function=':
      return openingOfName(/^([\w.-]*)(>?)/.exec(text)!, text, known);
    case '<tool_call>':
      if (rest === '' || '<function='.startsWith(rest)) return 'wait';
      if (rest.startsWith('<function=')) return openingAfter('<function=', rest.slice('<function='.length), known);
      return rest[0] === '{' ? openingOfJson(rest, known).opening : 'text';
    case '[TOOL_CALLS]':
      if (rest === '') return 'wait';
      if (rest[0] === '{' || rest[0] === '[') return openingOfJson(rest, known).opening;
      return openingOfName(
        /^([\w.-]*)((?:\[(?:ARGS|CALL_ID)\])?)/.exec(rest)!,
        rest,
        known,
        /^\[(A(R(G(S)?)?)?|C[A-Z_]{0,6})?$/,
      );
    case '<|python_tag|>':
      if (rest === '') return 'wait';
      return rest[0] === '{' ? openingOfJson(rest, known).opening : 'text';
  }
}

/** @param match the name, and what ends it */
function openingOfName(match: RegExpExecArray, text: string, known: KnownTools, endBegun = /^$/): Opening {
  const [all, name, end] = match;
  if (end) return known.has(name!) ? 'call' : 'text';
  return endBegun.test(text.slice(all.length)) || text.length === all.length ? 'wait' : 'text';
}

const fencedCall = /^(json|tool_calls?|tool_code)?$/i;

function openingOfFence(line: string, known: KnownTools): Opening {
  const fence = /^(`{3,}|~{3,})([^\n]*)(\n?)\s*/.exec(line);
  if (!fence) return /^(`{1,2}|~{1,2})$/.test(line) ? 'wait' : 'text';
  const [all, , info, end] = fence;
  if (!end) return 'wait';
  if (!fencedCall.test(info!.trim())) return 'fence';
  const body = line.slice(all.length);
  if (body === '') return 'wait';
  const opening =
    body[0] === '{' || body[0] === '['
      ? openingOfJson(body, known).opening
      : /code/i.test(info!)
        ? openingOfPython(body, known)
        : 'text';
  return opening === 'text' ? 'fence' : opening;
}

/** The name in `name(`, `default_api.name(` (Gemini) or `print(name(`. */
export const pythonHead = /^(?:print\(\s*)?(?:default_api\.)?([A-Za-z_][\w.]*)\(/;

function openingOfPython(body: string, known: KnownTools): Opening {
  const name = pythonHead.exec(body)?.[1];
  if (name !== undefined && known.has(name)) return 'call';
  if (name === 'print' && /^print\(\s*[\w.]*$/.test(body)) return 'wait';
  return /^[\w.]*$/.test(body) ? 'wait' : 'text';
}

const jsonToken = /\s*([{}[\]:,]|"(?:[^"\\]|\\.)*"|[^\s{}[\]:,"]+)/y;

/** Reads `{"name": "<known>"`, after an optional `[`, `"type": "function"`, `"id"` or `"function": {`. */
export function openingOfJson(text: string, known: KnownTools): { opening: Opening; name?: string } {
  jsonToken.lastIndex = 0;
  const next = () => jsonToken.exec(text)?.[1];
  const wait = { opening: 'wait' } as const;
  const no = { opening: 'text' } as const;
  let token = next();
  if (token === '[') token = next();
  if (token === undefined) return wait;
  for (;;) {
    if (token !== '{' && token !== ',') return no;
    const key = next();
    const colon = key && next();
    const place = jsonToken.lastIndex;
    const value = colon && next();
    if (key === undefined) return wait;
    if (!/^"(name|type|id|function|arguments|parameters)"$/.test(key)) return no;
    if (colon === undefined) return wait;
    if (colon !== ':') return no;
    if (value === undefined) return /^\s*("|$)/.test(text.slice(place)) ? wait : no;
    if (key === '"arguments"' || key === '"parameters"') return value === '{' ? { opening: 'call' } : no;
    if (key === '"function"' && value === '{') {
      token = value;
      continue;
    }
    if (value[0] !== '"') return no;
    if (key === '"name"' || key === '"function"') {
      const name = value.slice(1, -1);
      return known.has(name) ? { opening: 'call', name } : no;
    }
    if (key === '"type"' && value !== '"function"') return no;
    token = next();
    if (token === undefined) return wait;
  }
}
