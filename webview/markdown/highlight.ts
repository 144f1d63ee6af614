import highlighter from 'highlight.js/lib/common';

/** A stretch of code in one colour; `kind` is the last part of its class, `hl-<kind>`. */
export interface CodeRun {
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

/** Beyond these a block stays plain: colors are not worth a stutter. */
const maxCharacters = 30_000;
const maxRuns = 4000;
/** A run without a blank. Grammars read one again from each of its letters. */
const longWord = /\S{2000}/;

/** The code in runs; their texts joined are the code. Unknown languages, very long code and very long words give one plain run. */
export function highlightRuns(code: string, language: string): CodeRun[] {
  const plain = [{ text: code }];
  if (code.length > maxCharacters || longWord.test(code) || !highlighter.getLanguage(language)) return plain;
  const result = highlighter.highlight(code, { language, ignoreIllegals: true });
  if (!(result._emitter instanceof Runs)) return plain;
  const { list } = result._emitter;
  // A grammar that fails half-way leaves half the code; no colour is worth a line.
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

/** highlight.js writes into an emitter of one's choice. This one keeps text and kind; it never makes HTML. */
class Runs {
  readonly list: CodeRun[] = [];
  private readonly scopes: (CodeKind | undefined)[] = [];

  addText(text: string): void {
    const kind = this.scopes.at(-1);
    const last = this.list.at(-1);
    if (last && last.kind === kind) last.text += text;
    else if (text) this.list.push(kind ? { text, kind } : { text });
  }

  /** `title.class` and `title.class.inherited` are types; otherwise the first part decides, else the scope around it. */
  startScope(name: string): void {
    const kind = name.startsWith('title.class') ? 'type' : kinds[name.split('.')[0]!];
    this.scopes.push(kind ?? this.scopes.at(-1));
  }

  endScope(): void {
    this.scopes.pop();
  }

  /** highlight.js calls the scopes of its modes by these names. */
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
