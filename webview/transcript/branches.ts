import { html, nothing, type TemplateResult } from 'lit-html';
import { t } from '../../src/protocol/l10n.ts';
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
    }) => html`<div class="branches" role="group" data-role="branches" aria-label=${t('Branch {0} of {1}', nth, of)}>
    ${button(t('Show the branch before'), icons.left, previous)}<span>${t('{0} of {1}', nth, of)}</span>${button(t('Show the next branch'), icons.chevron, next)}</div>`,
  );
}
