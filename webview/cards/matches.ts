import { html, nothing, type TemplateResult } from 'lit-html';
import { escapeInvisible, escapeInvisibleInLine } from '../../src/protocol/text/escapeInvisible.ts';
import { localizedCount, t } from '../../src/protocol/text/l10n.ts';
import type { PanelContext } from '../context.ts';
import { fileLinkTooltip, openCardLink } from './cardLineView.ts';

const maxLines = 300;

export function searchMatchesView(context: PanelContext, data: unknown): TemplateResult | undefined {
  const { files } = Object(data) as { files?: unknown };
  if (!Array.isArray(files) || files.length === 0) return undefined;
  let room = maxLines;
  const shown: TemplateResult[] = [];
  for (const one of files) {
    if (room <= 0) break;
    const { path, lines, outside } = (typeof one === 'string' ? { path: one } : Object(one)) as Found;
    if (typeof path !== 'string') return undefined;
    const some = (Array.isArray(lines) ? lines : []).slice(0, room);
    room -= some.length + 1;
    shown.push(
      html`<li>${outside ? html`<span>${escapeInvisibleInLine(path)}</span>` : link(context, path)}${
        some.length > 0
          ? html`<ul>${some.map((line) => lineView(context, path, String(line), outside === true))}</ul>`
          : nothing
      }</li>`,
    );
  }
  const left = files.length - shown.length;
  return html`<div class="matches" tabindex="0" role="group" aria-label=${t('Findings')}><ul>${shown}${
    left > 0
      ? html`<li class="quiet">… ${t('and {0}, in the details', localizedCount(left, 'more file'))}</li>`
      : nothing
  }</ul></div>`;
}

interface Found {
  path?: unknown;
  lines?: unknown;
  outside?: unknown;
}

function lineView(context: PanelContext, path: string, told: string, outside: boolean): TemplateResult {
  const [, number, , text] = /^(\d+)([:-]) ?(.*)$/s.exec(told) ?? [];
  if (number === undefined) return html`<li>${escapeInvisible(told)}</li>`;
  return html`<li>${outside ? html`<span>${number}</span>` : link(context, path, Number(number))}<span class="match-text">${escapeInvisible(text!)}</span></li>`;
}

const link = (context: PanelContext, path: string, line?: number): TemplateResult =>
  html`<button class="link" title=${fileLinkTooltip(escapeInvisibleInLine(path), line)}
    @click=${() => openCardLink(context, { kind: 'file', path, ...(line && { line }) })}>${line ?? escapeInvisibleInLine(path)}</button>`;
