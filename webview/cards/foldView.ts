import { html, nothing, type TemplateResult } from 'lit-html';
import type { ToolCall } from '../../src/protocol/content/messages.ts';
import type { Run } from '../../src/protocol/run/run.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';
import { toolCallCard } from './card.ts';
import { cardStatusIcons } from './cardLineView.ts';
import { type CallFold, callFoldText } from './folding.ts';

/**
 * Renders read-only calls as one line that updates in place and expands. A single call is a normal card.
 *
 * @param newest the fold may still grow, and the newest card stays visible
 * @param thinking thinking before the calls, from messages that are not rendered elsewhere
 */
export function foldedCallsView(
  context: PanelContext,
  run: Run,
  fold: CallFold,
  { newest, thinking }: { newest: boolean; thinking(at: number): TemplateResult | typeof nothing },
): TemplateResult {
  const { key, calls, items } = fold;
  const cardOf = (at: number, call: ToolCall) => toolCallCard(context, run, call, callPositionKey(run, at, call));
  if (calls.length === 1) return cardOf(fold.at, calls[0]!);
  const place = `fold:${key}`;
  const open = context.model.state?.details === 'all' || context.opened.cards.has(place);
  const toggle = () => {
    if (!context.opened.cards.delete(place)) context.opened.cards.add(place);
    context.refresh();
  };
  const { words, failed, mark } = callFoldText(run, calls);
  const last = items.at(-1)!;
  return html`<div class="fold" data-fold=${key} data-mark=${mark}>
    <button class="fold-head" aria-expanded=${open} @click=${toggle}>
      <span class="twistie">${icons.chevron}</span><span class="card-icon">${cardStatusIcons[mark]}</span>
      <span class="fold-words">${words}${failed > 0 ? html`<span class="quiet"> · ${t('{0} failed', failed)}</span>` : nothing}</span>
    </button>
    ${
      open
        ? html`<div class="fold-cards">${items.map(({ at, calls }) => html`${at === fold.at ? nothing : thinking(at)}${calls.map((call) => cardOf(at, call))}`)}</div>`
        : newest
          ? cardOf(last.at, last.calls.at(-1)!)
          : nothing
    }
  </div>`;
}

/** Identity of a card: message index and call index. */
export function callPositionKey(run: Run, at: number, call: ToolCall): string {
  const message = run.messages[at];
  return `${at}:${message?.role === 'assistant' ? message.toolCalls?.indexOf(call) : -1}`;
}
