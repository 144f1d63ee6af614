import { html, nothing, type TemplateResult } from 'lit-html';
import type { ToolCall } from '../../src/protocol/content/messages.ts';
import { isBetweenTurns } from '../../src/protocol/run/resumable.ts';
import type { Run, TaskState } from '../../src/protocol/run/run.ts';
import { isTaskAtWork } from '../../src/protocol/run/tasks.ts';
import { withNoBreakUnits } from '../../src/protocol/text/escapeInvisible.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import type { PanelContext } from '../context.ts';
import { cardFrame, toolCallCard, toolCallDetails } from './card.ts';
import type { CardStatus, CardStatusIcon } from './cardLine.ts';
import { toPlainTextPiece } from './cardText.ts';
import { taskStatus, taskTitle } from './taskStatus.ts';

/** Card of a call that has given a task: the title, and a line with the state of the task. */
export function taskCard(context: PanelContext, run: Run, call: ToolCall, place: string): TemplateResult {
  const { id } = call;
  const task = run.tasks![id]!;
  const { text, mark, asking } = taskStatus(context, run, id, task);
  const state = run.calls[id];
  const title = [toPlainTextPiece(`${task.name}:`), { text: task.title }];
  const isContinued = task.limit !== undefined && run.phase !== 'Running' && isBetweenTurns(run) && isNewest(run, id);
  return cardFrame(context, {
    place,
    key: { runId: run.id, toolCallId: id },
    tool: call.name,
    line: { status: cardStatus(task, mark), mark, verb: '', object: title, outcome: [], joint: ' · ', time: '' },
    beside: nothing,
    below: html`<div class="task-status">
        <span class="task-words" data-testid="task-status">${withNoBreakUnits(text)}</span>
        <span class="task-acts">${stopTaskButton(context, run, id)}
          ${isContinued ? button('continue-after-limit', t('Continue'), () => context.post({ type: 'continue' })) : nothing}
          ${
            task.messages.length > 0
              ? button('open-task', t('Open'), () => openTask(context, id), t('Open {0}', taskTitle(task)))
              : nothing
          }</span>
      </div>
      ${asking ? html`<div class="task-asks">${toolCallCard(context, run, asking, `${place}:asks`)}</div>` : nothing}`,
    details: () => toolCallDetails(context, place, call, state, context.model.results.get(id)),
  });
}

function isNewest({ messages }: Run, id: string): boolean {
  const reply = messages.findLast(({ role }) => role === 'assistant');
  return reply?.role === 'assistant' && Boolean(reply.toolCalls?.some((call) => call.id === id));
}

export function stopTaskButton(context: PanelContext, run: Run, id: string): TemplateResult | typeof nothing {
  const task = run.tasks![id]!;
  if (!isTaskAtWork(task) || run.phase !== 'Running') return nothing;
  const stop = () => context.post({ type: 'stop-task', runId: run.id, task: id });
  return button('stop-task', t('Stop'), stop, t('Stop {0}', taskTitle(task)));
}

const button = (name: string, label: string, act: () => void, title = label): TemplateResult =>
  html`<vscode-button class="small" appearance="secondary" data-testid=${name} title=${title} aria-label=${title} @click=${act}>${label}</vscode-button>`;

function openTask(context: PanelContext, id: string): void {
  context.opened.task = id;
  context.refresh();
}

function cardStatus(task: TaskState, mark: CardStatusIcon): CardStatus {
  if (mark === 'asks') return 'asking';
  if (mark === 'working') return 'running';
  return isTaskAtWork(task) ? 'waiting' : 'done';
}
