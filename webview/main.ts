import { reportActivity } from './activity.ts';
import './plainText.ts';
import './panel.css';
import { render } from 'lit-html';
import type { HostMessage } from '../src/protocol/panel/panelMessages.ts';
import type { RunEvent } from '../src/protocol/run/events.ts';
import { answerActivityRequest } from './activityReport.ts';
import { receiveComposerCompletions, scrollToSelectedCompletion } from './composer/completion.ts';
import {
  addMentions,
  editQueuedMessage,
  maxMessageLength,
  resendRestoredMessage,
  restoreUndeliveredMessage,
  setDraft,
} from './composer/composer.ts';
import { composerDraft, focusComposer } from './composer/draft.ts';
import { insertPastedText } from './composer/dropping.ts';
import { receiveMentionSize } from './composer/mentions.ts';
import { receiveResolvedMention } from './composer/typedMentions.ts';
import type { PanelContext } from './context.ts';
import { registerCustomElements } from './elements.ts';
import { closeFindBar, highlightFindMatches, keepFindBoxFocus, onFindKey, trackFindFocus } from './find.ts';
import { closeHistory, focusHistory } from './history.ts';
import { postToHost, receiveFromHost, savedWebviewState } from './host.ts';
import { panelRootView } from './panel.ts';
import { animateNewestSpinner } from './singleSpinner.ts';
import { activeCalls, applyHostMessage, createPanelViewModel } from './store.ts';
import { showSystemNotification } from './systemNotification.ts';
import { createAnnouncer } from './transcript/announce.ts';
import { restoreBranchArrow, scrollToBranchForkPoint } from './transcript/branchSwitcher.ts';
import { continueMessageNavigation, navigateMessages } from './transcript/messageNavigation.ts';
import { TranscriptScroll } from './transcript/scroll.ts';
import { closeTaskOnEscape, taskContext } from './transcript/taskView.ts';

registerCustomElements();

const root = document.body.appendChild(document.createElement('div'));
root.id = 'panel';
const log = document.body.appendChild(document.createElement('div'));
log.className = 'for-screen-readers';
log.setAttribute('role', 'log');
log.setAttribute('aria-live', 'polite');
const announce = createAnnouncer(log);

/** A sent message has not changed the phase yet. */
let unheard = false;

const context: PanelContext = {
  model: createPanelViewModel(),
  opened: { history: false, cards: new Set(), whole: new Set(), unfolded: new Set() },
  now: Date.now(),
  post(message) {
    if (message.type === 'send' || message.type === 'continue') unheard = context.model.run?.phase !== 'Running';
    postToHost(message);
  },
  refresh,
  drawNow,
  toEnd: () => scroll.toEnd(),
  markdown: {
    open(target) {
      if (target.kind === 'external') postToHost({ type: 'open-link', url: target.url });
      if (target.kind === 'file') {
        postToHost({ type: 'open-file', path: target.path, ...(target.line ? { line: target.line } : {}) });
      }
    },
    copy: (text) => postToHost({ type: 'copy', text }),
    use: (how, text, language) =>
      postToHost({ type: 'use-code', how, text: text.slice(0, maxMessageLength), language }),
  },
};
const scroll = new TranscriptScroll(refresh);

/** Context of the displayed conversation: that of a task or of the run. */
const shown = (): PanelContext => taskContext(context) ?? context;

let drawing: number | undefined;
function refresh(): void {
  if (drawing === undefined) drawing = requestAnimationFrame(draw);
}

function drawNow(): void {
  if (drawing !== undefined) cancelAnimationFrame(drawing);
  draw();
}

function draw(): void {
  drawing = undefined;
  context.now = Date.now();
  const { run } = context.model;
  document.body.dataset.phase = unheard ? '' : (run?.phase ?? '');
  const focused = document.activeElement;
  scroll.showTask(taskContext(context) !== undefined);
  render(panelRootView(context, scroll), root);
  if (document.activeElement === document.body && document.hasFocus()) {
    if (focused?.isConnected)
      (focused as HTMLElement).focus(); // it was moved
    else if (focused) keepFocus();
  }
  scroll.settle();
  highlightFindMatches(scroll);
  continueMessageNavigation(shown(), scroll);
  restoreBranchArrow(context, scroll);
  scrollToSelectedCompletion();
  animateNewestSpinner(root);
  keepTime();
}

/** Moves the focus when its button was removed. */
function keepFocus(): void {
  if (document.activeElement !== document.body || !document.hasFocus()) return; // an editor has taken the focus meanwhile
  focusWhereItIs();
}

