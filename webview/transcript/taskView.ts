import { html, type TemplateResult } from 'lit-html';
import { localizedRunTitle, type Run, runTitle } from '../../src/protocol/run/run.ts';
import { isTaskAtWork } from '../../src/protocol/run/tasks.ts';
import {
  escapeInvisibleInProseLine,
  escapeInvisibleProse,
  withNoBreakUnits,
} from '../../src/protocol/text/escapeInvisible.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import { reportMessageSent } from '../activityReport.ts';
import { stopTaskButton } from '../cards/taskCard.ts';
import { taskStatus, taskTitle } from '../cards/taskStatus.ts';
import { maxMessageLength } from '../composer/composer.ts';
import type { PanelContext } from '../context.ts';
import type { TextArea } from '../elements.ts';
import { icons } from '../icons.ts';
import { longTextView } from '../longText.ts';
import { runOfTask } from './taskRun.ts';
import { transcriptView } from './transcript.ts';
import type { VirtualPages } from './virtualPages.ts';

/** State of the displayed task in the page. Positions of cards are those of its conversation. */
let view: { task: string; draft: string; opened: PanelContext['opened'] } | undefined;

/** Returns the context of the displayed task, whose run is its conversation; undefined: no task is displayed. */
export function taskContext(context: PanelContext): PanelContext | undefined {
  const { task } = context.opened;
  const { branches: _, partial: __, ...model } = context.model;
  const run = model.run && task !== undefined ? runOfTask(model.run, task) : undefined;
  if (!run || task === undefined) {
    view = undefined;
    return undefined;
  }
  if (view?.task !== task) {
    const opened = { history: false, cards: new Set<string>(), whole: new Set<string>(), unfolded: new Set<string>() };
    view = { task, draft: '', opened };
  }
  return { ...context, opened: view.opened, model: { ...model, run, task } };
}

export function taskHeader(context: PanelContext, run: Run, task: string): TemplateResult {
  const state = run.tasks![task]!;
  const back = t('Back to “{0}”', escapeInvisibleInProseLine(localizedRunTitle(runTitle(run))));
  return html`<header class="task-header">
    <vscode-button class="task-back" appearance="icon" data-testid="task-back" title=${back} aria-label=${back}
      @click=${() => closeTask(context)}><div class="task-back-words">${icons.left}<span class="task-back-title">${back}</span></div></vscode-button>
    <h1 class="title" title=${taskTitle(state)}>${taskTitle(state)}</h1>
    <div class="task-status">
      <span class="task-words quiet" data-testid="task-status">${withNoBreakUnits(taskStatus(context, run, task, state).text)}</span>
      <span class="task-acts">${stopTaskButton(context, run, task)}</span>
    </div>
  </header>`;
}

/** Conversation of the task, with the messages that it has not received. */
export const taskTranscript = (context: PanelContext, run: Run, pages: VirtualPages): TemplateResult =>
  html`${transcriptView(context, run, pages)}${run.queued.map(
    ({ text, queued }) => html`<article class="user queued" data-role="queued">
      <div class="user-text">${longTextView(context, `${queued}:waiting`, escapeInvisibleProse(text), 2000)}</div>
      <span class="quiet">${t('Sent at the next step')}</span></article>`,
  )}`;

export function taskMessageBox(context: PanelContext, run: Run, task: string): TemplateResult {
  const state = run.tasks![task]!;
  const isOpen = isTaskAtWork(state) && run.phase === 'Running' && !run.readOnly;
  const label = t('Message to {0}', escapeInvisibleInProseLine(state.name));
  const draft = view?.draft ?? '';
  if (!isOpen) {
    const why = isTaskAtWork(state)
      ? t('Continue the run to send messages to this task.')
      : t('This task has ended. Send a message to the run instead.');
    return html`<p class="quiet" data-testid="task-closed">${why}</p>
      <div class="composer task-box"><vscode-text-area disabled rows="1" .value=${draft}>${label}</vscode-text-area></div>`;
  }
  const isReady = draft.trim() !== '';
  return html`<div class="composer task-box">
    <vscode-text-area data-testid="task-box" rows="1" maxlength=${maxMessageLength} placeholder=${label} .value=${draft}
      @input=${(event: Event) => onInput(context, event)} @keydown=${(event: KeyboardEvent) => onKey(context, run, task, event)}>${label}</vscode-text-area>
    <div class="composer-acts"><vscode-button class="send" data-testid="send-to-task" ?disabled=${!isReady} title=${t('Send (Enter)')}
      aria-label=${t('Send')} @click=${() => send(context, run, task)}>${icons.send}</vscode-button></div>
  </div>`;
}

function onInput(context: PanelContext, { target }: Event): void {
  if (view) view.draft = (target as TextArea).value;
  context.refresh();
}

function onKey(context: PanelContext, run: Run, task: string, event: KeyboardEvent): void {
  // 229: the Enter that ends an input method composition may lack isComposing.
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229) return;
  event.preventDefault();
  send(context, run, task);
}

function send(context: PanelContext, run: Run, task: string): void {
  const text = view?.draft.trimEnd() ?? '';
  if (!view || text.trim() === '') return;
  context.post({ type: 'say-to-task', runId: run.id, task, text: text.slice(0, maxMessageLength) });
  reportMessageSent();
  view.draft = '';
  context.toEnd();
}

/** Returns to the conversation of the run. The focus returns to the button that opened the task. */
function closeTask(context: PanelContext): void {
  const { task } = context.opened;
  if (task === undefined) return;
  context.opened.task = undefined;
  context.drawNow();
  const card = `[data-call="${CSS.escape(task)}"] [data-testid="open-task"]`;
  document.querySelector<HTMLElement>(card)?.focus({ preventScroll: true });
}

export function closeTaskOnEscape(context: PanelContext, event: KeyboardEvent): void {
  if (event.key === 'Escape' && !event.isComposing && !event.defaultPrevented) closeTask(context);
}
