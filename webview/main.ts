import './policy.ts';
import './panel.css';
import { render } from 'lit-html';
import { type HostMessage, hostMessageSchema } from '../src/protocol/view.ts';
import { editWaiting, setDraft } from './composer/composer.ts';
import { focusComposer } from './composer/draft.ts';
import type { PanelContext } from './context.ts';
import { defineElements } from './elements.ts';
import { closeHistory } from './history.ts';
import { post, savedView } from './host.ts';
import { panel } from './panel.ts';
import { answerLook } from './presence.ts';
import { newModel, receive } from './store.ts';
import { announce } from './transcript/announce.ts';
import { Scroll } from './transcript/scroll.ts';

defineElements();

const root = document.body.appendChild(document.createElement('div'));
root.id = 'panel';
const log = document.body.appendChild(document.createElement('div'));
log.className = 'for-screen-readers';
log.setAttribute('role', 'log');
log.setAttribute('aria-live', 'polite');

/** What the person sent has begun nothing yet: the phase is still that of before. */
let unheard = false;

const context: PanelContext = {
  model: newModel(),
  opened: { history: false, cards: new Set(), whole: new Set() },
  now: Date.now(),
  post(message) {
    if (message.type === 'send' || message.type === 'continue') unheard = context.model.run?.phase !== 'Running';
    post(message);
  },
  refresh,
  toEnd: () => scroll.toEnd(),
  markdown: {
    open(target) {
      if (target.kind === 'external') post({ type: 'open-link', url: target.url });
      if (target.kind === 'file') {
        post({ type: 'open-file', path: target.path, ...(target.line ? { line: target.line } : {}) });
      }
    },
    copy: (text) => post({ type: 'copy', text }),
  },
};
const scroll = new Scroll(refresh);

let drawing: number | undefined;
/** Many events, one drawing: at most once per frame. */
function refresh(): void {
  if (drawing === undefined) drawing = requestAnimationFrame(draw);
}

function draw(): void {
  drawing = undefined;
  context.now = Date.now();
  const { run } = context.model;
  document.body.dataset.phase = unheard ? '' : (run?.phase ?? '');
  const focused = document.activeElement;
  render(panel(context, scroll), root);
  if (focused && !focused.isConnected && document.hasFocus()) keepFocus();
  scroll.settle();
  keepTime();
}

/** A button that did its work is gone at times: the next key is to land somewhere all the same. */
function keepFocus(): void {
  if (document.activeElement !== document.body) return;
  if (context.opened.history) document.querySelector<HTMLElement>('[data-testid="history"]')?.focus();
  else focusComposer();
}

/** Also when only the window around this page has the focus: an element that had it before would not get it back by itself. */
function takeFocus(): void {
  if (!document.hasFocus()) {
    (document.activeElement as HTMLElement | null)?.blur();
    window.focus();
  }
  focusComposer();
}

let clock: ReturnType<typeof setInterval> | undefined;
let period = 0;
/** Elapsed times and countdowns move by themselves while something is running; ages in minutes need no second. */
function keepTime(): void {
  const { run, state } = context.model;
  const moving =
    run?.phase === 'Running' &&
    (run.progress?.until !== undefined || Object.values(run.calls).some((call) => call.status === 'running'));
  const wanted = moving ? 1000 : state?.commands.length ? 15_000 : 0;
  if (wanted === period) return;
  period = wanted;
  clearInterval(clock);
  clock = period > 0 ? setInterval(refresh, period) : undefined;
}

window.addEventListener('message', (event: MessageEvent<unknown>) => {
  const parsed = hostMessageSchema.safeParse(event.data);
  if (!parsed.success) {
    console.warn('Towpath: a message that does not fit was ignored.', parsed.error.message);
    return;
  }
  take(parsed.data as HostMessage);
});

const isHeard = (message: HostMessage): boolean =>
  (message.type === 'events' && message.events.some(({ type }) => type === 'phase')) ||
  (message.type === 'notice' && message.notice !== null);

function take(message: HostMessage): void {
  const before = context.model.run?.id;
  receive(context.model, message);
  const { run } = context.model;
  if (message.type === 'run' ? run?.seq !== 0 : isHeard(message)) unheard = false;
  if (message.type === 'run') {
    if (run?.id !== before) {
      context.opened.cards.clear();
      context.opened.whole.clear();
    }
    scroll.open(run?.id ?? '');
  }
  announce(log, message);
  if (message.type === 'focus' && (document.hasFocus() || !message.gently)) {
    if (run === null) closeHistory(context); // the next words begin a new one
    takeFocus();
  }
  if (message.type === 'look') answerLook(message.look);
  if (message.type === 'edit-waiting') editWaiting(context, message.queued);
  refresh();
}

window.addEventListener('resize', refresh);
// A page that lost the focus to a dialog gets it back without the element that had it. A click has its own, a moment later.
window.addEventListener('focus', () => requestAnimationFrame(keepFocus));
draw();
setDraft(context, savedView().draft);
post({ type: 'ready' });
