/** What stands around every error and says nothing of it: frames, the source line, what the runtime adds. */
const around =
  /^(at |File "|Traceback|node:|Node\.js v\d|note: run with|Require stack|A complete log|[\p{P}\p{S}\s]+$|throw \w+;?$|-?\d+$)/u;
const telling =
  /error|exception|panic|fatal|cannot|can't|could ?n[o']t|unable|unknown|not (found|set|supported|allowed)|no such|denied|missing|required|refused|invalid|failed|must be/i;

/** Some begin each of their lines with that. */
const withoutPrefix = (line: string) => line.replace(/^npm (error|ERR!)( (code|\d{3})\b)?\s*/, '');

/**
 * The line of an error output that says what went wrong: the last one that speaks of an error. `orLast`: else the last one that
 * says anything.
 */
export function stderrTail(output: string, orLast: boolean): string | undefined {
  const lines = output
    .split('\n')
    .map((line) => withoutPrefix(line.trim()))
    .filter((line) => line !== '' && !around.test(line));
  return lines.findLast((line) => telling.test(line)) ?? (orLast ? lines.at(-1) : undefined);
}
