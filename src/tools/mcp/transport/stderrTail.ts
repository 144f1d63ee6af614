/** Lines around an error without information: frames, source lines, runtime notes. */
const around =
  /^(at |File "|Traceback|node:|Node\.js v\d|note: run with|Require stack|A complete log|[\p{P}\p{S}\s]+$|throw \w+;?$|-?\d+$)/u;
const telling =
  /error|exception|panic|fatal|cannot|can't|could ?n[o']t|unable|unknown|not (found|set|supported|allowed)|no such|denied|missing|required|refused|invalid|failed|must be/i;

const withoutPrefix = (line: string) => line.replace(/^npm (error|ERR!)( (code|\d{3})\b)?\s*/, '');

/** Returns the last line of stderr about an error. `orLast`: otherwise the last line with any text. */
export function stderrTail(output: string, orLast: boolean): string | undefined {
  const lines = output
    .split('\n')
    .map((line) => withoutPrefix(line.trim()))
    .filter((line) => line !== '' && !around.test(line));
  return lines.findLast((line) => telling.test(line)) ?? (orLast ? lines.at(-1) : undefined);
}
