import { html, nothing, type TemplateResult } from 'lit-html';
import { guard } from 'lit-html/directives/guard.js';
import type { WorkflowDiagramNode } from '../../src/protocol/content/outline.ts';
import { createWorkflowGraphState } from '../../src/protocol/run/graph.ts';
import type { CallState, Run } from '../../src/protocol/run/run.ts';
import { errorMessageForUser } from '../../src/protocol/text/codeText.ts';
import {
  escapeCommandOutput,
  escapeInvisible,
  escapeInvisibleInLine,
  withNoBreakUnits,
} from '../../src/protocol/text/escapeInvisible.ts';
import { localizedCount, t } from '../../src/protocol/text/l10n.ts';
import { shortenText } from '../../src/protocol/text/shorten.ts';
import { sortedDictionaryEntries } from '../../src/protocol/values/dictionary.ts';
import { denyButton } from '../cards/card.ts';
import { interruptedApprovalText, workflowNodeCallLine } from '../cards/cardLine.ts';
import { cardLineView } from '../cards/cardLineView.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';
import { longTextView } from '../longText.ts';
import { firstPendingApproval } from '../store.ts';
import { formatElapsedTime } from '../time.ts';
import {
  type FoldedWorkflowNodeRows,
  foldWorkflowNodeRows,
  type WorkflowNodeRow,
  type WorkflowNodeRowStatus,
  type WorkflowNodeState,
  workflowNodeRows,
} from './graphRows.ts';
import { localizedWarnings } from './localizedText.ts';

/** Message index of the graph of a finished workflow, above its answer. Undefined: at the end. */
export function graphMessageIndex({ graph, messages }: Run): number | undefined {
  if (!graph?.end) return undefined;
  const { messages: at } = graph.end;
  if (messages[at]?.role === 'assistant') return at; // the result follows the end
  const last = messages[at - 1];
  const place = last?.role === 'assistant' && !last.toolCalls?.length ? at - 1 : at;
  return place < messages.length ? place : undefined;
}

export function workflowGraphView(context: PanelContext, run: Run): TemplateResult | typeof nothing {
  const rows = workflowNodeRows(run);
  if (rows.length === 0) return nothing;
  const done = rows.filter(({ status }) => status === 'completed').length;
  // Unreached nodes of a finished run are not pending.
  const isKnown = run.outline && run.phase !== 'Completed';
  const closed = context.opened.cards.has('graph:closed');
  const parts = foldWorkflowNodeRows(rows);
  const [whole] = parts;
  const isSaidBelow = !closed && parts.length === 1 && whole !== undefined && 'rows' in whole && whole.done;
  const count = isKnown ? t('{0} of {1} done', done, rows.length) : t('{0} done', localizedCount(done, 'node'));
  return html`<section class="graph" data-testid="graph" aria-label=${t('Workflow')}>
    <h2 class="graph-head">${toggle(context, { place: 'graph:closed', open: !closed }, html`${t('Workflow')} ${isSaidBelow ? nothing : html`<span class="quiet">${count}</span>`}`)}</h2>
    ${closed ? nothing : body(context, run, rows, parts)}
  </section>`;
}

function body(
  context: PanelContext,
  run: Run,
  rows: readonly WorkflowNodeRow[],
  parts: readonly (WorkflowNodeRow | FoldedWorkflowNodeRows)[],
): TemplateResult {
  const { main, branches, artifacts } = run.graph ?? createWorkflowGraphState();
  const values = Object.keys(main.state).length;
  const titles = new Map(rows.map(({ node }) => [node.name, node.title ?? node.name]));
  const draw = (row: WorkflowNodeRow) => rowOf(context, run, row, titles);
  const sides = Object.fromEntries(sortedDictionaryEntries(branches).map(([head, { state }]) => [head, state]));
  const shown = Object.keys(sides).length > 0 ? { ...main.state, branches: sides } : main.state;
  return html`<ol class="graph-nodes">
      ${parts.map((part) => ('rows' in part ? fold(context, part, draw) : draw(part)))}
    </ol>
    ${values > 0 ? more(context, 'graph:values', t('Values ({0})', values), () => json(context, shown)) : nothing}
    ${artifacts.length > 0 ? more(context, 'graph:files', t('Files ({0})', artifacts.length), () => files(context, artifacts)) : nothing}`;
}

