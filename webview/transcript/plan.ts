import { html, nothing, type TemplateResult } from 'lit-html';
import { guard } from 'lit-html/directives/guard.js';
import { type PlanItem, planOf } from '../../src/protocol/plan.ts';
import { proseLine } from '../../src/protocol/visible.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';

/** Pixels of the page below which the list is folded at first: at 200 % zoom the conversation needs the room. */
const roomy = 500;

/** The run's to-do list, above the composer, for as long as something of it is left or the run is at work; a run at rest can be rid of it. */
export function plan(context: PanelContext): unknown {
  const { run } = context.model;
  if (!run) return nothing;
  const rests = run.phase !== 'Running';
  return guard([run, run.messages.length, rests, context.opened.planGone], () => {
    const items = planOf(run);
    const done = items.filter(({ status }) => status === 'done').length;
    const isOver = done === items.length || context.opened.planGone === nameOf(run.id, items);
    if (items.length === 0 || (isOver && rests)) return nothing;
    const dismiss = () => {
      context.opened.planGone = nameOf(run.id, items);
      context.refresh();
    };
    return html`<div class="plan-strip"><details class="plan" ?open=${window.innerHeight >= roomy} data-testid="plan">
      <summary><span class="twistie">${icons.chevron}</span>Plan, ${done} of ${items.length} done</summary>
      <ul>${items.map(line)}</ul>
    </details>${
      rests
        ? html`<vscode-button appearance="icon" class="plan-close" data-testid="plan-close" title="Put this plan away" aria-label="Put this plan away"
            @click=${dismiss}>${icons.close}</vscode-button>`
        : nothing
    }</div>`;
  });
}

/** Another list is another plan. */
const nameOf = (runId: string, items: readonly PlanItem[]): string => `${runId} ${JSON.stringify(items)}`;

const words = { pending: 'to do', active: 'at work', done: 'done' };

const line = ({ text, status }: PlanItem): TemplateResult => html`<li data-status=${status}>
  <span class="plan-mark" role="img" aria-label=${words[status]}>${marks[status]}</span><span>${proseLine(text)}</span></li>`;

const marks = { pending: icons.ring, active: icons.ringDot, done: icons.check };
