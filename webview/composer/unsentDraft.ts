import type { Attachment } from '../../src/protocol/content/messages.ts';
import { type Picked, savedView, saveView } from '../host.ts';
import { draft } from './draft.ts';

/** What was sent last, with what went with it. */
let last: { text: string; images: Attachment[]; mentions: Picked[] } | undefined;
/** What stands in the message box since a run did not hear it. */
let unheard: string | undefined;

/** To be called before what goes with the words is forgotten. */
export function rememberSent(text: string): void {
  const { images, mentions } = savedView();
  last = { text, images, mentions };
  unheard = undefined;
}

/** Gives what is to stand in the message box now, where what went with the words is again already. */
export function takeUnheard(text: string): string {
  if (last?.text === text) {
    const { images, mentions } = savedView();
    saveView({ images: [...last.images, ...images], mentions: [...last.mentions, ...mentions] });
  }
  last = undefined;
  unheard = [text, draft()].filter(Boolean).join('\n\n');
  return unheard;
}

/** The person has left it as it was. */
export const isUnheardStill = (): boolean => unheard !== undefined && draft() === unheard;
