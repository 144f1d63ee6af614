import { html, nothing, type TemplateResult } from 'lit-html';
import { guard } from 'lit-html/directives/guard.js';
import { type PlanItem, planOf } from '../../src/protocol/plan.ts';
import type { Run } from '../../src/protocol/run.ts';
import { proseLine } from '../../src/protocol/visible.ts';
import { icons } from '../icons.ts';

/** The run's to-do list, above the composer, for as long as something of it is left or the run is at work. */
export function plan(run: Run): unknown {
  return guard([run, run.messages.length, run.phase], () => {
    const items = planOf(run);
    const done = items.filter(({ status }) => status === 'done').length;
    if (items.length === 0 || (done === items.length && run.phase !== 'Running')) return nothing;
    return html`<details class="plan" open data-testid="plan">
      <summary><span class="twistie">${icons.chevron}</span>Plan, ${done} of ${items.length} done</summary>
      <ul>${items.map(line)}</ul>
    </details>`;
  });
}

const words = { pending: 'to do', active: 'at work', done: 'done' };

const line = ({ text, status }: PlanItem): TemplateResult => html`<li data-status=${status}>
  <span class="plan-mark" role="img" aria-label=${words[status]}>${marks[status]}</span><span>${proseLine(text)}</span></li>`;

const marks = { pending: icons.ring, active: icons.ringDot, done: icons.check };
