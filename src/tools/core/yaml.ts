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
import { jsonTooLarge, maxJsonBytes, maxJsonDepth, type ParseProblem, tooDeep } from './parseLimits.ts';

/** How often anchors may be repeated in a file: a few are a help, thousands are a bomb. */
export const maxAliases = 100;

/**
 * Names, values and signs of a frontmatter, which is parsed while nothing else can be done: a few milliseconds' worth, and many times
 * what people write.
 */
export const maxFrontmatterBytes = 5000;

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
): { document: Document; trouble?: undefined } | { document?: undefined; trouble: NonNullable<ParseProblem> } {
  if (text.length > maxJsonBytes) return { trouble: { message: jsonTooLarge, at: 0 } };
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
    if (parser.stack.length > maxJsonDepth + aboveAndBelow) return stop(tooDeep);
    if (documents > 0 && parser.stack[0]?.type === 'document') return stop(several);
    if (CST.tokenType(lexeme) === 'alias' && ++aliases > maxAliases) return stop(tooManyAliases);
    if (++lexemes > mostTokens) return stop(`There are more than ${mostTokens} names, values and signs.`);
  }
  for (const token of parser.end()) tokens.push(token);
  const composer = new Composer({ uniqueKeys: false, ...options });
  const errors = limitErrors(composer);
  try {
    const [document] = composer.compose(tokens, true, text.length);
    return { document: document as Document };
  } catch (error) {
    if (error === errors) return { trouble: errors.first };
    throw error;
  }
}

/** Errors of one file. The library makes an object of each, which takes longer than reading what it is about. */
const maxErrors = 100;

/** Method to which the library reports an error; its types hide it. */
interface Reporting {
  onError(
    source: number | [number, ...number[]] | { offset?: number },
    code: string,
    message: string,
    isWarning?: boolean,
  ): void;
}

/** Makes the composer throw the returned object when there are more than `maxErrors`. */
function limitErrors(composer: Composer): { first: NonNullable<ParseProblem> } {
  const errors = { first: { message: '', at: 0 } };
  const reporting = composer as unknown as Reporting;
  const report = reporting.onError;
  let count = 0;
  reporting.onError = (source, code, message, isWarning) => {
    const at = typeof source === 'number' ? source : Array.isArray(source) ? source[0] : (source.offset ?? 0);
    if (count++ === 0) errors.first = { message: `${message}.`, at };
    if (count > maxErrors) throw errors;
    report(source, code, message, isWarning);
  };
  return errors;
}

/** The document, and the value that is being read. */
const aboveAndBelow = 2;
const several = 'There are several documents here (`---`): keep one a file.';
const tooManyAliases = `Aliases (\`*name\`) are here more than ${maxAliases} times: write the parts out.`;
