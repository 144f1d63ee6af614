import { html, nothing, type TemplateResult } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import type { RunListRow } from '../src/protocol/panel/panelMessages.ts';
import { localizedDollars } from '../src/protocol/run/money.ts';
import { localizedRunTitle } from '../src/protocol/run/run.ts';
import { formatAge } from '../src/protocol/text/ago.ts';
import { escapeInvisibleInLine, escapeInvisibleInProseLine } from '../src/protocol/text/escapeInvisible.ts';
import { t } from '../src/protocol/text/l10n.ts';
import { readOnlyReasonMessages } from '../src/protocol/text/readOnlyReason.ts';
import type { PanelContext } from './context.ts';
import { icons } from './icons.ts';
import { formatDayLabel } from './time.ts';

/** Run list with search: pinned runs, then by day, branches below their run. Deleting a running run stops it and needs a second press. */
export function runHistoryList(context: PanelContext): TemplateResult | typeof nothing {
  if (!context.opened.history) return nothing;
  const { runs } = context.model;
  const query = context.opened.query ?? '';
  const rows = runs && (runs.query === query || query !== '') ? runs.rows : [];
  const none = query === '' ? t('No runs yet.') : t('No run contains all of these words.');
  const search = ({ target }: Event) => {
    context.opened.query = (target as HTMLInputElement).value;
    context.post({ type: 'list-runs', query: context.opened.query });
    context.refresh();
  };
  return html`<section class="history" aria-label=${t('Runs')} @focusin=${({ target }: FocusEvent) => {
    keys = { element: target as HTMLElement, row: rowOf(target as Node) };
  }}>
    <input class="history-search" type="search" data-testid="search-runs" maxlength="200" .value=${query} @input=${search}
      placeholder=${t('Search titles and texts')} aria-label=${t('Search titles and texts of runs')} />
    ${runs ? nothing : html`<p class="quiet" role="status">${t('Loading…')}</p>`}
    ${runs?.query === query && rows.length === 0 ? html`<p class="quiet">${none}</p>` : nothing}
    <ul>${repeat(
      withDays(rows, context.now),
      ({ row: { id } }) => id,
      ({ row, heading }) => line(context, row, heading),
    )}</ul>
    ${runs?.more ? html`<p class="quiet">${t('{0} more: search for their words.', runs.more)}</p>` : nothing}
    <button class="history-deleted" data-testid="deleted-runs" @click=${() => context.post({ type: 'action', action: 'deleted-runs' })}>${t('Deleted runs…')}</button>
  </section>`;
}

let keys: { element: HTMLElement; row: number } | undefined;

const openers = () => [...document.querySelectorAll<HTMLElement>('.history-open')];
const rowOf = (element: Node | null) => openers().findIndex((opener) => opener.closest('li')?.contains(element));

/** Restores the focus in the list, at the same row if the list changed. */
export function focusHistory(): void {
  const there = keys?.element.isConnected
    ? keys.element
    : keys &&
      openers()
        .slice(0, keys.row + 1)
        .at(-1);
  (there ?? document.querySelector<HTMLElement>('[data-testid="history"]'))?.focus();
}

export function openHistory(context: PanelContext): void {
  keys = undefined;
  context.opened.history = true;
  context.opened.query = '';
  context.opened.deleting = undefined;
  context.post({ type: 'list-runs', query: '' });
  context.refresh();
}

export function closeHistory(context: PanelContext): void {
  if (context.opened.history) context.post({ type: 'list-runs' });
  context.opened.history = false;
  context.opened.deleting = undefined;
  context.refresh();
}

/** Closes the list when the focus moves to the conversation. */
export function closeHistoryOnBlur(context: PanelContext, { currentTarget, relatedTarget }: FocusEvent): void {
  const inside = relatedTarget === null || (currentTarget as Node).contains(relatedTarget as Node);
  if (context.opened.history && !inside) closeHistory(context);
}

function withDays(rows: readonly RunListRow[], now: number): { row: RunListRow; heading?: string }[] {
  let pinned = false;
  let last: string | undefined;
  return rows.map((row, at) => {
    if (row.depth > 0) return { row };
    const next = rows.findIndex((other, index) => index > at && other.depth === 0);
    pinned = rows.slice(at, next < 0 ? undefined : next).some((member) => member.pinned);
    const part = pinned ? t('Pinned') : formatDayLabel(row.newest, now);
    if (part === last) return { row };
    last = part;
    return { row, heading: part };
  });
}

function aboutIt({ damaged, damagedSaid, readOnly, error, worktree }: RunListRow): string | undefined {
  if (worktree) return t('Opens its window: {0}', escapeInvisibleInLine(worktree.folder));
  if (damaged) return escapeInvisibleInLine(t('Part of its record is damaged: {0}', damagedSaid ?? damaged));
  const words = readOnly ? t(readOnlyReasonMessages[readOnly]) : error && (error.said ? t(error.said) : error.message);
  return words && escapeInvisibleInLine(words);
}

