import { html, nothing, type TemplateResult } from 'lit-html';
import type { PanelContext } from './context.ts';

/**
 * A text of any length: its beginning, and the rest when it is asked for. `place` tells one from another across drawings.
 * Even "the rest" has an end, or a single outcome could freeze the panel.
 */
export function longText(context: PanelContext, place: string, text: string, characters: number): TemplateResult {
  const limit = context.opened.whole.has(place) ? mostCharacters : characters;
  const shown = text.length > limit * 1.1 ? text.slice(0, limit) : text;
  const left = text.length - shown.length;
  const showMore = () => {
    context.opened.whole.add(place);
    context.refresh();
  };
  return html`${shown}${
    left === 0
      ? nothing
      : limit === mostCharacters
        ? html`<span class="quiet">… and ${left.toLocaleString()} more characters</span>`
        : html`… <button class="more" @click=${showMore}>Show more</button>`
  }`;
}

const mostCharacters = 200_000;
