import { html, type TemplateResult } from 'lit-html';
import type { Run } from '../../src/protocol/run/run.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';
import type { TranscriptScroll } from './scroll.ts';

type Way = 'previous' | 'next';

/** Pressed branch arrow, until another action or an event in the branch. */
let pressed: { runId: string; at: number; way: Way; top: number; seq?: number } | undefined;
const letGo = (): void => {
  pressed = undefined;
};

export function branchSwitchersAt({ model, post }: PanelContext, run: Run, place: number): TemplateResult[] {
  const points = model.branches?.runId === run.id ? model.branches.points.filter(({ at }) => at === place) : [];
  const button = (name: string, icon: TemplateResult, way: Way, runId: string | undefined) => {
    const press = ({ currentTarget }: Event) => {
      if (runId === undefined) return;
      const { top } = (currentTarget as HTMLElement).getBoundingClientRect();
      pressed = { runId, at: place, way, top };
      for (const deed of ['wheel', 'pointerdown', 'keydown'])
        window.addEventListener(deed, letGo, { capture: true, once: true });
      post({ type: 'open-run', runId });
    };
    return html`<vscode-button appearance="icon" data-way=${way} title=${name} aria-label=${name} ?disabled=${runId === undefined}
      @click=${press}>${icon}</vscode-button>`;
  };
  return points.map(
    ({
      nth,
      of,
      previous,
      next,
    }) => html`<div class="branches" role="group" data-role="branches" data-at=${place} aria-label=${t('Branch {0} of {1}', nth, of)}>
    ${button(t('Show the previous branch'), icons.left, 'previous', previous)}<span>${t('{0} of {1}', nth, of)}</span>${button(t('Show the next branch'), icons.chevron, 'next', next)}</div>`,
  );
}

/** Opens a branch at the fork point instead of at its end. */
export function scrollToBranchForkPoint(runId: string | undefined, scroll: TranscriptScroll): void {
  if (pressed?.runId !== runId) letGo();
  if (pressed && pressed.seq === undefined) scroll.toPlace(pressed.at);
}

/** Keeps the arrow in position and focused when the user switches between branches. */
export function restoreBranchArrow({ model: { run, branches } }: PanelContext, scroll: TranscriptScroll): void {
  if (!pressed || run?.id !== pressed.runId || branches?.runId !== run.id) return;
  const group = document.querySelector(`.branches[data-at="${pressed.at}"]`);
  const arrow = [`[data-way="${pressed.way}"]`, '[data-way]']
    .map((one) => group?.querySelector<HTMLElement>(`${one}:not([disabled])`))
    .find(Boolean);
  if (!arrow) return;
  if (pressed.seq === undefined && document.hasFocus()) arrow.focus({ preventScroll: true });
  pressed.seq ??= run.seq;
  if (pressed.seq === run.seq) scroll.by(arrow.getBoundingClientRect().top - pressed.top);
  else letGo();
}
