import type { TextArea } from '../elements.ts';

export const composerTextArea = (): TextArea | null => document.querySelector<TextArea>('[data-testid="composer"]');

export const composerDraft = (): string => composerTextArea()?.value ?? '';

export const focusComposer = (): void => composerTextArea()?.control.focus();
