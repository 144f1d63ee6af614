import { html, nothing, type TemplateResult } from 'lit-html';
import type { Notice } from '../src/protocol/panel/panelMessages.ts';
import { escapeInvisibleInLine } from '../src/protocol/text/escapeInvisible.ts';
import { t } from '../src/protocol/text/l10n.ts';
import { focusComposer } from './composer/draft.ts';
import type { PanelContext } from './context.ts';
import { icons } from './icons.ts';
import { sentenceWithCommands, withoutCommandMarks } from './transcript/sentence.ts';

/** Milliseconds after which an informational notice disappears. */
const shownMs = 6000;

let timed: Notice | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Notice above the message box, announced by live regions that exist before the notice. */
export function noticeBar(context: PanelContext): TemplateResult {
  const { notice } = context.model;
  if (notice !== timed) {
    timed = notice;
    measure(context);
  }
  const words = notice ? withoutCommandMarks(notice.text) : nothing;
  const isError = notice?.level === 'error';
  return html`<div class="for-screen-readers" role="status">${isError ? nothing : words}</div>
    <div class="for-screen-readers" role="alert">${isError ? words : nothing}</div>
    ${notice ? box(context, notice) : nothing}`;
}

function box(context: PanelContext, { level, text, action, offer }: Notice): TemplateResult {
  const answer = (button?: number) => {
    if (offer) context.post({ type: 'notice-pressed', id: offer.id, ...(button !== undefined && { button }) });
    context.model.notice = null;
    context.refresh();
    focusComposer();
  };
  const buttons = [
    ...(action
      ? [
          html`<vscode-button class="small" appearance="secondary" data-testid="notice-action"
            @click=${() => context.post({ type: 'action', action: action.action, ...(action.call && { call: action.call }) })}>${escapeInvisibleInLine(action.label)}</vscode-button>`,
        ]
      : []),
    ...(offer?.buttons ?? []).map(
      (label, button) =>
        html`<vscode-button class="small" appearance="secondary" data-testid="notice-offer" @click=${() => answer(button)}>${escapeInvisibleInLine(label)}</vscode-button>`,
    ),
  ];
  const hold = () => clearTimeout(timer);
  const letGo = (event: MouseEvent | FocusEvent) => {
    const box = event.currentTarget as HTMLElement;
    const isUsed = event.type === 'mouseleave' ? box.contains(document.activeElement) : box.matches(':hover');
    if (!isUsed && !box.contains(event.relatedTarget as Node | null)) measure(context);
  };
  return html`<div class="notice ${level}" data-testid="notice"
      @mouseenter=${hold} @focusin=${hold} @mouseleave=${letGo} @focusout=${letGo}>
    ${icons[level]}
    <span class="notice-text">${sentenceWithCommands(text)}</span>
    ${buttons.length > 0 ? html`<span class="notice-ways">${buttons}</span>` : nothing}
    <vscode-button appearance="icon" class="dismiss" title=${t('Dismiss')} aria-label=${t('Dismiss')} @click=${() => answer()}>${icons.close}</vscode-button>
  </div>`;
}

/** Restarts the timer of a notice. A notice with a button stays until an answer. */
function measure(context: PanelContext): void {
  clearTimeout(timer);
  const notice = timed;
  if (notice?.level !== 'info' || notice.action || notice.offer) return;
  timer = setTimeout(() => {
    if (context.model.notice !== notice) return;
    if (document.visibilityState === 'hidden') return measure(context); // not visible yet
    context.model.notice = null;
    context.refresh();
  }, shownMs);
}
