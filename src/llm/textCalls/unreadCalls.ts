import { MarkdownCodeTracker } from './markdownCode.ts';
import { hasToolCallSyntaxAt } from './reader.ts';

/**
 * Returns true if an answer ends in an unparsed text call: a form's mark outside of code and quotations, followed by a call structure up to
 * the end. An answer that only mentions marks ends in other text.
 */
export function hasUnparsedTextToolCall(content: string): boolean {
  const text = content.trimEnd();
  if (!/[>\])}|]$/.test(text.slice(-1))) return false;
  const code = new MarkdownCodeTracker();
  for (const line of text.split(/(?<=\n)/)) {
    let from = 0;
    for (const { index: at } of line.matchAll(/[<[\]]/g)) {
      code.add(line.slice(from, at));
      from = at;
      if (!code.isCode && !code.isQuoted && hasToolCallSyntaxAt(line, at)) return true;
    }
    code.add(line.slice(from));
  }
  return false;
}
