const errorClass = /^(?:(?:\w+\.)*\w*(?:Error|Exception)(?: \[\w+\])?|fatal(?: error)?|panic)\s*:\s*/i;
const logPrefix =
  /^(?:(?:ERROR|CRITICAL):[\w.]+:\s*|\[?\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?\]?\s*[-|]?\s*|\[?(?:ERROR|FATAL|WARN(?:ING)?|CRITICAL)\]?[:\s]\s*|npm (?:error|ERR!)\s*)+/;
/** Introduction of a list that follows on the next lines. */
const listStart = /\s*(?:Tried|Require stack|Usage|See|Details)?:\s*$/i;

/** Returns a server's error line as a sentence without a final period: no error class, no time, no introduction of a list. */
export function errorSentence(line: string): string {
  let text = line.trim().replace(logPrefix, '');
  for (let rest = text.replace(errorClass, ''); rest !== text && rest !== ''; rest = text.replace(errorClass, ''))
    text = rest;
  const sentence = text.replace(listStart, '').replace(/[.\s]+$/, '');
  return sentence === '' ? line.trim() : sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
