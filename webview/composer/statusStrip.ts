import { html, nothing, type TemplateResult } from 'lit-html';
import { t } from '../../src/protocol/text/l10n.ts';
import type { PanelContext, StatusStripListName } from '../context.ts';
import { icons } from '../icons.ts';
import { backgroundCommandsStripItem } from './backgroundCommandsPart.ts';
import { focusComposer } from './draft.ts';
import { changedFilesStripItem } from './files.ts';
import { planStripItem } from './plan.ts';
import { queuedMessagesStripItem } from './queuedMessageList.ts';
import type { StatusStripItem } from './statusStripPart.ts';

export const statusStripItems = (context: PanelContext): StatusStripItem[] =>
  [planStripItem, changedFilesStripItem, backgroundCommandsStripItem, queuedMessagesStripItem]
    .map((part) => part(context))
    .filter((part) => part !== undefined);

/** Status line above the composer: plan, changes, background commands and queued messages. Each item opens a list, one at a time. */
export const statusStrip = (
  context: PanelContext,
  parts: readonly StatusStripItem[],
): TemplateResult | typeof nothing =>
  parts.length === 0
    ? nothing
    : html`<section class="strip ${isMany(parts) ? 'many' : ''}" aria-label=${t('Status of this run')}>${parts.map(
        (part) => word(context, part, part.list === context.opened.strip),
      )}</section>`;

export function statusStripListView(
  context: PanelContext,
  parts: readonly StatusStripItem[],
): TemplateResult | typeof nothing {
  const open = parts.find(({ list }) => list === context.opened.strip);
  return open
    ? html`<section id="strip-list" class="strip-list" data-testid=${open.list} tabindex="0" aria-label=${open.says}
        @keydown=${(event: KeyboardEvent) => onStatusStripKey(context, event)}>${
          open.close && isMany(parts) ? closeButton(open, open.close, 'strip-close-here') : nothing
        }${open.rows()}</section>`
    : nothing;
}

const word = (
  context: PanelContext,
  part: StatusStripItem,
  isOpen: boolean,
): TemplateResult => html`<span class="strip-part"
  ><button class="strip-word" data-testid=${`strip-${part.list}`} title=${part.says} aria-expanded=${isOpen ? 'true' : 'false'}
    aria-controls=${isOpen ? 'strip-list' : nothing} @click=${(event: MouseEvent) => toggle(context, part.list, event)}
    >${part.icon}${part.before ? html`<span class="strip-noun">${part.before}</span>` : nothing}<span>${part.count}</span>${
      part.noun ? html`<span class="strip-noun">${part.noun}</span>` : nothing
    }${part.more}</button>${part.close ? closeButton(part, part.close, `${part.list}-close`) : nothing}</span>`;

const closeButton = ({ list }: StatusStripItem, close: () => void, id: string): TemplateResult =>
  html`<button class="strip-close" data-testid=${id} title=${t('Close the {0}', t(list))} aria-label=${t('Close the {0}', t(list))}
    @click=${close}>${icons.close}</button>`;

const isMany = (parts: readonly StatusStripItem[]): boolean => parts.length > 2;

/** Keyboard: the focus moves to the list; mouse: to the message box. */
function toggle(context: PanelContext, list: StatusStripListName, { detail }: MouseEvent): void {
  const { opened } = context;
  opened.strip = opened.strip === list ? undefined : list;
  context.refresh();
  if (detail > 0) focusComposer();
  else if (opened.strip) requestAnimationFrame(() => document.getElementById('strip-list')?.focus());
}

/** Escape closes the open list and returns the focus to its item. */
export function onStatusStripKey(context: PanelContext, event: KeyboardEvent): void {
  const list = document.getElementById('strip-list');
  if (event.key !== 'Escape' || event.isComposing || !list) return;
  if (list.contains(document.activeElement))
    document.querySelector<HTMLElement>(`[data-testid="strip-${context.opened.strip}"]`)?.focus();
  context.opened.strip = undefined;
  context.refresh();
}
