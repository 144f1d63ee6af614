import type { TextArea } from '../elements.ts';

/** The message box. */
export const area = (): TextArea | null => document.querySelector<TextArea>('[data-testid="composer"]');

/** What stands in it. */
export const draft = (): string => area()?.value ?? '';

export const focusComposer = (): void => area()?.control.focus();
