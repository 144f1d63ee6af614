import type { TextArea } from '../elements.ts';

export const composerTextArea = (): TextArea | null => document.querySelector<TextArea>('[data-testid="composer"]');

export const composerDraft = (): string => composerTextArea()?.value ?? '';

/** Moves the focus to the message box; while a task is displayed, to its box, or to the way back if the task has ended. */
export function focusComposer(): void {
  const taskBox = document.querySelector<TextArea>('[data-testid="task-box"]')?.control;
  const back = document.querySelector<HTMLElement>('[data-testid="task-back"]');
  (taskBox ?? back ?? composerTextArea()?.control)?.focus();
}
