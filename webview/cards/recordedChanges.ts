import { html, nothing, type TemplateResult } from 'lit-html';
import { type CallState, netChanges } from '../../src/protocol/run/run.ts';
import { escapeInvisibleInLine } from '../../src/protocol/text/escapeInvisible.ts';
import { localizedCount, t } from '../../src/protocol/text/l10n.ts';
import { type CardTextPiece, changedLineCountPieces, toPlainTextPiece } from './cardText.ts';

/** Tests for changes that were recorded by comparison: of a command, or a tool of a server or of the editor. */
export const hasRecordedChanges = (state: CallState | undefined): boolean =>
  state?.snapshot !== undefined && Boolean(state.changes?.length || state.repositories?.length);

/** Formats `3 files changed, 2 created, Git changed +12 −3`. Folders are not counted. */
export function recordedChangePieces(state: CallState): CardTextPiece[] {
  const { repositories, lines } = state;
  const files = netChanges(state).filter(({ kind, afterKind }) => kind !== 'folder' && afterKind !== 'folder');
  const created = files.filter(({ before }) => before === null).length;
  const deleted = files.filter(({ after }) => after === null).length;
  const changed = files.length - created - deleted;
  const texts: string[] = [];
  const numberOf = (count: number) => (texts.length === 0 ? localizedCount(count, 'file') : count);
  if (changed > 0) texts.push(t('{0} changed', numberOf(changed)));
  if (created > 0) texts.push(t('{0} created', numberOf(created)));
  if (deleted > 0) texts.push(t('{0} deleted', numberOf(deleted)));
  if (repositories?.length) texts.push(t('Git changed'));
  if (texts.length === 0) return [];
  const { added = 0, removed = 0 } = lines ?? {};
  return [toPlainTextPiece(texts.join(', ')), ...(added + removed > 0 ? changedLineCountPieces(added, removed) : [])];
}

/** Names files that a call changed and that no undo can restore. */
export function lostFilesView({ lost = [], lostCount = lost.length }: CallState): TemplateResult | typeof nothing {
  if (lost.length === 0) return nothing;
  const names = lost.slice(0, 3).map(escapeInvisibleInLine).join(', ');
  const all = lostCount > 3 ? t('{0} and {1} more', names, lostCount - 3) : names;
  return html`<p class="quiet card-note" data-testid="lost-files">${t('Cannot be restored: {0}', all)}</p>`;
}
