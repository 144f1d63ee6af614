import { html, nothing, type TemplateResult } from 'lit-html';
import { localizedRunTitle, runTitle } from '../src/protocol/run/run.ts';
import { escapeInvisibleInProseLine } from '../src/protocol/text/escapeInvisible.ts';
import { t } from '../src/protocol/text/l10n.ts';
import { pendingQuestionCallIds } from './composer/choosing.ts';
import { composerView } from './composer/composer.ts';
import { focusComposer } from './composer/draft.ts';
import { detachedQuestionCards, onQuestionDigitKey } from './composer/questionCard.ts';
import { onStatusStripKey, statusStrip, statusStripItems, statusStripListView } from './composer/statusStrip.ts';
import type { PanelContext } from './context.ts';
import { findBar } from './find.ts';
import { closeHistory, closeHistoryOnBlur, onHistoryKey, openHistory, runHistoryList } from './history.ts';
import { icons } from './icons.ts';
import { noticeBar } from './notice.ts';
import { onPickerShortcut } from './shortcuts.ts';
import { graphMessageIndex, workflowGraphView } from './transcript/graphView.ts';
import { runPhaseLine } from './transcript/phase.ts';
import type { TranscriptScroll } from './transcript/scroll.ts';
import { taskContext, taskHeader, taskMessageBox, taskTranscript } from './transcript/taskView.ts';
import { transcriptView } from './transcript/transcript.ts';
import { welcomeView, workspaceNotices } from './transcript/welcome.ts';

export function panelRootView(context: PanelContext, scroll: TranscriptScroll): TemplateResult {
  const { run, state } = context.model;
  const task = taskContext(context);
  const shown = task ?? context;
  const empty = !run || (run.messages.length === 0 && run.queued.length === 0 && !run.live);
  const parts = statusStripItems(context);
  return html`
    ${task ? taskHeader(context, run!, task.model.task!) : header(context)}
    ${findBar(shown, scroll)}
    <main class="scroller" tabindex="0" aria-label=${t('Conversation')} @scroll=${scroll.onScroll}
      @keydown=${(event: KeyboardEvent) => onQuestionDigitKey(context, event)}>
      <div class="transcript">${
        task
          ? taskTranscript(task, task.model.run!, scroll.pages)
          : html`
        ${state ? workspaceNotices(context, state) : nothing}
        ${state && empty ? welcomeView(context, state) : nothing}
        ${run ? transcriptView(context, run, scroll.pages) : nothing}
        ${run && graphMessageIndex(run) === undefined ? workflowGraphView(context, run) : nothing}
        ${run ? detachedQuestionCards(context, run) : nothing}
        ${run && !context.model.partial ? runPhaseLine(context, run) : nothing}`
      }</div>
    </main>
    <div class="above">${
      scroll.following || empty
        ? nothing
        : html`<vscode-button class="latest small" appearance="secondary" data-testid="latest" @click=${scroll.toEnd}
              ><span slot="start">${icons.down}</span>${t(pendingQuestionCallIds(run).length > 0 ? 'Approval needed' : 'Jump to Latest')}</vscode-button>`
    }</div>
    ${task ? nothing : statusStripListView(context, parts)}
    <footer ?hidden=${task} @keydown=${(event: KeyboardEvent) => onPickerShortcut(context, event) || onStatusStripKey(context, event)}>
      ${statusStrip(context, parts)}
      ${task ? nothing : noticeBar(context)}
      ${composerView(context)}
    </footer>
    ${task ? html`<footer class="task-footer">${noticeBar(context)}${taskMessageBox(context, run!, task.model.task!)}</footer>` : nothing}`;
}

function header(context: PanelContext): TemplateResult {
  const { run } = context.model;
  const title = run ? escapeInvisibleInProseLine(localizedRunTitle(runTitle(run))) : t('New run');
  const toggle = () => (context.opened.history ? closeHistory(context) : openHistory(context));
  const begin = () => {
    context.post({ type: 'new-run' });
    closeHistory(context);
    focusComposer();
  };
  return html`<header @keydown=${(event: KeyboardEvent) => onHistoryKey(context, event)}
      @focusout=${(event: FocusEvent) => closeHistoryOnBlur(context, event)}>
    <h1 class="title" title=${title}>${title}</h1>
    <vscode-button appearance="icon" data-testid="history" title=${t('Show runs')} aria-label=${t('Show runs')}
      aria-expanded=${context.opened.history ? 'true' : 'false'} @click=${toggle}>${icons.history}</vscode-button>
    <vscode-button appearance="icon" data-testid="new-run" title=${t('New run')} aria-label=${t('New run')}
      @click=${begin}>${icons.add}</vscode-button>
    ${runHistoryList(context)}
  </header>`;
}
