import {
  Composer,
  CST,
  type Document,
  type DocumentOptions,
  Lexer,
  type LineCounter,
  type ParseOptions,
  Parser,
  type SchemaOptions,
} from 'yaml';
import { mostBytes, mostDepth, type Trouble, tooDeep, tooLarge } from './bounds.ts';

/** How often anchors may be repeated in a file: a few are a help, thousands are a bomb. */
export const mostAliases = 100;

/**
 * Names, values and signs of a frontmatter, which is parsed while nothing else can be done: a few milliseconds' worth, and many times
 * what people write.
 */
export const mostFrontmatter = 5000;

/**
 * The document of a YAML text, or why it is not parsed. The parser's first half keeps a stack where its second calls itself, so that
 * what is nested too deeply is known before. Keys that are there twice are
 * left to the caller who does not ask for `uniqueKeys`: the library compares each with all.
 * @param mostTokens of what is parsed where nothing else can be done meanwhile: names, values, signs and line ends
 */
export function parseYaml(
  text: string,
  options: ParseOptions & DocumentOptions & SchemaOptions & { lineCounter?: LineCounter } = {},
  mostTokens = Number.POSITIVE_INFINITY,
): { document: Document; trouble?: undefined } | { document?: undefined; trouble: NonNullable<Trouble> } {
  if (text.length > mostBytes) return { trouble: { message: tooLarge, at: 0 } };
  options.lineCounter?.addNewLine(0);
  const parser = new Parser(options.lineCounter?.addNewLine);
  const tokens: CST.Token[] = [];
  let [lexemes, aliases, documents] = [0, 0, 0];
  for (const lexeme of new Lexer().lex(text)) {
    const at = parser.offset;
    for (const token of parser.next(lexeme)) {
      tokens.push(token);
      if (token.type === 'document') documents++;
    }
    const stop = (message: string) => ({ trouble: { message, at } });
    if (parser.stack.length > mostDepth + aboveAndBelow) return stop(tooDeep);
    if (documents > 0 && parser.stack[0]?.type === 'document') return stop(several);
    if (CST.tokenType(lexeme) === 'alias' && ++aliases > mostAliases) return stop(tooManyAliases);
    if (++lexemes > mostTokens) return stop(`There are more than ${mostTokens} names, values and signs.`);
  }
  for (const token of parser.end()) tokens.push(token);
  const [document] = new Composer({ uniqueKeys: false, ...options }).compose(tokens, true, text.length);
  return { document: document as Document };
}

/** The document, and the value that is being read. */
const aboveAndBelow = 2;
const several = 'There are several documents here (`---`): keep one a file.';
const tooManyAliases = `Aliases (\`*name\`) are here more than ${mostAliases} times: write the parts out.`;