function rowOf(
  context: PanelContext,
  run: Run,
  row: WorkflowNodeRow,
  titles: ReadonlyMap<string, string>,
): TemplateResult {
  const { node, status, state, ways, asking, output, deed } = row;
  const name = escapeInvisibleInLine(node.title ?? node.name);
  const current = status === 'running' || status === 'asking' || (status === 'waiting' && run.phase === 'WaitingUser');
  return html`<li class="graph-node" data-node=${node.name} data-status=${status} data-kind=${node.kind ?? nothing}
    ?data-branch=${node.branch !== undefined} ?data-joined=${row.joined} aria-current=${current ? 'step' : nothing}>
    <span class="graph-icon">${iconOf[status]}</span>
    <div class="graph-line">
      <span class="graph-name" title=${escapeInvisibleInLine(node.name)}>${name}${
        node.branch === node.name ? html`<span class="for-screen-readers">, ${t('a parallel branch')}</span>` : nothing
      }</span>
      <span class="graph-words">${wordsOf(context, run, row)}${itemsOf(row)}${timesOf(state)}${roundOf(run, node, status)}</span>
    </div>
    ${deed && (status === 'running' || status === 'completed') ? deedOf(context, deed, status) : nothing}
    ${asking && !asking[1].asked ? question(context, run, asking[0], asking[1]) : nothing}
    ${localizedWarnings(state ?? {}).map((warning) => html`<p class="graph-warning">${escapeInvisible(warning)}</p>`)}
    ${state?.error ? html`<p class="graph-error">${escapeInvisible(errorMessageForUser(state.error))}</p>` : nothing}
    ${output ? outputOf(context, node.name, output, status === 'failed') : nothing}
    ${ways.length > 0 ? html`<ul class="graph-ways">${ways.map((way) => wayOf(way, titles))}</ul>` : nothing}
  </li>`;
}

const deedOf = (
  context: PanelContext,
  deed: NonNullable<WorkflowNodeRow['deed']>,
  status: 'running' | 'completed',
): TemplateResult =>
  html`<div class="graph-deed">${cardLineView(context, { ...workflowNodeCallLine(...deed, status === 'running' ? 'doing' : 'done'), outcome: [], joint: ' · ', time: '' })}</div>`;

function outputOf(context: PanelContext, name: string, output: string, broken: boolean): TemplateResult {
  const place = `graph:part:${name}`;
  const part = () => longTextView(context, place, escapeCommandOutput(output), 4000);
  return broken
    ? html`<div class="output" tabindex="0" role="group" aria-label=${t('Part of its answer')}
        ><pre>${guard([output, context.opened.whole.has(place)], part)}</pre></div>
        <p class="quiet" data-testid="part">${t('This is only a part: it ended here.')}</p>`
    : html`<div class="output" tabindex="0" role="group" aria-label=${t('Output so far')}><pre>${escapeCommandOutput(output.slice(-4000))}</pre></div>`;
}

function wayOf(
  { to, label, taken }: WorkflowNodeRow['ways'][number],
  titles: ReadonlyMap<string, string>,
): TemplateResult {
  const target = to === undefined ? t('the end') : (titles.get(to) ?? to);
  return html`<li ?data-taken=${taken}>
    <span class="graph-arrow">${icons.right}</span>
    <span><span class="for-screen-readers">${t(taken ? 'switched to' : 'may go to')} </span>${escapeInvisibleInLine(target)}${
      label === undefined
        ? nothing
        : html`<span class="for-screen-readers">: </span><span class="graph-label" title=${escapeInvisibleInLine(label)}>${escapeInvisibleInLine(shortenText(label, 80))}</span>`
    }</span>
  </li>`;
}

function wordsOf(context: PanelContext, run: Run, { status, state, asking }: WorkflowNodeRow): TemplateResult | string {
  switch (status) {
    case 'completed':
      return html`<span class="for-screen-readers">${t('Done')}, </span>${withNoBreakUnits(formatElapsedTime((state!.endedAt ?? context.now) - state!.startedAt))}`;
    case 'failed':
      return t('Failed');
    case 'running':
      return t('Running');
    case 'asking':
      if (asking?.[1].asked) return t('Waiting for your answer');
      return t(run.phase === 'Running' ? 'Waiting for approval' : interruptedApprovalText);
    case 'waiting':
      return run.phase === 'WaitingUser' ? t('Your turn') : t('Interrupted');
    case 'next':
      return t('Next');
    default:
      return html`<span class="for-screen-readers">${t(status === 'passed' ? 'Not reachable' : 'Not started')}</span>`;
  }
}

