import { beginsForm } from './reader.ts';

/**
 * Tells whether an answer ends in a tool call written as text that was not understood: a mark of a form, outside of code and quotations,
 * with something that is built like a call behind it, up to the end. An answer that only talks about such marks ends in words.
 */
export function hasUnreadCall(content: string): boolean {
  const text = content.trimEnd();
  if (!/[>\])}|]$/.test(text.slice(-1))) return false;
  let fence: string | undefined;
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined) fence = fence === undefined ? mark : line.trim() === fence ? undefined : fence;
    else if (fence === undefined && !/^(?: {4}|\t| {0,3}>)/.test(line)) {
      const plain = line.replace(/`+[^`]*`+/g, '');
      for (const { index } of plain.matchAll(/[<[\]]/g)) if (beginsForm(plain, index)) return true;
    }
  }
  return false;
}
