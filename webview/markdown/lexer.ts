import { Lexer, type MarkedToken, marked, Tokenizer } from 'marked';
import { math, mathStart } from './math.ts';

export type Token = MarkedToken;

/** Lists and quotes nested deeper than this are text: nobody reads them, and recursion has an end. */
const deepestNesting = 20;

/** Effort for emphasis and links, in delimiters × characters; marked looks back over a run for each delimiter. */
const effortPerBlock = 2e7;
const effortPerCall = 6e7;

/** The blocks of a Markdown text (GitHub's flavour), with their inline tokens. The tokens' `raw` joined are the text. */
export function lex(text: string): Token[] {
  const lexer = new Lexer({ ...marked.getDefaults(), gfm: true, tokenizer: boundedTokenizer(), extensions });
  lexer.blockTokens(text, lexer.tokens);
  let left = effortPerCall;
  for (let next = 0; next < lexer.inlineQueue.length; next++) {
    const { src, tokens } = lexer.inlineQueue[next]!;
    const effort = src.length * (src.match(/[*_~[\]<`!]/g)?.length ?? 0);
    left -= effort;
    if (effort > effortPerBlock || left < 0) tokens.push({ type: 'text', raw: src, text: src });
    else lexer.inlineTokens(src, tokens);
  }
  return lexer.tokens as Token[];
}

const extensions = { renderers: {}, childTokens: {}, inline: [math], startInline: [mathStart] };

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
