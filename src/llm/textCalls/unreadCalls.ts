import { MarkdownCode } from './markdownCode.ts';
import { beginsForm } from './reader.ts';

/**
 * Tells whether an answer ends in a tool call written as text that was not understood: a mark of a form, outside of code and quotations,
 * with something that is built like a call behind it, up to the end. An answer that only talks about such marks ends in words.
 */
export function hasUnreadCall(content: string): boolean {
  const text = content.trimEnd();
  if (!/[>\])}|]$/.test(text.slice(-1))) return false;
  const code = new MarkdownCode();
  for (const line of text.split(/(?<=\n)/)) {
    let from = 0;
    for (const { index: at } of line.matchAll(/[<[\]]/g)) {
      code.add(line.slice(from, at));
      from = at;
      if (!code.isCode && !code.isQuoted && beginsForm(line, at)) return true;
    }
    code.add(line.slice(from));
  }
  return false;
}
