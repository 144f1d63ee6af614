import { postToHost } from './host.ts';

/** Milliseconds after which a hidden page without animation frames answers. */
const withoutFrames = 250;
/** Milliseconds of idle time assumed after sending a message; continued typing is detected within this time. */
const afterSending = 1100;
/** Milliseconds after which an unmoved pressed pointer counts as released outside of the page. */
const longestHold = 10_000;

let last = Number.NEGATIVE_INFINITY;
let held = false;

const acted = (event: Event) => {
  last = Math.max(last, event.timeStamp); // time of the event, not of its handling by a busy page
};

for (const type of ['keydown', 'beforeinput', 'compositionupdate', 'paste', 'wheel', 'touchmove', 'drop'])
  window.addEventListener(type, acted, { capture: true, passive: true });
window.addEventListener('pointerdown', (event) => hold(event, true), { capture: true });
window.addEventListener('pointermove', moved, { capture: true, passive: true });
for (const type of ['pointerup', 'pointercancel'])
  window.addEventListener(type, (event) => hold(event, false), { capture: true });
// The transcript scrolls by itself, too; a user scroll holds the scroll bar.
window.addEventListener('scroll', (event) => held && acted(event), { capture: true, passive: true });

function moved(event: PointerEvent): void {
  if (event.buttons !== 0) hold(event, true);
  else held = false; // a moving pointer without a button is no activity
}

function hold(event: Event, down: boolean): void {
  acted(event);
  held = down;
}

/** Reports a sent message, after which a dialog may open soon. */
export function reportMessageSent(): void {
  held = false;
  last = performance.now() - afterSending;
}

/** Reports the user activity to the host, after all pending input events. */
export function answerActivityRequest(look: number): void {
  let answered = false;
  const answer = () => {
    if (answered) return;
    answered = true;
    const since = performance.now() - last;
    const idleMs = held && since < longestHold ? 0 : Math.min(1e9, Math.max(0, Math.round(since)));
    postToHost({ type: 'here', look, idleMs, focused: document.hasFocus() });
  };
  requestAnimationFrame(() => setTimeout(answer)); // pending keys and scrolls are handled first
  setTimeout(answer, withoutFrames);
}
