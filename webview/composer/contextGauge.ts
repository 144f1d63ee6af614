import { html, nothing, svg, type TemplateResult } from 'lit-html';
import type { ContextUsage } from '../../src/protocol/content/contextUsage.ts';
import { localizedDollars } from '../../src/protocol/run/money.ts';
import type { Run } from '../../src/protocol/run/run.ts';
import { formatDecimal } from '../../src/protocol/text/decimal.ts';
import { escapeInvisibleInLine, withNoBreakUnits } from '../../src/protocol/text/escapeInvisible.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import type { PanelContext } from '../context.ts';
import { pathView } from '../pathView.ts';
import { formatCost, formatCount } from '../time.ts';

/** Fill level (0..1) from which the gauge warns. */
const nearlyFull = 0.9;

/** Minimum duration in milliseconds for a speed. */
const sometime = 1000;

export function contextGauge(context: PanelContext, run: Run): TemplateResult | typeof nothing {
  const now = measured(context, run);
  if (!now) return nothing;
  const { total, size } = now;
  const part = size === undefined ? undefined : total / size;
  const label = part === undefined ? `${formatCount(total)}/?` : percent(part);
  const open = context.opened.meter === true;
  const title = t('Context window: {0}', fullness(now));
  return html`<span class="meter" @keydown=${(event: KeyboardEvent) => onKey(context, event)}
      @focusout=${(event: FocusEvent) => leave(context, event)}>
    <button class="meter-button ${part !== undefined && part >= nearlyFull ? 'full' : ''}" data-testid="meter" title=${title}
      aria-label=${`${label}. ${title}`} aria-haspopup="dialog" aria-expanded=${open ? 'true' : 'false'} @click=${() => toggle(context)}
      >${ring(part, now)}<span class="meter-label">${label}</span></button>
    ${open ? popover(context, run, now) : nothing}
  </span>`;
}

interface Measured {
  total: number;
  size?: number;
  filling?: ContextUsage;
}

/** Records of earlier versions or imported files may lack the counts; invalid numbers are not displayed. */
function measured({ model: { state } }: PanelContext, { filling, contextTokens, models }: Run): Measured | undefined {
  const total = filling?.total ?? contextTokens;
  if (!(total > 0)) return undefined;
  const isChosen = models === undefined || models.at(-1)?.model === state?.modelId;
  const size = filling?.size ?? (isChosen ? state?.window : undefined);
  return { total, ...(size !== undefined && size > 0 && { size }), ...(filling && { filling }) };
}

const fullness = ({ total, size }: Measured): string =>
  size === undefined
    ? t('{0}, window unknown', formatCount(total))
    : t('{0} of {1}', formatCount(total), formatCount(size));

const percent = (part: number): string => withNoBreakUnits(t('{0}%', Math.round(part * 100)));

/** Ring that fills clockwise, with a mark at the threshold of automatic compaction. */
function ring(part: number | undefined, { size = 1, filling }: Measured): TemplateResult {
  const threshold = filling?.roomAt === undefined ? undefined : Math.min(1, filling.roomAt / size);
  return html`<svg class="meter-ring" viewBox="0 0 16 16" aria-hidden="true">
    <circle class="meter-all" cx="8" cy="8" r="6" pathLength="100" />
    ${part === undefined ? svg`<text x="8" y="11" text-anchor="middle">?</text>` : svg`<circle class="meter-filled" cx="8" cy="8" r="6" pathLength="100" stroke-dasharray="${Math.min(100, part * 100)} 100" transform="rotate(-90 8 8)" />`}
    ${part === undefined || threshold === undefined ? nothing : svg`<path class="meter-mark" d="M8 0v3.6" transform="rotate(${360 * threshold} 8 8)" />`}
  </svg>`;
}

