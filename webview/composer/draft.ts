import type { TextArea } from '../elements.ts';

export const area = (): TextArea | null => document.querySelector<TextArea>('[data-testid="composer"]');

export const draft = (): string => area()?.value ?? '';

export const focusComposer = (): void => area()?.control.focus();
