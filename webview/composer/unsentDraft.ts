import type { Attachment } from '../../src/protocol/content/messages.ts';
import { type Picked, savedView, saveView } from '../host.ts';
import { draft } from './draft.ts';

let last: { text: string; images: Attachment[]; mentions: Picked[] } | undefined;
/** Restored text of a message that no run received. */
let unheard: string | undefined;

/** Call before the attachments are cleared. */
export function rememberSent(text: string): void {
  const { images, mentions } = savedView();
  last = { text, images, mentions };
  unheard = undefined;
}

/** Returns the draft with a restored message; its attachments are restored, too. */
export function takeUnsent(text: string): string {
  if (last?.text === text) {
    const { images, mentions } = savedView();
    saveView({ images: [...last.images, ...images], mentions: [...last.mentions, ...mentions] });
  }
  last = undefined;
  unheard = [text, draft()].filter(Boolean).join('\n\n');
  return unheard;
}

export const isStillUnsent = (): boolean => unheard !== undefined && draft() === unheard;
