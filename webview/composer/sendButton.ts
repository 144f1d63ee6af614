import { html, nothing, type TemplateResult } from 'lit-html';
import type { MessageDeliveryTiming } from '../../src/protocol/run/events.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';
import { focusComposer } from './draft.ts';

/** Milliseconds for which a changed button ignores clicks, which were meant for its predecessor. */
const settlingMs = 300;

type Button = 'send' | 'stop' | 'stop-beside' | 'menu';

const shownSince = new Map<Button, number>();

interface Sending {
  ready: boolean;
  answers: boolean;
  send(when?: MessageDeliveryTiming): void;
}

/** Renders *Send*; for a running run *Stop*, then *Stop* beside *Send* with a menu of delivery times. */
export function sendButtons(context: PanelContext, sending: Sending): TemplateResult {
  const { run } = context.model;
  const running = run?.phase === 'Running';
  const { ready, answers, send } = sending;
  const stops = running && !ready;
  settle(context, running ? (stops ? ['stop', 'menu'] : ['stop-beside', 'send', 'menu']) : ['send']);
  const stop = () => context.post({ type: 'stop' });
  const sendTitle = t(answers ? 'Answer (Enter)' : running ? 'Send at Next Step (Enter)' : 'Send (Enter)');
  return html`${
    running && ready
      ? html`<vscode-button appearance="icon" class=${settlingOf('stop-beside')} data-testid="stop" title=${t('Stop this run')}
          aria-label=${t('Stop this run')} @click=${once('stop-beside', stop)}>${icons.stop}</vscode-button>`
      : nothing
  }${
    stops
      ? html`<vscode-button appearance="secondary" class="send ${settlingOf('stop')}" data-testid="stop" title=${t('Stop this run')}
          aria-label=${t('Stop this run')} @click=${once('stop', stop)}>${icons.stop}</vscode-button>`
      : html`<vscode-button class="send ${settlingOf('send')}" data-testid="send" ?disabled=${!ready} title=${sendTitle}
          aria-label=${t(answers ? 'Answer' : 'Send')} @click=${once('send', () => send())}>${icons.send}</vscode-button>`
  }${running ? menu(context, sending) : nothing}`;
}

function settle(context: PanelContext, buttons: readonly Button[]): void {
  for (const button of shownSince.keys()) if (!buttons.includes(button)) shownSince.delete(button);
  const added = buttons.filter((button) => !shownSince.has(button));
  if (added.length === 0) return;
  for (const button of added) shownSince.set(button, performance.now());
  setTimeout(context.refresh, settlingMs + 1);
}

const isSettled = (button: Button, at: number): boolean => at - (shownSince.get(button) ?? at) >= settlingMs;

/** Also in the style: pointer events pass through such a button. */
const settlingOf = (button: Button): string => (isSettled(button, performance.now()) ? '' : 'settling');

/** Uses the time stamp of the press, also in a busy page. */
const once =
  (button: Button, act: () => void) =>
  ({ timeStamp }: Event): void => {
    if (isSettled(button, timeStamp)) act();
  };

function menu(context: PanelContext, { ready, answers, send }: Sending): TemplateResult {
  const isOpen = context.opened.sendMenu === true;
  const pausing = context.model.run?.pausing === true;
  const sends = (when: MessageDeliveryTiming, label: string, keys = '') =>
    item(context, `send-${when}`, label, () => send(when), { keys });
  return html`<span class="send-menu" @keydown=${(event: KeyboardEvent) => onKey(context, event)}
      @focusout=${(event: FocusEvent) => leave(context, event)}>
    <vscode-button appearance=${ready ? 'primary' : 'secondary'} class="send send-more ${settlingOf('menu')}" data-testid="send-menu"
      title=${t('More Ways to Send or Pause')} aria-label=${t('More Ways to Send or Pause')} aria-haspopup="menu"
      aria-expanded=${isOpen ? 'true' : 'false'} @click=${once('menu', () => toggle(context))}>${icons.chevron}</vscode-button>
    ${
      isOpen
        ? html`<div class="menu" role="menu" aria-label=${t('More Ways to Send or Pause')} data-testid="send-menu-list">
            ${
              ready && !answers
                ? html`${sends('turn', t('Send at Next Step'), t('Enter'))}${sends('done', t('Send When Finished'), t('Alt+Enter'))}${sends('now', t('Stop and Send'))}`
                : nothing
            }
            ${item(context, 'pause', pausing ? t('Pausing After This Step') : t('Pause After This Step'), () => context.post({ type: 'pause' }), { disabled: pausing })}
          </div>`
        : nothing
    }
  </span>`;
}

function item(
  context: PanelContext,
  id: string,
  label: string,
  act: () => void,
  { keys = '', disabled = false }: { keys?: string; disabled?: boolean },
): TemplateResult {
  const choose = () => {
    if (disabled) return;
    close(context);
    act();
    focusComposer();
  };
  return html`<button class="menu-item" role="menuitem" tabindex="-1" data-testid=${id} aria-disabled=${disabled ? 'true' : 'false'}
    @click=${choose}><span>${label}</span>${keys ? html` <span class="menu-keys">${keys}</span>` : nothing}</button>`;
}

const items = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('.send-menu .menu-item')];

function toggle(context: PanelContext): void {
  context.opened.sendMenu = !context.opened.sendMenu;
  context.drawNow();
  items()[0]?.focus();
}

function close(context: PanelContext): void {
  context.opened.sendMenu = false;
  context.refresh();
}

function onKey(context: PanelContext, event: KeyboardEvent): void {
  if (!context.opened.sendMenu) return;
  const all = items();
  const at = all.indexOf(document.activeElement as HTMLElement);
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
  if (next !== undefined) all.at(next % all.length)?.focus();
  else if (event.key === 'Escape') {
    close(context);
    document.querySelector<HTMLElement>('[data-testid="send-menu"]')?.focus();
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

function leave(context: PanelContext, { currentTarget, relatedTarget }: FocusEvent): void {
  const inside = (currentTarget as Node).contains(relatedTarget as Node | null);
  if (context.opened.sendMenu && !inside && document.hasFocus()) close(context);
}
