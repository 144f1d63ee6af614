import { html, nothing, type TemplateResult } from 'lit-html';
import type { BackgroundCommandState } from '../../src/protocol/panel/panelMessages.ts';
import { formatAge } from '../../src/protocol/text/ago.ts';
import { escapeInvisibleInLine } from '../../src/protocol/text/escapeInvisible.ts';
import { localizedCount, t } from '../../src/protocol/text/l10n.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';
import type { StatusStripItem } from './statusStripPart.ts';

export function backgroundCommandsStripItem(context: PanelContext): StatusStripItem | undefined {
  const { run, state } = context.model;
  const own = (state?.commands ?? []).filter(({ runId }) => runId === run?.id);
  if (own.length === 0) return undefined;
  return {
    list: 'commands',
    icon: icons.terminal,
    count: `${own.length}`,
    noun: t('running'),
    says: t('{0} running in the background', localizedCount(own.length, 'command')),
    rows: () => html`<ul class="commands">${own.map((one) => row(context, one))}</ul>`,
  };
}

function row(context: PanelContext, { id, line, startedAt }: BackgroundCommandState): TemplateResult {
  const name = escapeInvisibleInLine(line);
  const isNew = context.now - startedAt < 60_000;
  return html`<li data-command=${id}>
    <span class="command-mark">${icons.terminal}</span>
    <span class="command-line" title=${name}><bdi>${name}</bdi></span>
    <span class="command-age quiet">${isNew ? t('just now') : formatAge(startedAt, context.now)}</span>
    <span class="command-ways">${commandActionButtons(context, id, name)}</span>
  </li>`;
}

export const commandActionButtons = (context: PanelContext, id: string, name: string): TemplateResult => html`
  <button class="link" data-testid="command-output" title=${t('Show the output of {0}', name)} aria-label=${t('Output of {0}', name)}
    @click=${() => context.post({ type: 'command-output', id })}>${t('Output')}</button>
  ${
    running(context, id)?.isSandboxed
      ? html`<button class="link" data-testid="open-port" title=${t('Open a port of {0} in the browser', name)}
    @click=${() => context.post({ type: 'open-port', id })}>${t('Open Port…')}</button>`
      : nothing
  }
  <button class="link" data-testid="stop-command" title=${t('Stop {0}', name)} aria-label=${t('Stop {0}', name)}
    @click=${() => context.post({ type: 'stop-command', id })}>${t('Stop')}</button>`;

export const isCommandRunning = (context: PanelContext, id: string | undefined): boolean =>
  running(context, id) !== undefined;

const running = ({ model }: PanelContext, id: string | undefined): BackgroundCommandState | undefined =>
  model.state?.commands.find((one) => one.id === id);
