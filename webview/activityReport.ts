import { post } from './host.ts';

/** Milliseconds that a page which draws nothing (it is behind something) has to answer all the same. */
const withoutFrames = 250;
/** Who has just sent a message has paused; who types on is noticed within this. */
const afterSending = 1100;
/** A pointer that is held down for longer, unmoved, was let go where the page does not hear of it. */
const longestHold = 10_000;

let last = Number.NEGATIVE_INFINITY;
let held = false;

const acted = (event: Event) => {
  last = Math.max(last, event.timeStamp); // when it happened, not when a busy page comes to hear of it
};

for (const type of ['keydown', 'beforeinput', 'compositionupdate', 'paste', 'wheel', 'touchmove', 'drop'])
  window.addEventListener(type, acted, { capture: true, passive: true });
window.addEventListener('pointerdown', (event) => hold(event, true), { capture: true });
window.addEventListener('pointermove', moved, { capture: true, passive: true });
for (const type of ['pointerup', 'pointercancel'])
  window.addEventListener(type, (event) => hold(event, false), { capture: true });
// The transcript scrolls by itself, too; a scroll bar is held while it moves.
window.addEventListener('scroll', (event) => held && acted(event), { capture: true, passive: true });

function moved(event: PointerEvent): void {
  if (event.buttons !== 0) hold(event, true);
  else held = false; // a pointer that only passes by is nothing that a person does
}

function hold(event: Event, down: boolean): void {
  acted(event);
  held = down;
}

/** The message is on its way: whatever comes of it need not wait for long. */
export function sent(): void {
  held = false;
  last = performance.now() - afterSending;
}

/** Tells the host what the person does, after all that has happened before it asked. */
export function answerLook(look: number): void {
  let answered = false;
  const answer = () => {
    if (answered) return;
    answered = true;
    const since = performance.now() - last;
    const idleMs = held && since < longestHold ? 0 : Math.min(1e9, Math.max(0, Math.round(since)));
    post({ type: 'here', look, idleMs, focused: document.hasFocus() });
  };
  requestAnimationFrame(() => setTimeout(answer)); // keys and scrolls that wait are handled before
  setTimeout(answer, withoutFrames);
}
