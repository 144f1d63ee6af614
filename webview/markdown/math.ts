import type { Tokens } from 'marked';

/** Characters of a formula; an opening sign without its end costs no more. */
const longest = 2000;

/** Formulas as models write them: `$$…$$`, `$…$` (not a price: no space inside, no digit behind), `\(…\)`, `\[…\]`. None spans a blank line. */
const formulas = [
  /^\$\$(?!\s*\$)(?:[^$\\\n]|\\[\s\S]|\n(?![ \t]*\n)){1,2000}?\$\$/,
  /^\$(?![\s$])(?:[^$\\\n]|\\.){0,2000}?(?<!\s)\$(?![\d$])/,
  /^\\\((?:[^\\\n]|\\(?!\))[\s\S]|\n(?![ \t]*\n)){1,2000}?\\\)/,
  /^\\\[(?:[^\\\n]|\\(?!\])[\s\S]|\n(?![ \t]*\n)){1,2000}?\\\]/,
];

/** Where the next formula may begin; undefined: nowhere. */
export function mathStart(source: string): number | undefined {
  const at = source.search(/\$|\\[([]/);
  return at < 0 ? undefined : at;
}

/** A formula is shown as it was written, to its last backslash: we draw none, and a mark of it that is read as Markdown's own is lost. */
export function math(source: string): Tokens.Escape | undefined {
  if (source[0] !== '$' && source[0] !== '\\') return undefined;
  const beginning = source.slice(0, longest + 4);
  for (const formula of formulas) {
    const raw = formula.exec(beginning)?.[0];
    if (raw) return { type: 'escape', raw, text: raw };
  }
  return undefined;
}
