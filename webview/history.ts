import { html, nothing, type TemplateResult } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import { underTheirRuns } from '../src/protocol/branches.ts';
import type { RunSummary } from '../src/protocol/run.ts';
import { proseLine, visibleLine } from '../src/protocol/visible.ts';
import type { PanelContext } from './context.ts';
import { icons } from './icons.ts';
import { ago } from './time.ts';

/** Every run of this workspace, newest first, branches under their run. Deleting one at work stops it, which takes a second press on the same button. */
export function history(context: PanelContext): TemplateResult | typeof nothing {
  if (!context.opened.history) return nothing;
  const runs = underTheirRuns(context.model.state?.runs ?? []);
  return html`<section class="history" aria-label="Runs">
    ${runs.length === 0 ? html`<p class="quiet">No runs yet.</p>` : nothing}
    <ul>${repeat(
      runs,
      ({ run }) => run.id,
      ({ run, depth }) => row(context, run, depth),
    )}</ul>
    <button class="history-deleted" data-testid="deleted-runs" @click=${() => context.post({ type: 'action', action: 'deleted-runs' })}>Deleted runs…</button>
  </section>`;
}

export function closeHistory(context: PanelContext): void {
  context.opened.history = false;
  context.opened.deleting = undefined;
  context.refresh();
}

/** The list lies over the conversation: whoever goes there has no use for it any more. */
export function leaveHistory(context: PanelContext, { currentTarget, relatedTarget }: FocusEvent): void {
  const inside = relatedTarget === null || (currentTarget as Node).contains(relatedTarget as Node);
  if (context.opened.history && !inside) closeHistory(context);
}

const words: Record<RunSummary['phase'], string> = {
  Running: 'Running',
  WaitingUser: '',
  Completed: 'Completed',
  Failed: 'Stopped',
};

/** Where and how much, as a sentence. */
function damageOf({ damaged, readOnly }: RunSummary): string | undefined {
  const text = damaged ? `A part of its record is damaged: ${damaged}` : readOnly;
  return text && visibleLine(text);
}

/** How far in a branch stands at most: titles need the width. */
const deepest = 4;

function row(context: PanelContext, run: RunSummary, depth: number): TemplateResult {
  const current = context.model.run?.id === run.id;
  const deleting = context.opened.deleting === run.id;
  const title = proseLine(run.title) || 'Untitled';
  const state = run.damaged
    ? 'Damaged'
    : run.readOnly
      ? 'From a newer Towpath'
      : run.live
        ? 'Running'
        : run.phase === 'Running'
          ? 'Interrupted'
          : words[run.phase];
  const open = () => {
    context.post({ type: 'open-run', runId: run.id });
    closeHistory(context);
  };
  const remove = ({ detail }: MouseEvent) => {
    if (detail > 1) return; // the second press of a double click may be on the next row already
    const sure = deleting || !run.live;
    if (sure) context.post({ type: 'delete-run', runId: run.id });
    context.opened.deleting = sure ? undefined : run.id;
    context.refresh();
  };
  const forget = () => {
    if (context.opened.deleting === run.id) context.opened.deleting = undefined;
    context.refresh();
  };
  return html`<li class="history-row ${current ? 'current' : ''}" data-run=${run.id} data-depth=${Math.min(depth, deepest)}>
    <button class="history-open" title=${damageOf(run) ?? title}
        aria-current=${current ? 'true' : nothing} @click=${open}>
      <span class="history-title">${title}</span>
      <span class="quiet">${[depth > 0 && 'Branch', state, ago(run.updatedAt, context.now)].filter(Boolean).join(' · ')}</span>
    </button>
    <button class="history-delete ${deleting ? 'sure' : ''}" data-testid="delete-run" @click=${remove} @blur=${forget}
      title=${deleting ? 'Press again to stop this run and delete it' : 'Delete this run: it can be brought back'}
      aria-label=${deleting ? `Really stop and delete ${title}` : `Delete ${title}`}>${deleting ? 'Stop and delete?' : icons.trash}</button>
  </li>`;
}

/** Escape and the arrow keys, in the list and on the button that opened it. */
export function onHistoryKey(context: PanelContext, event: KeyboardEvent): void {
  if (!context.opened.history) return;
  if (event.key === 'Escape') {
    event.stopPropagation();
    closeHistory(context);
    document.querySelector<HTMLElement>('[data-testid="history"]')?.focus();
    return;
  }
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const openers = [...document.querySelectorAll<HTMLElement>('.history-open')];
  if (step === 0 || openers.length === 0) return;
  event.preventDefault();
  const at = openers.findIndex((opener) => opener.closest('li')?.contains(document.activeElement));
  const next = at < 0 && step < 0 ? openers.length - 1 : (at + step + openers.length) % openers.length;
  openers[next]?.focus();
}
