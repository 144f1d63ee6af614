import { Lexer, type MarkedToken, marked, Tokenizer } from 'marked';
import { withCjkEmphasis } from './emphasis.ts';
import { fileLink } from './fileLink.ts';
import { math, mathStart } from './math.ts';

export type Token = MarkedToken;

/** Maximum nesting of lists and quotes; deeper blocks are text, which bounds the recursion. */
const deepestNesting = 20;

/** Effort limits for emphasis and links, in delimiters × characters: marked rescans the text for each delimiter. */
const effortPerBlock = 2e7;
const effortPerCall = 6e7;

/** Lexes Markdown (GitHub flavored) into blocks with inline tokens. The `raw` of all tokens joined is the text. */
export function lex(text: string): Token[] {
  const tokenizer = boundedTokenizer();
  const lexer = new Lexer({ ...marked.getDefaults(), gfm: true, tokenizer, extensions });
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
  return lexer.tokens as Token[];
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
