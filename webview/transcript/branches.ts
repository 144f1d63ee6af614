import { html, nothing, type TemplateResult } from 'lit-html';
import type { Run } from '../../src/protocol/run.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';

/** Which of several ways the run goes on from here, before the message at this place. */
export function branchesAt({ model, post }: PanelContext, run: Run, place: number): TemplateResult[] {
  const points = model.branches?.runId === run.id ? model.branches.points.filter(({ at }) => at === place) : [];
  const button = (name: string, icon: TemplateResult, way: string | undefined) =>
    html`<vscode-button appearance="icon" title=${name} aria-label=${name} ?disabled=${way === undefined}
      @click=${way === undefined ? nothing : () => post({ type: 'open-run', runId: way })}>${icon}</vscode-button>`;
  return points.map(
    ({
      nth,
      of,
      previous,
      next,
    }) => html`<div class="branches" role="group" data-role="branches" aria-label=${`Branch ${nth} of ${of}`}>
    ${button('Show the branch before', icons.left, previous)}<span>${nth} of ${of}</span>${button('Show the next branch', icons.chevron, next)}</div>`,
  );
}
