import { html, nothing, type TemplateResult } from 'lit-html';
import type { ChangedFileRow, ChangedFilesMessage } from '../../src/protocol/panel/panelMessages.ts';
import { escapeInvisibleInLine } from '../../src/protocol/text/escapeInvisible.ts';
import { localizedCount, t } from '../../src/protocol/text/l10n.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';
import { pathView } from '../pathView.ts';
import type { StatusStripItem } from './statusStripPart.ts';

export function changedFilesStripItem(context: PanelContext): StatusStripItem | undefined {
  const { files, run } = context.model;
  if (!files?.rows.length || files.runId !== run?.id) return undefined;
  const { rows, runId, count, added, removed, ran } = files;
  return {
    list: 'files',
    icon: icons.pencil,
    count: html`${count}`,
    noun: count === 1 ? t('file') : t('files'),
    more: lineCounts(added, removed),
    says: t('{0} changed, {1} lines added, {2} removed', localizedCount(count, 'file'), added, removed),
    rows: () => {
      const seen = rows.filter(({ reviewed }) => reviewed).length;
      const act = (type: 'review-files' | 'commit-files', label: string, title: string) =>
        html`<button class="link" data-testid=${type} title=${title} @click=${() => context.post({ type, runId })}>${label}</button>`;
      return html`<p class="files-head"><span class="quiet">${t('{0} of {1} reviewed', seen, count)}</span><span class="command-ways"
          >${act('review-files', t('Review'), t('All files in one editor'))}${act('commit-files', t('Commit…'), t('Stages these files and writes a message; you commit'))}</span></p>
        <ul class="files">${rows.map((row) => (row.group === undefined ? fileRow(context, runId, row) : nothing))}${files.groups?.map((group, at) => groupRows(context, files, group, at))}</ul>
        ${files.more > 0 ? html`<p class="quiet">${t('and {0}', localizedCount(files.more, 'more file'))}</p>` : nothing}
        ${
          ran
            ? html`<p class="quiet">${t(ran === 'old' ? 'Commands of this run before the update were not recorded.' : 'Commands may have changed more:')} <button class="link" data-testid="source-control"
                @click=${() => context.post({ type: 'action', action: 'source-control' })}>${t('Source Control')}</button></p>`
            : nothing
        }`;
    },
  };
}

const lineCounts = (added: number, removed: number): TemplateResult =>
  html`<span class="file-counts"><span class="added">+${added}</span> <span class="removed">−${removed}</span></span>`;

/** Rows of the files of a command, at first the first five. The review shows files without a row. */
function groupRows(
  context: PanelContext,
  { rows, runId }: ChangedFilesMessage,
  { by, files }: NonNullable<ChangedFilesMessage['groups']>[number],
  group: number,
): unknown {
  const { unfolded } = context.opened;
  const place = `by:${by}`;
  const own = rows.filter((row) => row.group === group);
  const shown = unfolded.has(place) || files < 7 ? own : own.slice(0, 5);
  const more = ({ currentTarget }: Event) => {
    const item = (currentTarget as Element).parentElement!;
    const above = item.previousElementSibling;
    if (unfolded.has(place)) context.post({ type: 'review-files', runId });
    unfolded.add(place);
    context.refresh();
    requestAnimationFrame(() => {
      if (!item.isConnected) above?.nextElementSibling?.querySelector<HTMLElement>('.file-name')?.focus();
    });
  };
  return html`<li class="file-group quiet">${t('by {0}', by)}</li>${shown.map((row) => fileRow(context, runId, row))}${
    shown.length < files
      ? html`<li><button class="link" data-testid="group-more" @click=${more}>${t('and {0} more', files - shown.length)}</button></li>`
      : nothing
  }`;
}

function fileRow(context: PanelContext, runId: string, row: ChangedFileRow): TemplateResult {
  const { path, id, added, removed, made, from, reviewed = false } = row;
  const name = escapeInvisibleInLine(path);
  const place = `file:${path}`;
  const isOpen = context.opened.unfolded.has(place);
  const review = () => context.post({ type: 'review-file', runId, path, id, reviewed: !reviewed });
  const more = () => {
    context.opened.unfolded[isOpen ? 'delete' : 'add'](place);
    context.refresh();
  };
  const about = [
    made === 'moved' ? t('from {0}', escapeInvisibleInLine(from ?? '')) : made && t(made),
    row.mixed && t(row.mixed === true ? 'also changed by you' : 'changed at the same time'),
  ];
  const says = about.filter(Boolean).join(', ');
  return html`<li class=${reviewed ? 'reviewed' : ''} data-file=${path}>
    <input type="checkbox" title=${t('Reviewed')} aria-label=${t('Reviewed: {0}', name)} .checked=${reviewed} @change=${review}>
    <span class="file-what"><button class="file-name" title=${t('Open {0}', name)} aria-label=${name} @click=${() => context.post({ type: 'open-file', path })}>${pathView(name)}</button>
    ${added === undefined ? nothing : lineCounts(added, removed ?? 0)}
    ${says ? html`<span class="file-says quiet">${says}</span>` : nothing}</span>
    <span class="command-ways">
      <button class="link" data-testid="file-changes" aria-label=${t('Diff of {0}', name)} title=${t('Before this run and now. Revert what you do not want')}
        @click=${() => context.post({ type: 'file-changes', runId, path })}>${t('Diff')}</button>
      <button class="strip-close" title=${t('More')} aria-label=${t('More for {0}', name)} aria-expanded=${isOpen ? 'true' : 'false'} data-testid="file-more" @click=${more}>${icons.more}</button>
    </span>
    ${
      isOpen
        ? html`<span class="file-about"><button class="link" data-testid="undo-file"
            @click=${() => context.post({ type: 'undo-file', runId, path })}>${t('Undo all of this run in it…')}</button></span>`
        : nothing
    }
  </li>`;
}
