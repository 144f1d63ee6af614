import { html, nothing, type TemplateResult } from 'lit-html';
import { guard } from 'lit-html/directives/guard.js';
import { escapeInvisible } from '../../src/protocol/text/escapeInvisible.ts';
import { localizedCount, t } from '../../src/protocol/text/l10n.ts';

interface Line {
  sign: '+' | '-' | '@';
  /** Line number after the change; for removed lines, before the change. */
  number: number;
  text: string;
}

/** Parses a diff of `formatFileChange`. `left`: number of omitted lines. */
function readDiff(diff: string): { lines: Line[]; left: number } {
  const lines: Line[] = [];
  let [before, after, left] = [0, 0, 0];
  for (const line of diff.split('\n')) {
    const hunk = /^@@ -(\d+),\d+ \+(\d+),\d+ @@(?: cell (\d+))?$/.exec(line);
    if (hunk) {
      [before, after] = [Number(hunk[1]), Number(hunk[2])];
      const cell = hunk[3] === undefined ? '' : t('Cell {0}', hunk[3]);
      if (lines.length > 0 || cell) lines.push({ sign: '@', number: 0, text: cell });
    } else if (line[0] === '-') lines.push({ sign: '-', number: before++, text: line.slice(1) });
    else if (line[0] === '+') lines.push({ sign: '+', number: after++, text: line.slice(1) });
    else if (/^… \d+$/.test(line)) left = Number(line.slice(2));
  }
  return { lines, left };
}

/**
 * Renders a colored diff.
 *
 * @param more shows the omitted lines; absent: only their number is displayed
 */
export function diffView(diff: string, label: string, more?: () => void): TemplateResult {
  return html`<div class="diff" tabindex="0" role="group" aria-label=${label}>${guard([diff, more === undefined], () => drawn(diff, more))}</div>`;
}

function drawn(diff: string, more: (() => void) | undefined): TemplateResult {
  const { lines, left } = readDiff(diff);
  const width = String(Math.max(1, ...lines.map(({ number }) => number))).length;
  const words = localizedCount(left, 'more changed line');
  return html`<div role="list">${lines.map(({ sign, number, text }) =>
    sign === '@'
      ? html`<div class="diff-gap" role=${text ? 'listitem' : 'none'}>${text}</div>`
      : html`<div class="diff-line" role="listitem" data-sign=${sign}><span class="diff-number">${String(number).padStart(width)}</span><span class="diff-sign" role="img" aria-label=${sign === '-' ? t('removed') : t('added')}>${sign === '-' ? '−' : '+'}</span><span class="diff-text">${escapeInvisible(text)}</span></div>`,
  )}</div>${left === 0 ? nothing : more ? html`<button class="more" data-testid="more-lines" @click=${more}>${t(words)}</button>` : html`<div class="quiet diff-left">${t('{0}: see Diff', words)}</div>`}`;
}