function popover(context: PanelContext, run: Run, now: Measured): TemplateResult {
  const { filling } = now;
  const { limits } = context.model.state ?? {};
  const most = limits?.run === undefined ? undefined : Math.max(limits.run, run.allowed ?? 0);
  const spent = formatCost(run.usage.cost, run.unpriced);
  const cost = most === undefined ? spent : t('{0}, of {1}', spent, localizedDollars(most));
  const setWindow = () => context.post({ type: 'action', action: 'set-window' });
  return html`<div class="meter-popover" role="dialog" aria-label=${t('Context window')} tabindex="-1" data-testid="meter-popover">
    <p class="meter-head"><b>${now.size === undefined ? nothing : `${percent(now.total / now.size)} · `}${fullness(now)}</b>${
      now.size === undefined
        ? html` · <button class="meter-link" data-testid="set-window" @click=${setWindow}>${t('Set…')}</button>`
        : nothing
    }</p>
    ${filling ? parts(now.total, filling) : nothing}
    <dl class="meter-parts">
      ${filling?.cached ? row(t('Read from cache'), formatCount(filling.cached)) : nothing}
      ${run.answered && run.answered.ms >= sometime ? row(t('Newest answer'), pace(run.answered)) : nothing}
      ${row(t('This run in total'), formatCount(run.usage.totalTokens))}
      ${row(t('Cost'), cost)}
    </dl>
    ${compactButton(context, run)}
  </div>`;
}

function compactButton(context: PanelContext, run: Run): TemplateResult {
  const { room } = context.model;
  const frees = room?.runId === run.id ? room.frees : undefined;
  const compact = () => {
    context.post({ type: 'action', action: 'compact' });
    toggle(context);
  };
  return html`<p class="meter-acts"><vscode-button class="small" appearance="secondary" data-testid="compact"
      ?disabled=${frees === 0} @click=${compact}>${t('Compact Now')}</vscode-button><span class="quiet">${
        frees === undefined ? nothing : frees > 0 ? t('frees about {0}', formatCount(frees)) : t('nothing to compact')
      }</span></p>`;
}

function parts(total: number, filling: ContextUsage): TemplateResult {
  const { instructions, tools, words, output, answers, summary, leftOut } = filling;
  const all = instructions + tools + words + output + answers + summary;
  const about = (tokens: number) => t('about {0}', formatCount(Math.round((tokens * total) / Math.max(1, all))));
  const rows = [
    ['Instructions', instructions],
    ['Tools', tools],
    ['Your messages', words],
    ['Files and output', output],
    ['Answers', answers],
    ['Summary', summary],
  ] as const;
  return html`<dl class="meter-parts">
    ${rows.map(([what, tokens]) => [
      tokens > 0 ? row(t(what), about(tokens)) : nothing,
      what === 'Instructions' ? filesOf(filling, about) : nothing,
    ])}
    ${leftOut > 0 ? row(t('Left out'), about(leftOut), 'quiet') : nothing}
  </dl>`;
}

const filesOf = ({ files = [] }: ContextUsage, about: (tokens: number) => string) =>
  files.map(({ path, tokens, cut, hidden }) =>
    row(
      html`<span class="meter-file" title=${escapeInvisibleInLine(path)}>${pathView(escapeInvisibleInLine(path))}</span>`,
      [
        tokens === 0 ? t('no space') : cut ? t('{0}, cut', about(tokens)) : about(tokens),
        ...(hidden ? [t('contains hidden text')] : []),
      ].join(' · '),
      'quiet',
    ),
  );

/** Speed with prefill, as in *Insights*. */
function pace({ tokens, ms }: NonNullable<Run['answered']>): string {
  const each = (tokens * 1000) / ms;
  return t('{0} tokens per second', formatDecimal(each, each < 10 ? 1 : 0));
}

const row = (what: string | TemplateResult, how: string, kind = '') =>
  html`<div class="meter-row ${kind}"><dt>${what}</dt><dd>${how}</dd></div>`;

function toggle(context: PanelContext): void {
  context.opened.meter = !context.opened.meter;
  if (context.opened.meter) context.post({ type: 'measure-room' });
  context.refresh();
}

function onKey(context: PanelContext, event: KeyboardEvent): void {
  if (event.key !== 'Escape' || !context.opened.meter) return;
  event.stopPropagation();
  toggle(context);
  document.querySelector<HTMLElement>('[data-testid="meter"]')?.focus();
}

/** Closes the popover when the focus moves to the conversation. */
function leave(context: PanelContext, { currentTarget, relatedTarget }: FocusEvent): void {
  const inside = (currentTarget as Node).contains(relatedTarget as Node | null);
  if (context.opened.meter && !inside && document.hasFocus()) toggle(context);
}
