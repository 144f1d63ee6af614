import { html, type TemplateResult } from 'lit-html';
import { type PlanItem, planItemsOfRun } from '../../src/protocol/run/plan.ts';
import type { Run } from '../../src/protocol/run/run.ts';
import { escapeInvisibleInProseLine } from '../../src/protocol/text/escapeInvisible.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';
import type { StatusStripItem } from './statusStripPart.ts';

/** Plan of the run, displayed until done and at rest. A closed list reappears when changed. */
export function planStripItem(context: PanelContext): StatusStripItem | undefined {
  const { run } = context.model;
  const items = run ? planNow(run) : [];
  if (!run || items.length === 0) return undefined;
  const rests = run.phase !== 'Running';
  const done = items.filter(({ status }) => status === 'done').length;
  const name = `${run.id} ${JSON.stringify(items)}`; // a changed list is a new plan
  const isDone = done === items.length;
  if ((rests && isDone) || context.opened.planGone === name) return undefined;
  const close = () => {
    context.opened.planGone = name;
    context.refresh();
  };
  return {
    list: 'plan',
    icon: icons.ringDot,
    before: t('Plan'),
    count: `${done}/${items.length}`,
    says: t('Plan, {0} of {1} done', done, items.length),
    rows: () => html`<ul class="plan">${items.map(line)}</ul>`,
    ...(!isDone && { close }),
  };
}

let planned: { run: Run; seq: number; items: PlanItem[] } | undefined;

function planNow(run: Run): PlanItem[] {
  if (planned?.run !== run || planned.seq !== run.seq) planned = { run, seq: run.seq, items: planItemsOfRun(run) };
  return planned.items;
}

const words = { pending: 'to do', active: 'in progress', done: 'done' } as const;

const line = ({ text, status }: PlanItem): TemplateResult => html`<li data-status=${status}>
  <span class="plan-mark" role="img" aria-label=${t(words[status])}>${marks[status]}</span><span>${escapeInvisibleInProseLine(text)}</span></li>`;

const marks = { pending: icons.ring, active: icons.ringDot, done: icons.check };
