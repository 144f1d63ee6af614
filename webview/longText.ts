import { html, nothing, type TemplateResult } from 'lit-html';
import { localizedCount, t } from '../src/protocol/text/l10n.ts';
import type { PanelContext } from './context.ts';

/**
 * Renders a long text in parts on demand. `place` identifies the text across renderings. The full text has a limit as well, because one
 * outcome could freeze the panel.
 */
export function longTextView(context: PanelContext, place: string, text: string, characters: number): TemplateResult {
  const { whole } = context.opened;
  const limit = whole.has(place) ? maxCharacters : characters;
  const shown = text.length > limit * 1.1 ? text.slice(0, limit) : text;
  const left = text.length - shown.length;
  if (left === 0) return html`${shown}`;
  const show = (what: string) => () => {
    whole.add(what);
    context.refresh();
  };
  const end = `${place}:end`;
  const between = left - characters;
  if (whole.has(end) && between > 0)
    return html`${shown}<span class="quiet">… ${t(localizedCount(between, 'character'))} …</span>
${text.slice(-characters)}`;
  const isFar = text.length > maxCharacters * 1.1;
  return html`${shown}… ${
    limit === maxCharacters
      ? html`<span class="quiet">${t('and {0}', localizedCount(left, 'more character'))}</span>`
      : html`<button class="more" @click=${show(place)}>${t('Show more')}</button>`
  }${isFar ? html` <button class="more" @click=${show(end)}>${t('Show the end')}</button>` : nothing}`;
}

const maxCharacters = 200_000;
