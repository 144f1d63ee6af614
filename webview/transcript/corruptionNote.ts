import { html, nothing, type TemplateResult } from 'lit-html';
import type { Message } from '../../src/protocol/content/messages.ts';
import type { Corruption, Run } from '../../src/protocol/run/run.ts';
import { visibleLine, visibleProse } from '../../src/protocol/text/escapeInvisible.ts';
import { amount, t } from '../../src/protocol/text/l10n.ts';
import { card } from '../cards/card.ts';
import { keepsOpen, type PanelContext } from '../context.ts';
import { icons } from '../icons.ts';
import { longText } from '../longText.ts';
import { localizedText } from './localizedText.ts';

export function damages(context: PanelContext, run: Run, place: number): TemplateResult[] {
  return (run.damage ?? []).filter(({ at }) => at === place).map((damage) => view(context, run, damage));
}

function view(context: PanelContext, run: Run, damage: Corruption): TemplateResult {
  const { from, messages, open } = damage;
  const shown = messages.filter(({ role }) => role !== 'tool');
  const heard = open ? ` ${t('The model is informed when you continue.')}` : '';
  return html`<div class="damage" data-role="damage">
    <p>${icons.warning}<span>${t('Part of this run’s record is damaged here: {0}.', visibleLine(localizedText(damage)))}${heard}</span></p>
    ${
      shown.length === 0
        ? nothing
        : html`<details ?open=${context.opened.unfolded.has(`damage:${from}`)} @toggle=${keepsOpen(context, `damage:${from}`)}><summary><span class="twistie">${icons.chevron}</span>${t('Messages after it, no longer part of the conversation: {0}', amount(shown.length, 'message'))}</summary>
          ${shown.map((message, index) => apart(context, run, message, `damage:${from}:${index}`))}</details>`
    }
  </div>`;
}

function apart(context: PanelContext, run: Run, message: Message, place: string): TemplateResult {
  const who = message.role === 'user' ? t('You') : message.role === 'assistant' ? 'Towpath' : t('Note');
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  return html`<div class="apart" data-apart=${message.role}>
    ${message.content ? html`<span class="quiet">${who}</span><div class="user-text">${longText(context, place, visibleProse(message.content), 600)}</div>` : nothing}
    ${calls.map((call, at) => card(context, run, call, `${place}:${at}`))}
  </div>`;
}
