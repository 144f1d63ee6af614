/**
 * The small languages of programs that only read: which texts in them do no more. Each is a pattern of what is known to be
 * harmless, not of what is known to harm.
 */

const address = String.raw`(?:\d+|\$|\/(?:[^\/\n\\]|\\[^\n])*\/I?)`;
const part = String.raw`(?:[^\n\\/]|\\[^\n])*`;
const shownOtherwise = ['\\/', '\\|', ',', '#']
  .map((mark) => `s${mark}${part.replace('/', mark)}${mark}${part.replace('/', mark)}${mark}[gIip0-9]*`)
  .join('|');
const sedCommand = String.raw`(?:${address}(?:,(?:${address}|[+~]\d+))?\s*!?)?\s*(?:[pdqQ=]|${shownOtherwise})`;
const sedScript = new RegExp(String.raw`^\s*${sedCommand}(?:\s*;\s*${sedCommand})*\s*;?\s*$`);
/** Lines are printed, left out or shown otherwise: no `w`, `r`, `e`, and none of them as a flag of `s`. */
export const sedReads = (script: string): boolean => sedScript.test(script);

const operand = String.raw`(?:\$(?:\d+|NF|\(NF-\d\))|NR|FNR|NF|\d+(?:\.\d+)?|"[^"\\\n]*"|length(?:\(\$\d+\)|\(\))?)`;
const comparison = String.raw`(?:${operand}\s*(?:==|!=|>=|<=|<|>|~|!~)\s*(?:${operand}|\/[^\/\n]*\/)|!?\/[^\/\n]*\/|NF|NR%\d+==\d+)`;
const shown = String.raw`${operand}(?:(?:\s*,\s*|\s+)${operand})*`;
const awkProgram = new RegExp(
  String.raw`^\s*(?:${comparison}(?:\s*(?:&&|\|\||,)\s*${comparison})*)?\s*(?:\{\s*print(?:\s+${shown})?\s*;?\s*\})?\s*$`,
);
/** Fields and lines are chosen and printed: no call, no pipe, no file. */
export const awkReads = (program: string): boolean => program.trim() !== '' && awkProgram.test(program);

/** jq has no way to write or to start anything; what it could read beside its files are modules and the environment. */
export const jqReads = (filter: string): boolean =>
  !/\b(import|include|env|input_filename|modulemeta|get_search_list)\b|\$ENV|\$__/.test(
    filter.replace(/\.[A-Za-z_]\w*/g, ''),
  );

/** The paths that `test` looks at; undefined for a form that is not known. */
export function testedPaths(words: readonly string[]): string[] | undefined {
  const [first, ...rest] = words;
  if (first === '!' && rest.length > 0) return testedPaths(rest);
  if (words.length === 2 && /^-[nz]$/.test(first!)) return [];
  if (words.length === 2 && /^-[edfsrwxLh]$/.test(first!)) return [rest[0]!];
  if (words.length === 3 && /^(=|==|!=|-eq|-ne|-lt|-le|-gt|-ge)$/.test(rest[0]!)) return [];
  return undefined;
}
