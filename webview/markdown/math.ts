import type { Tokens } from 'marked';

/** Maximum formula length, which also bounds the cost of an unclosed delimiter. */
const longest = 2000;

/** Formulas in the forms of models: `$$…$$`, `$…$` (not a price: no inner space, no digit after), `\(…\)`, `\[…\]`, without blank lines. */
const formulas = [
  /^\$\$(?!\s*\$)(?:[^$\\\n]|\\[\s\S]|\n(?![ \t]*\n)){1,2000}?\$\$/,
  /^\$(?![\s$])(?:[^$\\\n]|\\.){0,2000}?(?<!\s)\$(?![\d$])/,
  /^\\\((?:[^\\\n]|\\(?!\))[\s\S]|\n(?![ \t]*\n)){1,2000}?\\\)/,
  /^\\\[(?:[^\\\n]|\\(?!\])[\s\S]|\n(?![ \t]*\n)){1,2000}?\\\]/,
];

export function mathStart(source: string): number | undefined {
  const at = source.search(/\$|\\[([]/);
  return at < 0 ? undefined : at;
}

/** Shows a formula as source, because math is not rendered and Markdown would remove its backslashes. */
export function math(source: string): Tokens.Escape | undefined {
  if (source[0] !== '$' && source[0] !== '\\') return undefined;
  const beginning = source.slice(0, longest + 4);
  for (const formula of formulas) {
    const raw = formula.exec(beginning)?.[0];
    if (raw) return { type: 'escape', raw, text: raw };
  }
  return undefined;
}