function focusWhereItIs(): void {
  if (context.opened.history) focusHistory();
  else focusComposer();
}

/** Blurs first if only the window has the focus: a focused element would not regain the focus by itself. */
function takeFocus(): void {
  if (!document.hasFocus()) {
    (document.activeElement as HTMLElement | null)?.blur();
    window.focus();
  }
  focusWhereItIs();
}

let clock: ReturnType<typeof setInterval> | undefined;
let period = 0;
/** Updates elapsed times each second while something runs, else rarely. */
function keepTime(): void {
  const { run, state } = context.model;
  const moving =
    run?.phase === 'Running' &&
    (run.progress?.until !== undefined || activeCalls(context.model).some(({ status }) => status === 'running'));
  const wanted = moving ? 1000 : state?.commands.length ? 15_000 : 0;
  if (wanted === period) return;
  period = wanted;
  clearInterval(clock);
  clock = period > 0 ? setInterval(refresh, period) : undefined;
}

window.addEventListener('message', (event: MessageEvent<unknown>) => {
  const message = receiveFromHost(event);
  if (message) take(message);
});

const isHeard = (message: HostMessage): boolean =>
  (message.type === 'events' && message.events.some(({ type }) => type === 'phase')) ||
  (message.type === 'notice' && message.notice !== null);

const isQueued = (event: RunEvent): boolean =>
  event.type === 'queued' &&
  event.runId === context.model.run?.id &&
  context.model.run.queued.some(({ queued }) => queued === event.seq);

function take(message: HostMessage): void {
  const { run: before, partial } = context.model;
  applyHostMessage(context.model, message);
  const { run } = context.model;
  if (message.type === 'run' ? run?.seq !== 0 : isHeard(message)) unheard = false;
  if (message.type === 'run' && (run === null || run !== before)) {
    if (run?.id !== before?.id) {
      context.opened.task = undefined;
      scroll.showTask(false);
    }
    if (run?.id !== before?.id || partial) {
      context.opened.cards.clear();
      context.opened.whole.clear();
      context.opened.acts = undefined;
      context.opened.unfolded.clear();
    }
    if (run && run.id !== before?.id) closeHistory(context); // the list covers the new run
    if (!run) closeFindBar();
    if (partial && before && run?.id === before.id) scroll.move(run.messages.length - before.messages.length);
    else scroll.open(run?.id ?? '');
    scrollToBranchForkPoint(run?.id, scroll);
  }
  announce(context, message);
  if (message.type === 'events' && message.events.some(isQueued)) context.opened.strip ??= 'waiting';
  if (message.type === 'focus' && (document.hasFocus() || !message.gently)) {
    if (run === null) closeHistory(context); // the next message starts a new run
    if (!keepFindBoxFocus(message.gently === true)) takeFocus();
  }
  if (message.type === 'completions') receiveComposerCompletions(message);
  if (message.type === 'mention-size') receiveMentionSize(context, message);
  if (message.type === 'mention-resolved') receiveResolvedMention(context, message);
  if (message.type === 'selection' && message.mention && message.goes)
    postToHost({ type: 'measure-mention', mention: message.mention });
  if (message.type === 'pasted') insertPastedText(message.text);
  if (message.type === 'look') answerActivityRequest(message.look);
  if (message.type === 'draft') setDraft(context, [message.text, composerDraft()].filter(Boolean).join('\n\n'));
  if (message.type === 'unheard') restoreUndeliveredMessage(context, message.text);
  if (message.type === 'say-unheard') resendRestoredMessage(context);
  if (message.type === 'mention') addMentions(context, message.mentions);
  if (message.type === 'edit-waiting') editQueuedMessage(context, message.queued);
  if (message.type === 'system-notification') showSystemNotification(message.text);
  refresh();
}

reportActivity(() => context.model.run);
window.addEventListener('keydown', (event) => navigateMessages(shown(), scroll, event) && event.preventDefault());
trackFindFocus();
window.addEventListener('keydown', (event) => onFindKey(shown(), event), { capture: true });
window.addEventListener('keydown', (event) => closeTaskOnEscape(context, event));
window.addEventListener('resize', refresh);
root.addEventListener('load', scroll.onGrown, { capture: true });
// After a dialog the page regains the focus without the focused element. A click sets its own focus later.
window.addEventListener('focus', () => requestAnimationFrame(keepFocus));
draw();
setDraft(context, savedWebviewState().draft);
postToHost({ type: 'ready' });
