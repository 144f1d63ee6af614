import type { PanelContext } from '../context.ts';
import { composerDraft, composerTextArea } from './draft.ts';

/** Milliseconds within which a second Escape stops the run. */
const togetherMs = 1000;
let toStop: ReturnType<typeof setTimeout> | undefined;

export const isStopConfirmationPending = (): boolean => toStop !== undefined;

/**
 * Handles keys in an empty message box: ↑ restores the last message, Escape twice stops the run. Returns false for other keys.
 *
 * @param say sets the draft
 */
export function onKeyInEmptyBox(context: PanelContext, event: KeyboardEvent, say: (text: string) => void): boolean {
  const isPlain = !event.shiftKey && !event.altKey && !event.ctrlKey && !event.metaKey;
  if (composerDraft() !== '' || !isPlain || event.isComposing || event.keyCode === 229) return false; // 229: a key of an input method
  if (event.key === 'ArrowUp') return bringBackLast(context, say);
  return event.key === 'Escape' && !event.repeat && stopAtSecond(context);
}

function bringBackLast({ model: { run } }: PanelContext, say: (text: string) => void): boolean {
  const last = run?.messages.findLast(({ role, content }) => role === 'user' && content !== '');
  if (!last) return false;
  say(last.content);
  const box = composerTextArea()?.control;
  box?.setSelectionRange(box.value.length, box.value.length);
  return true;
}

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
