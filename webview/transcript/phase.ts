import { html, nothing, type TemplateResult } from 'lit-html';
import { guard } from 'lit-html/directives/guard.js';
import { localizedDollars, spendingLimitKindOfError } from '../../src/protocol/run/money.ts';
import type { Run } from '../../src/protocol/run/run.ts';
import { openTasks } from '../../src/protocol/run/tasks.ts';
import { escapeInvisible, withNoBreakUnits } from '../../src/protocol/text/escapeInvisible.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import { createDictionary, sortedDictionaryEntries } from '../../src/protocol/values/dictionary.ts';
import { isEmptyLiveReply } from '../cards/folding.ts';
import { requestPlanExecution } from '../composer/composer.ts';
import { focusComposer } from '../composer/draft.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';
import { activeCalls } from '../store.ts';
import { formatElapsedTime } from '../time.ts';
import { localizeStoredEnglish } from './localizedText.ts';
import { type RunEndAction, type RunEndNotice, runEndActions, runEndNotice } from './runEnd.ts';
import { sentenceWithCommands } from './sentence.ts';

export function runPhaseLine(context: PanelContext, run: Run): unknown {
  if (run.phase === 'Running' && !run.readOnly) return runningLine(context, run);
  const { limits, diskFull } = context.model.state ?? {};
  return guard([run, run.seq, run.phase, run.error, limits, diskFull], () => {
    const end = runEndNotice(run);
    const isFull = run.error?.code === 'STORE_FULL' && diskFull;
    return end ? endLine(context, run.id, isFull ? { ...end, ways: end.ways.slice(0, 1) } : end) : nothing; // retry after disk space is available
  });
}

function endLine(context: PanelContext, runId: string, end: RunEndNotice): TemplateResult {
  const { tone, says, ways, details } = end;
  // Errors are announced by announce.ts; a second announcement would interfere.
  return html`<div class="phase ${tone}" data-testid="phase" role=${context.model.run?.error ? nothing : 'status'}>
    ${tone ? icons[tone] : nothing}
    <div class="phase-text">${sentenceWithCommands(says)}${
      details === undefined
        ? nothing
        : html`<details class="phase-details"><summary>${t('Details')}</summary><code>${details}</code></details>`
    }</div>
    ${
      ways.length === 0
        ? nothing
        : html`<span class="phase-ways">${ways.map((way, index) => wayButton(context, way, index === 0, { ...end, runId }))}</span>`
    }
  </div>`;
}

function wayButton(
  context: PanelContext,
  asked: RunEndAction,
  first: boolean,
  { runId, toolCallId, setting, labels }: RunEndNotice & { runId: string },
): TemplateResult {
  const more = asked === 'Another' ? limitOf(context) : undefined;
  const way = asked === 'Another' && more === undefined ? 'Continue' : asked; // the limit was removed since
  const act = runEndActions[way];
  const press = () => {
    if (act === 'say') focusComposer();
    else if (act === 'review') context.post({ type: 'review-files', runId });
    else if (act === 'do-plan') requestPlanExecution(context);
    else if (act === 'output') context.post({ type: 'open-output', runId, toolCallId: toolCallId! });
    else if (way === 'Settings' && setting) context.post({ ...runEndActions.Settings, setting });
    else context.post(act);
  };
  return html`<vscode-button class="small" appearance=${first && !labels ? 'primary' : 'secondary'}
    data-testid=${nameOf(act)} @click=${press}>${labels?.[way] ?? (more === undefined ? t(way) : t('Raise Limit by {0}', localizedDollars(more)))}</vscode-button>`;
}

function limitOf({ model: { run, state } }: PanelContext): number | undefined {
  const limit = spendingLimitKindOfError(run?.error);
  return limit && state?.limits?.[limit];
}

const nameOf = (act: (typeof runEndActions)[RunEndAction]): string => {
  if (act === 'say') return 'say-instead';
  if (act === 'output') return 'died-output';
  if (act === 'review') return 'review-run';
  if (act === 'do-plan') return 'do-plan';
  if (act.type === 'do-plan') return 'do-plan-apart';
  if (act.type === 'action') return act.action;
  return act.type === 'continue' ? 'continue' : 'summary' in act ? 'run-with-summary' : 'another-run';
};

/**
 * Text of a wait.
 *
 * @param left seconds until the next request
 */
function progressWords(progress: NonNullable<Run['progress']>, left: number): string {
  const words = escapeInvisible(localizeStoredEnglish(progress));
  const wait = left > 0 ? formatElapsedTime(left * 1000) : '';
  if (progress.attempt === undefined) return wait ? `${words} (${wait})` : words;
  return wait ? t('{0} · retrying in {1}', words, wait) : t('{0} · retrying', words);
}

function runningLine(context: PanelContext, run: Run): TemplateResult | typeof nothing {
  const { progress } = run;
  const tasks = openTasks(run).length;
  if (tasks > 0 && !progress) return waitingForTasksLine(context, run, tasks);
  const busy =
    (run.live && !isEmptyLiveReply(run.live)) ||
    sortedDictionaryEntries(run.graph?.nodes ?? createDictionary<{ status: string }>()).some(
      ([, node]) => node.status === 'running',
    ) ||
    activeCalls(context.model).length > 0;
  if (progress ? progress.callId && !run.graph : busy) return nothing; // a card has the progress of a call
  const left = Math.ceil(((progress?.until ?? 0) - context.now) / 1000);
  const rests = run.pausing ? pausingWords() : '';
  return html`<div class="phase" data-testid="progress" role="status" aria-live="off">
    <vscode-progress-ring class="ring" aria-hidden="true"></vscode-progress-ring>
    <span class="phase-text quiet">${progress ? withNoBreakUnits(progressWords(progress, left)) : t('Working')}${rests}</span>
    ${
      left > 0
        ? html`<span class="phase-ways"><vscode-button class="small" appearance="secondary" data-testid="retry-now"
            @click=${() => context.post({ type: 'retry-now' })}>${t('Retry Now')}</vscode-button>${
              run.graph
                ? nothing
                : html`<vscode-button class="small" appearance="secondary" data-testid="try-another-model"
                    @click=${() => context.post(runEndActions['Retry With…'])}>${t('Retry With…')}</vscode-button>`
            }</span>`
        : nothing
    }
    ${
      progress?.fraction === undefined
        ? nothing
        : html`<progress max="1" .value=${progress.fraction} aria-label=${escapeInvisible(localizeStoredEnglish(progress))}></progress>`
    }
  </div>`;
}

function waitingForTasksLine(context: PanelContext, { id, pausing }: Run, tasks: number): TemplateResult {
  const words = tasks === 1 ? t('Waiting for 1 task') : t('Waiting for {0} tasks', tasks);
  return html`<div class="phase" data-testid="waiting-for-tasks" role="status" aria-live="off">
    <vscode-progress-ring class="ring" aria-hidden="true"></vscode-progress-ring>
    <span class="phase-text quiet">${words}${pausing ? pausingWords() : ''}</span>
    ${
      tasks === 1
        ? nothing
        : html`<span class="phase-ways"><vscode-button class="small" appearance="secondary" data-testid="stop-tasks"
            @click=${() => context.post({ type: 'stop-task', runId: id })}>${t('Stop All')}</vscode-button></span>`
    }
  </div>`;
}

const pausingWords = (): string => `; ${t('pausing after this step')}`;
