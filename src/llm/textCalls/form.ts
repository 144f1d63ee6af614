export type ToolCallSyntaxElement =
  | { kind: 'mark'; parts: readonly MarkPart[] }
  | { kind: 'blank' }
  | { kind: Placeholder }
  | { kind: 'group'; elements: readonly ToolCallSyntaxElement[]; repeat: '?' | '*' | '+' };

type Placeholder = 'name' | 'args' | 'json' | 'keyed' | 'python' | 'literal' | 'key' | 'value' | 'word' | 'id';
type MarkPart = string | RegExp;

const insideMarks: Readonly<Record<string, RegExp>> = {
  prefix: /(?:\|\w+\|)?(?:[\w-]+[:|])?/y,
  family: /(?:[a-z][a-z\d]*[_:|](?=(?:tool|function|arg)_))?/y,
  quote: /["']?/y,
  suffix: /(?::\w+)?/y,
  attributes: /[^<>]*/y,
  section: /(?:function|tool)_calls?/y,
  thinking: /thinking|think(?:_\w+)?|thoughts?|reasoning/y,
};

const placeholders: readonly string[] = [
  'name',
  'args',
  'json',
  'keyed',
  'python',
  'literal',
  'key',
  'value',
  'word',
  'id',
] satisfies Placeholder[];

export function compileToolCallSyntax(form: string): readonly ToolCallSyntaxElement[] {
  const token = /\{(\w+)\}|(\()|(\)[?*+])|( )|([^{}() ]+)/y;
  const open: ToolCallSyntaxElement[][] = [[]];
  let parts: MarkPart[] = [];
  const add = (element?: ToolCallSyntaxElement) => {
    if (parts.length > 0) open.at(-1)!.push({ kind: 'mark', parts });
    parts = [];
    if (element) open.at(-1)!.push(element);
  };
  for (let at = 0; at < form.length; at = token.lastIndex) {
    token.lastIndex = at;
    const [, name, opening, closing, blank, text] = token.exec(form) ?? [];
    const inside = insideMarks[name ?? ''];
    if (text !== undefined) parts.push(text);
    else if (inside) parts.push(inside);
    else if (name !== undefined && placeholders.includes(name)) add({ kind: name as Placeholder });
    else if (blank) {
      const last = parts.at(-1);
      // a blank inside a tag (`<invoke name=`) belongs to the mark
      if (typeof last === 'string' && /[<\w]$/.test(last) && isInsideTag(parts)) parts[parts.length - 1] = `${last} `;
      else add({ kind: 'blank' });
    } else if (opening) {
      add();
      open.push([]);
    } else if (closing) {
      add();
      const elements = open.pop()!;
      open.at(-1)!.push({ kind: 'group', elements, repeat: closing[1] as '?' | '*' | '+' });
    } else throw new Error(`The form ${form} cannot be read at ${at}.`);
  }
  add();
  return open[0]!;
}

const isInsideTag = (parts: readonly MarkPart[]): boolean => {
  const text = parts.map((part) => (typeof part === 'string' ? part : '')).join('');
  return text.lastIndexOf('<') > text.lastIndexOf('>');
};

/** Replaces DeepSeek's special letters by plain letters of the same length. */
export const normalizeToolCallMarkers = (text: string): string =>
  /[｜▁]/.test(text) ? text.replaceAll('｜', '|').replaceAll('▁', '_') : text;

/** Returns the index after a mark at `at`; `no` without a match, `cut` if the text ends within a possible mark. */
export function matchToolCallMarker(parts: readonly MarkPart[], text: string, at: number): number | 'no' | 'cut' {
  let end = at;
  for (const [index, part] of parts.entries()) {
    if (typeof part === 'string') {
      if (text.startsWith(part, end)) end += part.length;
      else return text.length - end < part.length && part.startsWith(text.slice(end)) ? 'cut' : 'no';
      continue;
    }
    part.lastIndex = end;
    const found = part.exec(text);
    const next = parts[index + 1];
    const behind = end + (found?.[0].length ?? 0);
    const isOver = found !== null && (typeof next !== 'string' || text.startsWith(next, behind));
    // may become a longer mark: `<ant` of `<invoke`
    if (!isOver && text.length - end <= 40 && /^[\w|:-]*$/.test(text.slice(end))) return 'cut';
    if (!found) return 'no';
    end = behind;
  }
  return end;
}

export function findToolCallMarker(
  parts: readonly MarkPart[],
  text: string,
  from: number,
): { start: number; end: number } | undefined {
  const [first] = parts as [string];
  for (let start = text.indexOf(first, from); start !== -1; start = text.indexOf(first, start + 1)) {
    const end = matchToolCallMarker(parts, text, start);
    if (typeof end === 'number') return { start, end };
  }
  return undefined;
}
