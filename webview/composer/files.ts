import { html, nothing, type TemplateResult } from 'lit-html';
import type { ChangedFileRow } from '../../src/protocol/panel/panelMessages.ts';
import { escapeInvisibleInLine } from '../../src/protocol/text/escapeInvisible.ts';
import { localizedCount, t } from '../../src/protocol/text/l10n.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';
import { pathView } from '../pathView.ts';
import type { StatusStripItem } from './statusStripPart.ts';

export function changedFilesStripItem(context: PanelContext): StatusStripItem | undefined {
  const { files, run } = context.model;
  if (!files?.rows.length || files.runId !== run?.id) return undefined;
  const { rows, runId } = files;
  const all = rows.length + files.more;
  const sum = (of: 'added' | 'removed') => rows.reduce((total, row) => total + (row[of] ?? 0), 0);
  const counts = [sum('added'), sum('removed')] as const;
  return {
    list: 'files',
    icon: icons.pencil,
    count: html`${all}`,
    noun: all === 1 ? t('file') : t('files'),
    more: lineCounts(...counts),
    says: t('{0} changed, {1} lines added, {2} removed', localizedCount(all, 'file'), ...counts),
    rows: () => {
      const seen = rows.filter(({ reviewed }) => reviewed).length;
      const act = (type: 'review-files' | 'commit-files', label: string, title: string) =>
        html`<button class="link" data-testid=${type} title=${title} @click=${() => context.post({ type, runId })}>${label}</button>`;
      return html`<p class="files-head"><span class="quiet">${t('{0} of {1} reviewed', seen, all)}</span><span class="command-ways"
          >${act('review-files', t('Review'), t('All files in one editor'))}${act('commit-files', t('Commit…'), t('Stages these files and writes a message; you commit'))}</span></p>
        <ul class="files">${rows.map((row) => fileRow(context, runId, row))}</ul>
        ${files.more > 0 ? html`<p class="quiet">${t('and {0}', localizedCount(files.more, 'more file'))}</p>` : nothing}
        ${
          files.ran
            ? html`<p class="quiet">${t('Commands may have changed more:')} <button class="link" data-testid="source-control"
                @click=${() => context.post({ type: 'action', action: 'source-control' })}>${t('Source Control')}</button></p>`
            : nothing
        }`;
    },
  };
}

const lineCounts = (added: number, removed: number): TemplateResult =>
  html`<span class="file-counts"><span class="added">+${added}</span> <span class="removed">−${removed}</span></span>`;

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
    row.mixed && t('also changed by you'),
  ];
  const says = about.filter(Boolean).join(', ');
  return html`<li class=${reviewed ? 'reviewed' : ''} data-file=${path}>
    <input type="checkbox" title=${t('Reviewed')} aria-label=${t('Reviewed: {0}', name)} .checked=${reviewed} @change=${review}>
    <button class="file-name" title=${t('Open {0}', name)} aria-label=${name} @click=${() => context.post({ type: 'open-file', path })}>${pathView(name)}</button>
    ${added === undefined ? nothing : lineCounts(added, removed ?? 0)}
    ${says ? html`<span class="file-says quiet">${says}</span>` : nothing}
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
