import type { PanelContext } from '../context.ts';
import { area, draft } from './draft.ts';

/** Milliseconds within which a second Escape means it. */
const togetherMs = 1000;
let toStop: ReturnType<typeof setTimeout> | undefined;

/** Escape was pressed once, and a second one stops the run. */
export const isToStop = (): boolean => toStop !== undefined;

/**
 * What a key means while nothing stands in the message box: ↑ brings back what was said last, Escape pressed twice stops. False: nothing.
 * @param say puts words into the message box
 */
export function onKeyInEmptyBox(context: PanelContext, event: KeyboardEvent, say: (text: string) => void): boolean {
  const isPlain = !event.shiftKey && !event.altKey && !event.ctrlKey && !event.metaKey;
  if (draft() !== '' || !isPlain || event.isComposing || event.keyCode === 229) return false; // 229: a key of an input method
  if (event.key === 'ArrowUp') return bringBackLast(context, say);
  return event.key === 'Escape' && !event.repeat && stopAtSecond(context);
}

function bringBackLast({ model: { run } }: PanelContext, say: (text: string) => void): boolean {
  const last = run?.messages.findLast(({ role, content }) => role === 'user' && content !== '');
  if (!last) return false;
  say(last.content);
  const box = area()?.control;
  box?.setSelectionRange(box.value.length, box.value.length);
  return true;
}

/** Whatever is open closes first. */
function stopAtSecond(context: PanelContext): boolean {
  const { strip, meter, history, sendMenu } = context.opened;
  if (context.model.run?.phase !== 'Running' || strip || meter || history || sendMenu) return false;
  if (toStop === undefined) {
    toStop = setTimeout(() => settle(context), togetherMs);
  } else {
    settle(context);
    context.post({ type: 'stop' });
  }
  context.refresh();
  return true;
}

function settle({ refresh }: PanelContext): void {
  clearTimeout(toStop);
  toStop = undefined;
  refresh();
}
