import { protectedPathForms } from '../../policy/protectedTable.ts';
import { secretPathForms } from '../../policy/secretFiles.ts';

/** Letters with another form that a disk without case takes for the same, besides the upper case. */
const otherForms: Readonly<Record<string, string>> = { s: 'ſ', k: '\u212a' };

/**
 * Returns regular expressions of Seatbelt for the rest of a path below an open folder, from the slash on. A path that matches one cannot be written:
 * protected names at any depth, also names that do not exist yet, and everything of Git.
 */
export function protectedPatterns(): readonly string[] {
  known ??= ['/(?:[.]git|git~1)(?:/.*)?$', ...protectedPathForms(), ...secretPathForms()].map(
    (form) => `(/.*)?${toSeatbelt(form)}`,
  );
  return known;
}

let known: readonly string[] | undefined;

/** Translates a regular expression for lower-case paths: Seatbelt knows no groups without capture, and distinguishes cases. */
export function toSeatbelt(form: string): string {
  let isClass = false;
  return form.replaceAll('(?:', '(').replace(/\\.|[\s\S]/g, (sign) => {
    if (sign === '[' || sign === ']') isClass = sign === '[';
    if (!/^[a-z]$/.test(sign)) return sign;
    const both = `${sign}${sign.toUpperCase()}`;
    if (isClass) return both;
    return otherForms[sign] ? `([${both}]|${otherForms[sign]})` : `[${both}]`;
  });
}
