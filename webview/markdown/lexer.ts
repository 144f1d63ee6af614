import { getDefaults, Lexer, type MarkedToken, Tokenizer, type Tokens } from 'marked';
import { withCjkEmphasis } from './emphasis.ts';
import { linkTarget } from './links.ts';

/** Maximum formula length, which also bounds the cost of an unclosed delimiter. */
const longest = 2000;

/** Formulas in the forms of models: `$$…$$`, `$…$` (not a price: no inner space, no digit after), `\(…\)`, `\[…\]`, without blank lines. */
const formulas = [
  /^\$\$(?!\s*\$)(?:[^$\\\n]|\\[\s\S]|\n(?![ \t]*\n)){1,2000}?\$\$/,
  /^\$(?![\s$])(?:[^$\\\n]|\\.){0,2000}?(?<!\s)\$(?![\d$])/,
  /^\\\((?:[^\\\n]|\\(?!\))[\s\S]|\n(?![ \t]*\n)){1,2000}?\\\)/,
  /^\\\[(?:[^\\\n]|\\(?!\])[\s\S]|\n(?![ \t]*\n)){1,2000}?\\\]/,
];

function mathStart(source: string): number | undefined {
  const at = source.search(/\$|\\[([]/);
  return at < 0 ? undefined : at;
}

/** Shows a formula as source, because math is not rendered and Markdown would remove its backslashes. */
function math(source: string): Tokens.Escape | undefined {
  if (source[0] !== '$' && source[0] !== '\\') return undefined;
  const beginning = source.slice(0, longest + 4);
  for (const formula of formulas) {
    const raw = formula.exec(beginning)?.[0];
    if (raw) return { type: 'escape', raw, text: raw };
  }
  return undefined;
}

/** Link or image with blanks in its address, for which CommonMark requires `<…>`. Longer texts are not links. */
const form = /^(!?)\[((?:\\.|`[^`\n]*`|\[[^[\]\n]*\]|[^[\]\\`\n]){1,400})\]\(((?:[^()<>"\n]|\([^()<>"\n]*\)){1,400})\)/;

/** File by its form: the last name has an extension or a line follows. */
const isFile = /(?:\.\p{L}[\p{L}\p{N}_-]*|:\d+(?:[:-]\d+)?|#L\d+(?:-L?\d+)?)$/u;

/** Parses a link to a path with blanks, as written by models: `[the file](src/my file.ts:12)`. */
function fileLink(this: { lexer: Lexer }, source: string): Tokens.Link | Tokens.Image | undefined {
  if (source[0] !== '[' && !source.startsWith('![')) return undefined;
  const [raw, image, text, address] = form.exec(source) ?? [];
  const href = address?.trim();
  if (!raw || !text || !href?.includes(' ') || !isFile.test(href) || linkTarget(href).kind !== 'file') return undefined;
  if (image) return { type: 'image', raw, href, title: null, text, tokens: [] };
  return { type: 'link', raw, href, title: null, text, tokens: this.lexer.inlineTokens(text) };
}

export type MarkdownToken = MarkedToken;

/** Maximum nesting of lists and quotes; deeper blocks are text, which bounds the recursion. */
const deepestNesting = 20;

/** Effort limits for emphasis and links, in delimiters × characters: marked rescans the text for each delimiter. */
const effortPerBlock = 2e7;
const effortPerCall = 6e7;

/** Lexes Markdown (GitHub flavored) into blocks with inline tokens. The `raw` of all tokens joined is the text. */
export function lexMarkdown(text: string): MarkdownToken[] {
  const tokenizer = boundedTokenizer();
  const lexer = new Lexer({ ...getDefaults(), gfm: true, tokenizer, extensions });
  tokenizer.rules = { ...tokenizer.rules, inline: inlineRules(tokenizer) };
  lexer.blockTokens(text, lexer.tokens);
  let left = effortPerCall;
  for (let next = 0; next < lexer.inlineQueue.length; next++) {
    const { src, tokens } = lexer.inlineQueue[next]!;
    const effort = effortOf(src);
    left -= effort;
    if (effort > effortPerBlock || left < 0) tokens.push({ type: 'text', raw: src, text: src });
    else lexer.inlineTokens(src, tokens);
  }
  return lexer.tokens as MarkdownToken[];
}

/** Weight of an address in delimiters: the text is split there, and each piece is scanned again. */
const addressWeight = 8;

function effortOf(text: string): number {
  const delimiters = text.match(/[*_~[\]<`!]/g)?.length ?? 0;
  const addresses = text.match(/@|www\.|:\/\/|mailto:/gi)?.length ?? 0;
  return text.length * (delimiters + addressWeight * addresses) + effortOfLocalParts(text);
}

/** Effort before an `@`: marked rescans a possible local part of an e-mail address from each letter. */
function effortOfLocalParts(text: string): number {
  let effort = 0;
  let start = 0;
  for (let at = text.indexOf('@'); at >= 0; start = at + 1, at = text.indexOf('@', start)) {
    let from = at;
    while (from > start && /[\w.!#$%&'*+/=?`{|}~-]/.test(text[from - 1]!)) from--;
    effort += (at - from) ** 2;
  }
  return effort;
}

let rules: Tokenizer['rules']['inline'] | undefined;
const inlineRules = (tokenizer: Tokenizer) => {
  rules ??= withCjkEmphasis(tokenizer.rules.inline);
  return rules;
};

const extensions = { renderers: {}, childTokens: {}, inline: [math, fileLink], startInline: [mathStart] };

function boundedTokenizer(): Tokenizer {
  const tokenizer = new Tokenizer();
  let depth = 0;
  const bounded = <Found>(rule: (source: string) => Found | undefined) =>
    function (this: unknown, source: string): Found | undefined {
      if (depth >= deepestNesting) return undefined;
      depth++;
      try {
        return rule.call(tokenizer, source);
      } finally {
        depth--;
      }
    };
  tokenizer.blockquote = bounded(tokenizer.blockquote);
  tokenizer.list = bounded(tokenizer.list);
  return tokenizer;
}
