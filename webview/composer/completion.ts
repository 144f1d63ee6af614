import { html, nothing, type TemplateResult } from 'lit-html';
import type { Completion } from '../../src/protocol/mention.ts';
import { wordOf } from '../../src/protocol/named.ts';
import type { HostMessage } from '../../src/protocol/view.ts';
import { visibleLine } from '../../src/protocol/visible.ts';
import type { PanelContext } from '../context.ts';
import { area } from './draft.ts';
import { pick } from './mentions.ts';

/** What is being typed after an `@`, from its place in the message, and what may be meant by it. */
let open: { from: number; query: string; rows: readonly Completion[]; at: number; problem?: string } | undefined;
let asked = 0;

export const isCompleting = (): boolean => open !== undefined && (open.rows.length > 0 || open.problem !== undefined);

/** The words or the caret are elsewhere: asks anew what may be meant, or closes the list. Not while an input method is at it. */
export function lookForMention(context: PanelContext, event: { isComposing?: boolean }): void {
  if (event.isComposing) return;
  const box = area()?.control as HTMLTextAreaElement | undefined;
  const typed = box && box.selectionStart === box.selectionEnd ? typedBefore(box.value, box.selectionStart) : undefined;
  if (!typed) {
    close(context);
    return;
  }
  if (open?.from === typed.from && open.query === typed.query) return;
  // What is known already stays until the answer is here: a list that comes and goes with each key cannot be read.
  open = { rows: [], at: 0, ...(open?.from === typed.from && open), ...typed };
  asked += 1;
  context.post({ type: 'complete', query: typed.query, asked });
}

function typedBefore(text: string, caret: number): { from: number; query: string } | undefined {
  const [, query] = /(?:^|[\s([{"'])@([^\s@]{0,200})$/.exec(text.slice(0, caret)) ?? [];
  return query === undefined ? undefined : { from: caret - query.length - 1, query };
}

/** What the host says may be meant. The row that the person is at stays, where it is there still. */
export function completed(message: Extract<HostMessage, { type: 'completions' }>): void {
  if (!open || message.asked !== asked) return;
  const { rows, problem } = message;
  const chosen = open.at > 0 ? open.rows[open.at] : undefined;
  const place = chosen ? rows.findIndex(({ mention }) => wordOf(mention) === wordOf(chosen.mention)) : 0;
  open = { from: open.from, query: open.query, rows, at: Math.max(0, place), ...(problem && { problem }) };
}

export function close(context: PanelContext): void {
  if (!open) return;
  open = undefined;
  context.refresh();
}

/** A key for the list, as long as it is open: true when it was one. */
export function onCompletionKey(context: PanelContext, event: KeyboardEvent): boolean {
  if (!open || !isCompleting() || event.isComposing || event.keyCode === 229) return false;
  const { rows, at } = open;
  if (event.key === 'Escape') {
    close(context);
  } else if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || rows.length === 0) {
    return false;
  } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    open.at = (at + (event.key === 'ArrowDown' ? 1 : -1) + rows.length) % rows.length;
    context.refresh();
  } else if (event.key === 'Enter' || event.key === 'Tab') {
    accept(context, rows[at]!);
  } else {
    return false;
  }
  event.preventDefault();
  event.stopPropagation();
  return true;
}

/** Writes its word in the place of what was typed, as if by hand: the editor's own undo takes it back. */
function accept(context: PanelContext, { mention }: Completion): void {
  const box = area()?.control as HTMLTextAreaElement | undefined;
  if (!open || !box) return;
  const { from, query } = open;
  const word = wordOf(mention);
  close(context);
  box.focus();
  box.setSelectionRange(from, from + 1 + query.length);
  document.execCommand('insertText', false, `${word} `);
  pick(context, mention);
  context.refresh();
}

/** Above the message box. */
export function completionList(context: PanelContext): TemplateResult | typeof nothing {
  if (!open || !isCompleting()) return nothing;
  const { rows, at, problem } = open;
  const words = ({ label, detail }: Completion) => visibleLine([label, ...(detail ? [detail] : [])].join(', '));
  const current = rows[at];
  return html`<div class="completion" data-testid="completion" @mousedown=${(event: Event) => event.preventDefault()}>
    ${
      rows.length > 0
        ? html`<div role="listbox" aria-label="What may be meant">${rows.map(
            (row, place) =>
              html`<div class="completion-row" role="option" aria-selected=${place === at ? 'true' : 'false'} title=${words(row)}
                data-kind=${row.mention.kind} @click=${() => accept(context, row)}><span class="completion-label">${visibleLine(row.label)}</span>${
                  row.detail ? html`<span class="completion-detail">${visibleLine(row.detail)}</span>` : nothing
                }</div>`,
          )}</div>`
        : nothing
    }
    ${problem ? html`<p class="quiet">${visibleLine(problem)}</p>` : nothing}
    <div class="for-screen-readers" role="status">${current ? `${words(current)}, ${at + 1} of ${rows.length}` : ''}</div>
  </div>`;
}

/** After each drawing: the row that the person is at is in view. */
export function settleCompletion(): void {
  if (open) document.querySelector('.completion [aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
}
