import { tokenize } from '@huggingface/jinja';
import { message } from '../../protocol/text/l10n.ts';
import { maxJsonDepth } from '../../tools/core/parseLimits.ts';
import { TemplateError } from './language.ts';

type Tokens = ReturnType<typeof tokenize>;

export const maxTemplateValues = 20_000;
/** Maximum consecutive blanks, because the library scans quadratically. */
const maxBlanks = 500;
/** Maximum operators, brackets and filters between two commas of an expression. */
const maxOperators = 200;

/**
 * Tokenizes a template that is safe to parse and run. Both recurse for each block, bracket and operator, and a stack overflow could end the
 * process. The checks are linear. Throws `TemplateError`, or the library's error for an invalid template.
 */
export function tokenizeTemplate(text: string): Tokens {
  const { inside, blanks } = measure(text);
  if (inside > maxTemplateValues)
    throw new TemplateError(
      message('A template can have at most {0} characters between its braces.', maxTemplateValues),
    );
  if (blanks > maxBlanks)
    throw new TemplateError(message('A template can have at most {0} blanks in a row.', maxBlanks));
  const tokens = tokenize(text);
  checkBlocks(tokens);
  checkExpressions(tokens);
  return withTests(tokens);
}

/** Converts `is divisibleby(3)` to a filter, because the library parses only tests without arguments. */
function withTests(tokens: Tokens): Tokens {
  const made: Tokens = [];
  for (let at = 0; at < tokens.length; at++) {
    const word = (offset: number) =>
      tokens[at + offset]?.type === 'Identifier' ? tokens[at + offset]!.value : undefined;
    const negated = word(1) === 'not';
    const name = word(negated ? 2 : 1);
    const length = negated ? 3 : 2;
    if (word(0) !== 'is' || name === undefined || tokens[at + length]?.type !== 'OpenParen') made.push(tokens[at]!);
    else {
      made.push({ type: 'Pipe', value: '|' }, { type: 'Identifier', value: `test:${negated ? 'not ' : ''}${name}` });
      at += length - 1;
    }
  }
  return made;
}

/** Measures a template like the library's tokenizer does: strings and the end of expressions. */
function measure(text: string): { inside: number; blanks: number } {
  let [inside, blanks, row, curly] = [0, 0, 0, 0];
  let within = false;
  for (let at = 0; at < text.length; at++) {
    const [character, two] = [text[at]!, text.slice(at, at + 2)];
    row = isBlank(character) ? row + 1 : 0;
    blanks = Math.max(blanks, row);
    if (two === '{#') {
      const end = text.indexOf('#}', at + 2);
      if (end < 0) return { inside, blanks }; // no template: the library reports the error
      blanks = Math.max(blanks, longestRow(text, at, end));
      at = end + 1;
      within = false;
    } else if (two === '{{' || two === '{%') {
      within = true;
      if (two === '{{') curly = 0;
      at++;
    } else if (within) {
      inside++;
      if (two === '%}' || (two === '}}' && curly <= 0)) {
        within = false;
        at++;
      } else if (character === '{') curly++;
      else if (character === '}') curly--;
      else if (character === '"' || character === "'") {
        const end = endOfText(text, at);
        inside += end - at;
        blanks = Math.max(blanks, longestRow(text, at, end));
        at = end;
      }
    }
  }
  return { inside, blanks };
}

const isBlank = (character: string) => /\s/.test(character);

function longestRow(text: string, from: number, to: number): number {
  let [longest, row] = [0, 0];
  for (let at = from; at < to; at++) {
    row = isBlank(text[at]!) ? row + 1 : 0;
    longest = Math.max(longest, row);
  }
  return longest;
}

function endOfText(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === text[start]) return at;
  }
  return text.length;
}

/** Limits nested blocks; the library parses each `elif` as a nested block. */
function checkBlocks(tokens: Tokens): void {
  const open: string[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'OpenStatement') continue;
    const name = tokens[index + 1]?.value ?? '';
    if (name.startsWith('end')) {
      while (open.at(-1) === 'elif') open.pop();
      if (open.at(-1) === name.slice(3)) open.pop();
    } else if (blocks.has(name) && !(name === 'set' && isAssignment(tokens, index))) open.push(name);
    if (open.length > maxJsonDepth)
      throw new TemplateError(message('Blocks are nested more than {0} levels deep here.', maxJsonDepth));
  }
}

const blocks = new Set(['if', 'elif', 'for', 'macro', 'call', 'filter', 'set']);

function isAssignment(tokens: Tokens, start: number): boolean {
  for (let at = start; at < tokens.length && tokens[at]!.type !== 'CloseStatement'; at++)
    if (tokens[at]!.type === 'Equals') return true;
  return false;
}

/** Limits the nesting depth, whose upper bound is the number of operators since the last comma over all open brackets. */
function checkExpressions(tokens: Tokens): void {
  let levels = [0];
  let depth = 0;
  for (const { type, value } of tokens) {
    if (type.startsWith('Open') || deepening.has(type) || (type === 'Identifier' && keywords.has(value))) {
      levels[levels.length - 1]! += 1;
      depth++;
    }
    if (type === 'OpenExpression' || type === 'OpenStatement') {
      levels = [0];
      depth = 0;
    } else if (type.startsWith('Open')) levels.push(0);
    else if (type === 'Comma' || (type.startsWith('Close') && levels.length > 1)) {
      depth -= levels.at(-1)!;
      if (type === 'Comma') levels[levels.length - 1] = 0;
      else levels.pop();
    }
    if (depth > maxOperators)
      throw new TemplateError(
        message('An expression can have at most {0} operators, brackets and filters.', maxOperators),
      );
  }
}

const deepening = new Set([
  ...['AdditiveBinaryOperator', 'MultiplicativeBinaryOperator', 'ExponentiationBinaryOperator', 'UnaryOperator'],
  ...['ComparisonBinaryOperator', 'Pipe', 'Dot', 'CallOperator', 'Equals'],
]);
const keywords = new Set(['not', 'and', 'or', 'in', 'is', 'if', 'else']);
