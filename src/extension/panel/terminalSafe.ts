/**
 * A line that can be typed into a terminal without being run, or doing anything else: neither line breaks nor characters that
 * nobody sees.
 * Undefined: there are several lines, or such characters.
 */
export function typable(text: string): string | undefined {
  const line = text.replace(/[\r\n]+$/, '');
  return /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(line) || line === '' ? undefined : line;
}
