import highlighter from 'highlight.js/lib/common';

export interface HighlightedCodeSegment {
  text: string;
  kind?: CodeKind;
}
type CodeKind =
  | 'keyword'
  | 'string'
  | 'number'
  | 'comment'
  | 'function'
  | 'type'
  | 'variable'
  | 'meta'
  | 'strong'
  | 'added'
  | 'removed';

/** Limits above which a block stays plain, to avoid delays. */
const maxCharacters = 30_000;
const maxRuns = 4000;
/** Word without blanks that grammars would rescan from each letter. */
const longWord = /\S{2000}/;

/** Highlights code as runs whose texts joined are the code. Unknown languages, very long code and very long words give one plain run. */
export function highlightCode(code: string, language: string): HighlightedCodeSegment[] {
  const plain = [{ text: code }];
  if (code.length > maxCharacters || longWord.test(code) || !highlighter.getLanguage(language)) return plain;
  const result = highlighter.highlight(code, { language, ignoreIllegals: true });
  if (!(result._emitter instanceof Runs)) return plain;
  const { list } = result._emitter;
  // A grammar that fails midway loses code; plain text is better.
  const length = list.reduce((sum, run) => sum + run.text.length, 0);
  return list.length > maxRuns || length !== code.length ? plain : list;
}

const kinds: Record<string, CodeKind> = {
  keyword: 'keyword',
  built_in: 'type',
  type: 'type',
  literal: 'keyword',
  number: 'number',
  regexp: 'string',
  string: 'string',
  char: 'string',
  symbol: 'variable',
  class: 'type',
  title: 'function',
  params: 'variable',
  comment: 'comment',
  quote: 'comment',
  doctag: 'keyword',
  meta: 'meta',
  section: 'strong',
  tag: 'keyword',
  name: 'keyword',
  attr: 'variable',
  attribute: 'variable',
  property: 'variable',
  variable: 'variable',
  'template-variable': 'variable',
  'template-tag': 'keyword',
  'selector-tag': 'keyword',
  'selector-id': 'type',
  'selector-class': 'type',
  'selector-attr': 'variable',
  'selector-pseudo': 'variable',
  bullet: 'keyword',
  code: 'string',
  strong: 'strong',
  link: 'string',
  addition: 'added',
  deletion: 'removed',
};

/** Emitter for highlight.js that records text and kind and never creates HTML. */
class Runs {
  readonly list: HighlightedCodeSegment[] = [];
  private readonly scopes: (CodeKind | undefined)[] = [];

  addText(text: string): void {
    const kind = this.scopes.at(-1);
    const last = this.list.at(-1);
    if (last && last.kind === kind) last.text += text;
    else if (text) this.list.push(kind ? { text, kind } : { text });
  }

  /** `title.class` and `title.class.inherited` are types; otherwise the first part decides, else the enclosing scope. */
  startScope(name: string): void {
    const kind = name.startsWith('title.class') ? 'type' : kinds[name.split('.')[0]!];
    this.scopes.push(kind ?? this.scopes.at(-1));
  }

  endScope(): void {
    this.scopes.pop();
  }

  openNode(name: string): void {
    this.startScope(name);
  }

  closeNode(): void {
    this.endScope();
  }

  __addSublanguage(emitter: unknown): void {
    if (emitter instanceof Runs) for (const run of emitter.list) this.list.push({ ...run });
  }

  finalize(): void {}

  toHTML(): string {
    return '';
  }
}

highlighter.configure({ __emitter: Runs });
