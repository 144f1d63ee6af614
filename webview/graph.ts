import { html, nothing, type TemplateResult } from 'lit-html';
import type { Graph } from '../src/protocol/graph.ts';
import type { CallState, Run } from '../src/protocol/run.ts';
import { visible, visibleLine } from '../src/protocol/visible.ts';
import type { PanelContext } from './context.ts';
import { icons } from './icons.ts';
import { longText } from './longText.ts';
import { duration } from './time.ts';

type NodeState = Graph['nodes'][string];

/** The nodes of a workflow in the order in which they were begun, what is at work, and on demand the values and files. */
export function graph(context: PanelContext, run: Run): TemplateResult | typeof nothing {
  if (!run.graph) return nothing;
  const { nodes, main, branches, artifacts } = run.graph;
  const values = Object.keys(main.state).length;
  const next = [...main.at, ...Object.values(branches).flatMap(({ at }) => at)].filter((name) => !nodes[name]);
  const done = Object.values(nodes).filter(({ status }) => status === 'completed').length;
  return html`<section class="graph" data-testid="graph" aria-label="Workflow">
    <h2 class="graph-head">Workflow <span class="quiet">${done} ${done === 1 ? 'node' : 'nodes'} done</span></h2>
    <ol class="graph-nodes">
      ${Object.entries(nodes).map(([name, state]) => node(context, run, name, state))}
      ${[...new Set(next)].map((name) => row({ name, status: 'next', icon: icons.skipped, words: 'Next' }))}
    </ol>
    ${values > 0 ? more(context, 'graph:values', `Values (${values})`, () => json(context, main.state)) : nothing}
    ${artifacts.length > 0 ? more(context, 'graph:files', `Files (${artifacts.length})`, () => files(context, artifacts)) : nothing}
  </section>`;
}

function node(context: PanelContext, run: Run, name: string, state: NodeState): TemplateResult {
  const calls = Object.entries(run.calls).filter(([id]) => id.startsWith(`${name}:${state.visits}:`));
  const asking = calls.find(([, call]) => call.status === 'asking');
  const output = calls.find(([, call]) => call.status === 'running' && call.output)?.[1].output;
  const { words, icon, status } = standing(run, state, asking?.[1], context.now);
  return row({
    name,
    status,
    icon,
    words: `${words}${state.visits > 1 ? ` · ${state.visits}×` : ''}`,
    below: html`
      ${asking && run.phase === 'Running' ? question(context, asking[0], asking[1]) : nothing}
      ${state.error ? html`<p class="graph-error">${visible(state.error.message)}</p>` : nothing}
      ${state.live || output ? html`<div class="output" tabindex="0" role="group" aria-label="Output so far"><pre>${visible((state.live ?? output ?? '').slice(-4000))}</pre></div>` : nothing}`,
  });
}

function standing(run: Run, { status, startedAt, endedAt }: NodeState, asking: CallState | undefined, now: number) {
  const time = duration((endedAt ?? now) - startedAt);
  if (status === 'completed') return { status, icon: icons.check, words: time };
  if (status === 'failed') return { status, icon: icons.close, words: 'Failed' };
  if (run.phase === 'WaitingUser') return { status: 'waiting', icon: icons.question, words: 'Your turn' };
  if (run.phase !== 'Running') return { status: 'waiting', icon: icons.skipped, words: 'Interrupted' };
  if (asking) return { status: 'asking', icon: icons.question, words: 'Waiting for your answer' };
  return { status, icon: working, words: 'At work' };
}

const working = html`<vscode-progress-ring class="ring" aria-hidden="true"></vscode-progress-ring>`;

interface Row {
  name: string;
  status: string;
  icon: TemplateResult;
  words: string;
  below?: TemplateResult;
}

const row = ({ name, status, icon, words, below }: Row): TemplateResult => html`<li class="graph-node"
    data-node=${name} data-status=${status} aria-current=${status === 'running' || status === 'asking' ? 'step' : nothing}>
    <span class="graph-icon">${icon}</span>
    <span class="graph-name">${visibleLine(name)}</span>
    <span class="graph-words">${words}</span>
    ${below ?? nothing}
  </li>`;

const question = (context: PanelContext, toolCallId: string, { question }: CallState): TemplateResult =>
  html`<div class="card-question">
    <span>${question ? visibleLine(question.what) : nothing}</span>
    <vscode-button class="small" data-testid="show-question"
      @click=${() => context.post({ type: 'show-question', toolCallId })}>Answer…</vscode-button>
  </div>`;

function more(context: PanelContext, place: string, label: string, content: () => TemplateResult): TemplateResult {
  const open = context.opened.cards.has(place);
  const toggle = () => {
    if (!context.opened.cards.delete(place)) context.opened.cards.add(place);
    context.refresh();
  };
  return html`<button class="card-toggle graph-more" aria-expanded=${open} @click=${toggle}>
      <span class="twistie">${icons.chevron}</span>${label}</button>
    ${open ? html`<div class="card-details">${content()}</div>` : nothing}`;
}

const json = (context: PanelContext, state: object): TemplateResult =>
  html`<pre class="field" tabindex="0">${longText(context, 'graph:json', visible(JSON.stringify(state, null, 2)), 4000)}</pre>`;

const files = (context: PanelContext, paths: readonly string[]): TemplateResult =>
  html`${paths.map(
    (path) =>
      html`<button class="more graph-file" @click=${() => context.post({ type: 'open-file', path })}>${visibleLine(path)}</button>`,
  )}`;