const itemsOf = ({ items }: WorkflowNodeRow) => (items ? ` · ${t('{0} of {1}', items.done, items.of)}` : nothing);

const timesOf = (state: WorkflowNodeState | undefined) =>
  state && state.visits > 1
    ? html` · <span aria-hidden="true">${state.visits}×</span><span class="for-screen-readers">${t('{0} times', state.visits)}</span>`
    : nothing;

function roundOf(
  run: Run,
  { name, loop }: WorkflowDiagramNode,
  status: WorkflowNodeRowStatus,
): string | typeof nothing {
  if (!loop || !run.graph || !['running', 'asking', 'waiting'].includes(status)) return nothing;
  const track = [run.graph.main, ...sortedDictionaryEntries(run.graph.branches).map(([, track]) => track)].find(
    ({ at }) => at.includes(name),
  );
  if (!track) return nothing;
  return ` · ${t('round {0} of {1}', Math.min(loop.most, Math.floor(track.steps / loop.steps) + 1), loop.most)}`;
}

const working = html`<vscode-progress-ring class="ring" aria-hidden="true"></vscode-progress-ring>`;
const iconOf: Record<WorkflowNodeRowStatus, TemplateResult> = {
  completed: icons.check,
  failed: icons.close,
  running: working,
  asking: icons.question,
  waiting: icons.pauseLines,
  next: icons.ringDot,
  todo: icons.ring,
  passed: icons.skipped,
};

function fold(
  context: PanelContext,
  { key, done, rows }: FoldedWorkflowNodeRows,
  draw: (row: WorkflowNodeRow) => TemplateResult,
): TemplateResult {
  const place = `graph:fold:${key}`;
  const open = context.opened.cards.has(place);
  const label = html`${t(done ? '{0} nodes done' : '{0} more nodes', rows.length)}`;
  return html`<li class="graph-fold">${toggle(context, { place, open }, label)}</li>${open ? rows.map(draw) : nothing}`;
}

function question(context: PanelContext, run: Run, toolCallId: string, { question }: CallState): TemplateResult {
  const key = { runId: run.id, toolCallId };
  return html`<div class="card-question">
    <span>${question ? escapeInvisibleInLine([question.what, question.note].filter(Boolean).join(' · ')) : nothing}</span>
    <vscode-button class="small" appearance=${firstPendingApproval(context.model) === key.toolCallId ? 'primary' : 'secondary'} data-testid="show-question"
      @click=${() => context.post({ type: 'show-question', ...key })}>${t('Answer…')}</vscode-button>
    ${denyButton(context, key)}
  </div>`;
}

function more(context: PanelContext, place: string, label: string, content: () => TemplateResult): TemplateResult {
  const open = context.opened.cards.has(place);
  return html`${toggle(context, { place, open }, html`${label}`)}
    ${open ? html`<div class="card-details">${content()}</div>` : nothing}`;
}

function toggle(context: PanelContext, { place, open }: { place: string; open: boolean }, label: TemplateResult) {
  const press = () => {
    if (!context.opened.cards.delete(place)) context.opened.cards.add(place);
    context.refresh();
  };
  return html`<button class="card-toggle graph-more" aria-expanded=${open} @click=${press}>
      <span class="twistie">${icons.chevron}</span><span>${label}</span></button>`;
}

const json = (context: PanelContext, state: object): TemplateResult =>
  html`<pre class="field" tabindex="0">${longTextView(context, 'graph:json', escapeInvisible(JSON.stringify(state, null, 2)), 4000)}</pre>`;

const files = (context: PanelContext, paths: readonly string[]): TemplateResult =>
  html`<ul class="graph-files">${paths.map(
    (path) =>
      html`<li><button class="more graph-file" title=${t('Open in an editor')} @click=${() => context.post({ type: 'open-file', path })}>${escapeInvisibleInLine(path)}</button></li>`,
  )}</ul>`;
