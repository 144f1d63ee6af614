import type { PanelAction } from '../src/protocol/panel/intents.ts';
import type { PanelContext } from './context.ts';
import { openHistory } from './history.ts';

const actions: Readonly<Record<string, PanelAction>> = {
  a: 'pick-agent',
  p: 'plan-first',
  m: 'pick-model',
  r: 'run-preset',
  u: 'undo-turn',
};

/** Handles letter shortcuts on the pickers below the message box. Returns true if handled. */
export function onPickerShortcut(context: PanelContext, event: KeyboardEvent): boolean {
  const isPlain = !(event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.isComposing);
  if (!isPlain || !(event.target as Element).closest('.composer-about')) return false;
  const action = actions[event.key];
  if (action) context.post({ type: 'action', action });
  else if (event.key === 'n') context.post({ type: 'new-run' });
  else if (event.key === 'h') searchRuns(context);
  else if (event.key === 'd' && context.model.run) context.post({ type: 'review-files', runId: context.model.run.id });
  else if (event.key === 'c') click('meter');
  else if (event.key === 'f') click('strip-files');
  else return false;
  event.preventDefault();
  return true;
}

function searchRuns(context: PanelContext): void {
  openHistory(context);
  context.drawNow(); // letters would trigger shortcuts here
  document.querySelector<HTMLElement>('[data-testid="search-runs"]')?.focus();
}

const click = (name: string) => document.querySelector<HTMLElement>(`[data-testid="${name}"]`)?.click();
