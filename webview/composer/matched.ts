import { html, type TemplateResult } from 'lit-html';
import type { ComposerCompletion } from '../../src/protocol/content/mention.ts';
import { escapeInvisibleInLine } from '../../src/protocol/text/escapeInvisible.ts';

/** Returns the positions of matching letters: contiguous, else in order. */
export function matchingLetterPositions(text: string, query: string): number[] {
  const [lower, typed] = [text.toLowerCase(), query.toLowerCase()];
  if (typed === '' || lower.length !== text.length) return []; // a letter with another length in lower case
  const name = lower.lastIndexOf('/', lower.length - 2) + 1;
  const piece = lower.indexOf(typed, name) >= 0 ? lower.indexOf(typed, name) : lower.indexOf(typed);
  if (piece >= 0) return Array.from(typed, (_, at) => piece + at).filter((at) => at < piece + typed.length);
  return inOrder(lower, typed, name) ?? inOrder(lower, typed, 0) ?? [];
}

function inOrder(text: string, letters: string, from: number): number[] | undefined {
  const found: number[] = [];
  for (const letter of letters) {
    const at = text.indexOf(letter, (found.at(-1) ?? from - 1) + 1);
    if (at < 0) return undefined;
    found.push(at);
  }
  return found;
}

export function completionWithHighlightedMatches(
  row: ComposerCompletion,
  query: string,
): { label: TemplateResult[]; detail: TemplateResult[] } {
  const { label, detail = '' } = row;
  const path =
    'mention' in row && (row.mention.kind === 'file' || row.mention.kind === 'folder') ? row.mention.path : '';
  const bare = label.replace(/\/$/, '');
  const begin = path.length - bare.length;
  if (path === '' || !path.endsWith(bare) || !detail.startsWith(path.slice(0, Math.max(0, begin - 1))))
    return { label: bold(label, matchingLetterPositions(label, query)), detail: bold(detail, []) };
  const letters = matchingLetterPositions(`${path}${label.slice(bare.length)}`, query);
  return {
    label: bold(
      label,
      letters.map((at) => at - begin).filter((at) => at >= 0),
    ),
    detail: bold(
      detail,
      letters.filter((at) => at < begin - 1),
    ),
  };
}

/** Joins consecutive letters, so that screen readers do not spell them. */
function bold(text: string, letters: readonly number[]): TemplateResult[] {
  if (escapeInvisibleInLine(text) !== text) return [html`${escapeInvisibleInLine(text)}`];
  const parts: TemplateResult[] = [];
  let from = 0;
  for (let at = 0; at < letters.length; ) {
    const begin = letters[at]!;
    let end = begin + 1;
    for (at += 1; letters[at] === end; at += 1) end += 1;
    parts.push(html`${text.slice(from, begin)}<b>${text.slice(begin, end)}</b>`);
    from = end;
  }
  return [...parts, html`${text.slice(from)}`];
}
