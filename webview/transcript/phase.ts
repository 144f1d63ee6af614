import { html, nothing, type TemplateResult } from 'lit-html';
import { pendingCalls } from '../../src/protocol/messages.ts';
import { endWords, hasDied, type Run, untoldEnds } from '../../src/protocol/run.ts';
import type { Took } from '../../src/protocol/took.ts';
import { visible, visibleLine } from '../../src/protocol/visible.ts';
import { focusComposer } from '../composer/draft.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';
import { count, duration, money } from '../time.ts';
import { sentence } from './sentence.ts';

/** Where the run stands, under its last message: what is waited for, or why it stopped and the way on. */
export function phaseLine(context: PanelContext, run: Run): TemplateResult | typeof nothing {
  if (run.readOnly) return stopLine(context, 'warning', run.readOnly, []);
  if (run.phase === 'Running') return runningLine(context, run);
  const { error } = run;
  if (run.asking?.length && (!error || error.code === 'ENGINE_ABORTED')) return nothing; // the way on is the answer
  const died = untoldEnds(run).find(([, { ended }]) => hasDied(ended));
  if (!error && died) return diedLine(context, ...died);
  if (!error)
    return isBetweenTurns(run)
      ? stopLine(context, '', 'Paused between two turns.', ['Continue'])
      : hasLooseEnds(run)
        ? stopLine(context, '', 'Interrupted before it was done.', ['Continue'])
        : nothing;
  const text = error.message;
  if (error.code === 'ENGINE_ABORTED') return stopLine(context, '', text || 'Stopped.', ['Continue']);
  if (error.code === 'LLM_AUTH_FAILED')
    return stopLine(context, 'error', text, ['Set API Key', 'Retry', 'Try Another Model…']);
  if (error.code.startsWith('LLM_') || error.code === 'UNKNOWN')
    return stopLine(context, 'error', text, ['Retry', 'Try Another Model…']);
  if (error.code === 'STORE_LOCKED') return stopLine(context, 'error', text, ['Take Over']);
  if (error.code === 'WORKFLOW_LIMIT_REACHED') return stopLine(context, 'warning', text, ['Continue']);
  if (error.code === 'ENGINE_MAX_TURNS_EXCEEDED')
    return stopLine(context, 'warning', run.took ? wordsOf(run.took) : text, ['Continue']);
  if (error.code === 'ENGINE_LOOP_DETECTED')
    return stopLine(context, 'warning', text, ['Say What Instead', 'Continue', 'Try Another Model…']);
  const nodeLeft = run.graph && run.graph.main.at.length > 0; // a node that failed can be tried again
  return stopLine(context, 'error', text, nodeLeft ? ['Retry'] : []);
}

/** What the turns took that there is a limit for, in place of a sentence about the limit. */
const wordsOf = (took: Took): string =>
  [
    plural(took.turns, 'step'),
    duration(took.ms),
    ...(took.tokens > 0 ? [`${count(took.tokens)} tokens`] : []),
    ...(took.cost === undefined ? [] : [money(took.cost)]),
    ...(took.files > 0 ? [plural(took.files, 'file')] : []),
  ].join(', ');

const plural = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** The calls are answered, and the model has not heard of it: paused, or all was denied. */
function isBetweenTurns(run: Run): boolean {
  return run.messages.at(-1)?.role === 'tool' && pendingCalls(run.messages).length === 0;
}

/** Something is unanswered: a call without a result, or an answer that was never given. */
function hasLooseEnds(run: Run): boolean {
  const last = run.messages.at(-1);
  return (
    pendingCalls(run.messages).length > 0 || last?.role === 'user' || (last?.role === 'assistant' && !!last.incomplete)
  );
}

/** The model hears of it at the next turn; until then only this says it. */
function diedLine(
  context: PanelContext,
  toolCallId: string,
  { command, ended }: ReturnType<typeof untoldEnds>[number][1],
) {
  const name = visibleLine(command.line.length > 60 ? `${command.line.slice(0, 60)}…` : command.line);
  const text = `In the background, “${name}” ${endWords(ended)}.`;
  const details = ended.outputId
    ? html`<vscode-button class="small" appearance="secondary" data-testid="died-output"
        @click=${() => context.post({ type: 'open-output', toolCallId })}>Details</vscode-button>`
    : nothing;
  return stopLine(context, 'warning', text, ['Continue'], details);
}

type Way = 'Continue' | 'Retry' | 'Try Another Model…' | 'Set API Key' | 'Take Over' | 'Say What Instead';

const actions = {
  'Set API Key': 'set-key',
  'Take Over': 'take-over',
  'Try Another Model…': 'try-another-model',
} as const;

function stopLine(
  context: PanelContext,
  tone: 'error' | 'warning' | '',
  text: string,
  ways: Way[],
  more: TemplateResult | typeof nothing = nothing,
): TemplateResult {
  // An error is told in the log already (announce.ts); said again it would only be in the way.
  return html`<div class="phase ${tone}" data-testid="phase" role=${context.model.run?.error ? nothing : 'status'}>
    ${tone ? icons.warning : nothing}
    <span class="phase-text">${sentence(text)}</span>
    <span class="phase-ways">${ways.map((way, index) => wayButton(context, way, index === 0))}${more}</span>
  </div>`;
}

function wayButton(context: PanelContext, way: Way, first: boolean): TemplateResult {
  const action = way in actions ? actions[way as keyof typeof actions] : undefined;
  const act = () => {
    if (way === 'Say What Instead') focusComposer();
    else context.post(action ? { type: 'action', action } : { type: 'continue' });
  };
  return html`<vscode-button class="small" appearance=${first ? 'primary' : 'secondary'}
    data-testid=${way === 'Say What Instead' ? 'say-instead' : (action ?? 'continue')} @click=${act}>${way}</vscode-button>`;
}

function runningLine(context: PanelContext, run: Run): TemplateResult | typeof nothing {
  const { progress } = run;
  const busy =
    run.live ||
    Object.values(run.graph?.nodes ?? {}).some((node) => node.status === 'running') ||
    Object.values(run.calls).some((call) => call.status === 'running' || call.status === 'asking');
  if (!progress && busy) return nothing;
  const left = Math.ceil(((progress?.until ?? 0) - context.now) / 1000);
  const wait = left > 0 ? ` (${duration(left * 1000)})` : '';
  const rests = run.pausing ? '; pausing after this turn' : '';
  return html`<div class="phase" data-testid="progress" role="status" aria-live="off">
    <vscode-progress-ring class="ring" aria-hidden="true"></vscode-progress-ring>
    <span class="phase-text quiet">${progress ? visible(progress.text) + wait : 'Working'}${rests}</span>
    ${
      progress?.fraction === undefined
        ? nothing
        : html`<progress max="1" .value=${progress.fraction} aria-label=${visible(progress.text)}></progress>`
    }
  </div>`;
}
