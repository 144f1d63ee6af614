/**
 * Returns a line that can be inserted into a terminal without running or another effect. Undefined for several lines or invisible
 * characters.
 */
export function terminalSafeLine(text: string): string | undefined {
  const line = text.replace(/[\r\n]+$/, '');
  return /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(line) || line === '' ? undefined : line;
}
