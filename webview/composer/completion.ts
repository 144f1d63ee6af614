import { html, nothing, type TemplateResult } from 'lit-html';
import type { ComposerCompletion, Mention } from '../../src/protocol/content/mention.ts';
import { completedComposerText } from '../../src/protocol/content/mentionText.ts';
import type { SlashCommand } from '../../src/protocol/content/slash.ts';
import type { SlashAction } from '../../src/protocol/panel/intents.ts';
import type { HostMessage } from '../../src/protocol/panel/panelMessages.ts';
import { escapeInvisibleInLine } from '../../src/protocol/text/escapeInvisible.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';
import { composerTextArea } from './draft.ts';
import { completionWithHighlightedMatches } from './matched.ts';
import { pickMention } from './mentions.ts';
import { clearTypedMention } from './typedMentions.ts';
import { type TypedCompletionQuery, typedQueryBeforeCaret } from './typedWord.ts';

/** Word being typed after an `@` or an initial `/`, with its completions. */
let open: (TypedCompletionQuery & { rows: readonly ComposerCompletion[]; at: number; problem?: string }) | undefined;
let asked = 0;

const isCompleting = (): boolean => open !== undefined && (open.rows.length > 0 || open.problem !== undefined);

/** Updates the completions after input or caret movement, except during input method composition. */
export function updateComposerCompletions(context: PanelContext, event: { isComposing?: boolean }): void {
  if (event.isComposing) return;
  const box = composerTextArea()?.control as HTMLTextAreaElement | undefined;
  const typed =
    box && box.selectionStart === box.selectionEnd ? typedQueryBeforeCaret(box.value, box.selectionStart) : undefined;
  if (!typed) {
    closeComposerCompletions(context);
    return;
  }
  const isSame = open?.from === typed.from && open.after === typed.after;
  if (isSame && open!.query === typed.query) return;
  // Earlier rows stay until the answer arrives, to avoid flicker.
  open = { rows: [], at: 0, ...(isSame && open), ...typed };
  asked += 1;
  context.post({ type: 'complete', after: typed.after, query: typed.query, asked });
}

/** Receives completions; the selected row stays selected if still present. */
export function receiveComposerCompletions(message: Extract<HostMessage, { type: 'completions' }>): void {
  if (!open || message.asked !== asked) return;
  const { rows, problem } = message;
  const chosen = open.at > 0 ? open.rows[open.at] : undefined;
  const place = chosen ? rows.findIndex((row) => completedComposerText(row) === completedComposerText(chosen)) : 0;
  const { after, from, query } = open;
  open = { after, from, query, rows, at: Math.max(0, place), ...(problem && { problem }) };
}

export function closeComposerCompletions(context: PanelContext): void {
  if (!open) return;
  open = undefined;
  context.refresh();
}

export function onCompletionKey(context: PanelContext, event: KeyboardEvent): boolean {
  if (!open || !isCompleting() || event.isComposing || event.keyCode === 229) return false;
  const { rows, at } = open;
  if (event.key === 'Escape') {
    closeComposerCompletions(context);
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

/**
 * Inserts the completion as typed text, so that the editor's undo works. Immediate commands leave no text; their remaining text becomes a
 * message.
 */
function accept(context: PanelContext, row: ComposerCompletion): void {
  const box = composerTextArea()?.control as HTMLTextAreaElement | undefined;
  if (!open || !box) return;
  const { from, query } = open;
  clearTypedMention();
  const act = 'slash' in row && row.slash.kind === 'act' && (row.slash.word.slice(1) as SlashAction);
  const word = act ? '' : `${completedComposerText(row)} `;
  closeComposerCompletions(context);
  box.focus();
  box.setSelectionRange(from, from + 1 + query.length);
  if (word === '') document.execCommand('delete');
  else document.execCommand('insertText', false, word);
  if (act) context.post({ type: 'slash', act });
  if ('mention' in row) pickMention(context, row.mention);
  context.refresh();
}

const kindIcons: Record<SlashCommand['kind'] | Mention['kind'], TemplateResult> = {
  file: icons.file,
  folder: icons.folder,
  selection: icons.lines,
  lines: icons.symbol,
  problems: icons.warning,
  problem: icons.warning,
  changes: icons.branch,
  change: icons.branch,
  test: icons.check,
  terminal: icons.terminal,
  act: icons.chevron,
  prompt: icons.prompt,
  skill: icons.spark,
  workflow: icons.flow,
  agent: icons.person,
  'server-prompt': icons.plug,
};

export function completionList(context: PanelContext): TemplateResult | typeof nothing {
  if (!open || !isCompleting()) return nothing;
  const { rows, at, problem } = open;
  const { query } = open;
  const words = ({ label, detail }: ComposerCompletion) =>
    escapeInvisibleInLine([label, ...(detail ? [detail] : [])].join(', '));
  const current = rows[at];
  return html`<div class="completion" data-testid="completion" @mousedown=${(event: Event) => event.preventDefault()}>
    ${
      rows.length > 0
        ? html`<div role="listbox" aria-label=${t('Suggestions')}>${rows.map((row, place) => {
            const { label, detail } = completionWithHighlightedMatches(row, query);
            const kind = 'slash' in row ? row.slash.kind : row.mention.kind;
            return html`<div class="completion-row" role="option" aria-selected=${place === at ? 'true' : 'false'} title=${words(row)}
                data-kind=${kind} @click=${() => accept(context, row)}>${kindIcons[kind]}<span class="completion-label">${label}</span>${
                  row.detail ? html`<span class="completion-detail">${detail}</span>` : nothing
                }</div>`;
          })}</div>`
        : nothing
    }
    ${problem ? html`<p class="quiet">${escapeInvisibleInLine(problem)}</p>` : nothing}
    <div class="for-screen-readers" role="status">${current ? t('{0}, {1} of {2}', words(current), at + 1, rows.length) : ''}</div>
  </div>`;
}

export function scrollToSelectedCompletion(): void {
  if (open) document.querySelector('.completion [aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
}
