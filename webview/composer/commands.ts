import { html, nothing, type TemplateResult } from 'lit-html';
import { amount, t } from '../../src/protocol/l10n.ts';
import type { CommandAtWork } from '../../src/protocol/view.ts';
import { visibleLine } from '../../src/protocol/visible.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';
import { ago } from '../time.ts';
import type { StripPart } from './stripPart.ts';

/** What is at work in the background of this window: the commands of the shown run, then those of others. */
export function commandsPart(context: PanelContext): StripPart | undefined {
  const { run, state } = context.model;
  const all = state?.commands ?? [];
  if (all.length === 0) return undefined;
  const own = all.filter(({ runId }) => runId === run?.id);
  const others = all.filter(({ runId }) => runId !== run?.id);
  return {
    list: 'commands',
    icon: icons.terminal,
    count: `${all.length}`,
    noun: t('running'),
    says: t('{0} running in the background', amount(all.length, 'command')),
    rows: () =>
      html`<ul class="commands">${[...own, ...others].map((one) => row(context, one, own.includes(one)))}</ul>`,
  };
}

function row(context: PanelContext, { id, runId, line, startedAt }: CommandAtWork, isOwn: boolean): TemplateResult {
  const name = visibleLine(line);
  const isNew = context.now - startedAt < 60_000;
  return html`<li data-command=${id}>
    <span class="command-mark">${icons.terminal}</span>
    <span class="command-line" title=${name}><bdi>${name}</bdi></span>
    <span class="command-age quiet">${isNew ? t('just now') : ago(startedAt, context.now)}</span>
    <span class="command-ways">
      ${
        isOwn
          ? nothing
          : html`<button class="link" title=${t('Show the run it belongs to')} data-testid="command-run"
              @click=${() => context.post({ type: 'open-run', runId })}>${t('Other run')}</button>`
      }
      ${commandWays(context, id, name)}
    </span>
  </li>`;
}

/** What a person can do with one that is at work. */
export const commandWays = (context: PanelContext, id: string, name: string): TemplateResult => html`
  <button class="link" data-testid="command-output" title=${t('Show what {0} prints', name)} aria-label=${t('Output of {0}', name)}
    @click=${() => context.post({ type: 'command-output', id })}>${t('Output')}</button>
  <button class="link" data-testid="stop-command" title=${t('Stop {0}', name)} aria-label=${t('Stop {0}', name)}
    @click=${() => context.post({ type: 'stop-command', id })}>${t('Stop')}</button>`;

/** It is at work in this window. */
export const isAtWork = (context: PanelContext, id: string | undefined): boolean =>
  id !== undefined && (context.model.state?.commands ?? []).some((one) => one.id === id);