function stateOf({
  state,
  elsewhere,
  awaitsApproval,
  damaged,
  readOnly,
  live,
  phase,
  error,
  worktree,
}: RunListRow): string {
  if (worktree?.begun === false) return t('Not started');
  if (state === 'asking' && awaitsApproval)
    return elsewhere ? t('Waiting for approval in another window') : t('Waiting for approval');
  if (state === 'asking') return elsewhere ? t('Needs approval in another window') : t('Needs approval');
  if (live || state === 'working') return elsewhere ? t('Running in another window') : t('Running');
  if (damaged) return t('Damaged');
  if (readOnly) return readOnly === 'importedWorkflow' ? t('Imported') : t('From a newer version of Towpath');
  const ended =
    phase === 'Running'
      ? 'Interrupted'
      : phase === 'Completed'
        ? 'Completed'
        : phase === 'WaitingUser'
          ? ''
          : error?.code === 'ENGINE_ABORTED'
            ? 'Stopped'
            : error?.code === 'ENGINE_MAX_TURNS_EXCEEDED'
              ? 'Limit reached'
              : 'Failed';
  if (state) return `${t(ended || 'Done')}, ${t('not viewed yet')}`;
  return ended && t(ended);
}

/** Maximum indentation of a branch, in levels. */
const deepest = 4;

function line(context: PanelContext, run: RunListRow, heading: string | undefined): TemplateResult {
  const current = context.model.run?.id === run.id;
  const deleting = context.opened.deleting === run.id;
  const title = escapeInvisibleInProseLine(localizedRunTitle(run.title)) || t('Untitled');
  const model = run.model && escapeInvisibleInLine(run.model.slice(run.model.indexOf('/') + 1));
  const facts = [
    run.depth > 0 && t('Branch'),
    run.imported && t('Imported'),
    stateOf(run),
    run.worktree && escapeInvisibleInLine(run.worktree.branch),
    model,
    run.cost !== undefined && run.cost > 0 && t(localizedDollars(run.cost)),
    formatAge(run.updatedAt, context.now).replaceAll(' ', '\u00a0'),
  ];
  const open = () => {
    if (run.worktree) context.post({ type: 'open-worktree', folder: run.worktree.folder });
    else context.post({ type: 'open-run', runId: run.id });
    closeHistory(context);
  };
  const remove = ({ detail }: MouseEvent) => {
    if (detail > 1) return; // the second press of a double click may hit the next row
    const sure = deleting || !run.live;
    if (sure) context.post({ type: 'delete-run', runId: run.id });
    context.opened.deleting = sure ? undefined : run.id;
    context.refresh();
  };
  const forget = () => {
    if (context.opened.deleting === run.id) context.opened.deleting = undefined;
    context.refresh();
  };
  const pin = () => context.post({ type: 'pin-run', runId: run.id, pinned: !run.pinned });
  const rename = () => context.post({ type: 'rename-run', runId: run.id });
  const whatToDo =
    () => html`<button class="history-button ${run.pinned ? 'on' : ''}" data-testid="pin-run" @click=${pin} aria-pressed=${run.pinned ? 'true' : 'false'}
      title=${t(run.pinned ? 'Unpin this run' : 'Pin this run')} aria-label=${t('Pin {0}', title)}>${icons.pin}</button>
    <button class="history-button" data-testid="rename-run" @click=${rename} title=${t('Rename this run')} aria-label=${t('Rename {0}', title)}>${icons.pencil}</button>
    <button class="history-delete ${deleting ? 'sure' : ''}" data-testid="delete-run" @click=${remove} @blur=${forget}
      title=${t(deleting ? 'Press again to stop and delete this run' : 'Delete this run. You can restore it.')}
      aria-label=${t(deleting ? 'Stop and delete {0}' : 'Delete {0}', title)}>${deleting ? t('Stop and delete?') : icons.trash}</button>`;
  return html`${heading === undefined ? nothing : html`<li class="history-day quiet">${heading}</li>`}
  <li class="history-row ${current ? 'current' : ''}" data-run=${run.id} data-state=${run.state ?? nothing} data-depth=${Math.min(run.depth, deepest)}>
    <button class="history-open" title=${aboutIt(run) ?? title}
        aria-current=${current ? 'true' : nothing} @click=${open}>
      <span class="history-title">${run.worktree ? icons.branch : run.pinned ? icons.pin : nothing}${title}</span>
      <span class="quiet">${facts.filter(Boolean).join(' · ')}</span>
      ${run.excerpt === undefined ? nothing : html`<span class="history-excerpt quiet">${escapeInvisibleInProseLine(run.excerpt)}</span>`}
    </button>
    ${run.worktree ? nothing : html`<span class="history-acts">${whatToDo()}</span>`}
  </li>`;
}

export function onHistoryKey(context: PanelContext, event: KeyboardEvent): void {
  if (!context.opened.history) return;
  if (event.key === 'Escape') {
    event.stopPropagation();
    closeHistory(context);
    document.querySelector<HTMLElement>('[data-testid="history"]')?.focus();
    return;
  }
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const all = openers();
  if (step === 0 || all.length === 0) return;
  event.preventDefault();
  const at = rowOf(document.activeElement);
  const next = at < 0 && step < 0 ? all.length - 1 : (at + step + all.length) % all.length;
  all[next]?.focus();
}
