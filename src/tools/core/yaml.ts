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
import { jsonTooDeepReason, jsonTooLargeReason, maxJsonBytes, maxJsonDepth, type ParseProblem } from './parseLimits.ts';

/** Maximum alias references in a file: a few are useful, thousands are an expansion attack. */
export const maxYamlAliases = 100;

/**
 * Maximum bytes of a frontmatter. Parsing blocks the thread, so this bounds the duration to a few milliseconds; real frontmatter is far
 * smaller.
 */
export const maxFrontmatterBytes = 5000;

/**
 * Parses a YAML text, or returns the reason not to parse. The lexer uses an explicit stack and the composer recursion, so excessive nesting
 * is detected before composition. Duplicate keys are the caller's task without `uniqueKeys`: the library compares every pair of keys.
 * @param mostTokens limit of names, values, signs and line ends for parsing that blocks the thread
 */
export function parseYaml(
  text: string,
  options: ParseOptions & DocumentOptions & SchemaOptions & { lineCounter?: LineCounter } = {},
  maxTokens = Number.POSITIVE_INFINITY,
): { document: Document; trouble?: undefined } | { document?: undefined; trouble: NonNullable<ParseProblem> } {
  if (text.length > maxJsonBytes) return { trouble: { message: jsonTooLargeReason, at: 0 } };
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
    if (parser.stack.length > maxJsonDepth + aboveAndBelow) return stop(jsonTooDeepReason);
    if (documents > 0 && parser.stack[0]?.type === 'document') return stop(several);
    if (CST.tokenType(lexeme) === 'alias' && ++aliases > maxYamlAliases) return stop(tooManyAliases);
    if (++lexemes > maxTokens) return stop(`There are more than ${maxTokens} names, values and signs.`);
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

// Maximum errors per file: the library creates an object for each, which is slower than parsing.
const maxErrors = 100;

interface Reporting {
  onError(
    source: number | [number, ...number[]] | { offset?: number },
    code: string,
    message: string,
    isWarning?: boolean,
  ): void;
}

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

// Levels outside of the nesting count: the document and the current value.
const aboveAndBelow = 2;
const several = 'There are several documents here (`---`): keep one a file.';
const tooManyAliases = `Aliases (\`*name\`) are here more than ${maxYamlAliases} times: write the parts out.`;
