import { maxMentions } from '../../src/protocol/content/mentionText.ts';
import type { HostMessage } from '../../src/protocol/panel/panelMessages.ts';
import type { PanelContext } from '../context.ts';
import { savedView, saveView } from '../host.ts';
import { area, draft } from './draft.ts';
import { isPicked, pick } from './mentions.ts';
import { type Typed, typedBefore } from './typedWord.ts';

/** Position of the word that is being typed after an `@`. A word that was pasted, or only visited by the caret, is none. */
let typing: number | undefined;
/** Words that the host was asked about and has not answered. */
const asked = new Set<string>();
/** Characters of a word that is asked about. */
const longest = 300;

/** The text or the caret has changed: a word that is complete is resolved by the host. */
export function lookForTyped(context: PanelContext, { inputType }: { inputType?: string | undefined }): void {
  const box = area()?.control as HTMLTextAreaElement | undefined;
  const typed =
    box && box.selectionStart === box.selectionEnd ? mentionBefore(box.value, box.selectionStart) : undefined;
  if (typing !== undefined && typed?.from !== typing) resolveTyped(context);
  if (typed && typed.query !== '' && isTyping(inputType)) typing = typed.from;
}

const mentionBefore = (text: string, caret: number): Typed | undefined => {
  const typed = typedBefore(text, caret);
  return typed?.after === '@' ? typed : undefined;
};

const isTyping = (inputType: string | undefined): boolean =>
  inputType !== undefined && /^(insert(Text|CompositionText|FromComposition|ReplacementText)|delete)/.test(inputType);

/** The word was picked from the list, or the message box has other text. */
export function forgetTyping(): void {
  typing = undefined;
}

/** Asks the host what the typed word names. */
export function resolveTyped(context: PanelContext): void {
  const word = typing === undefined ? undefined : wordAt(typing);
  typing = undefined;
  if (word === undefined || isPicked(word)) return;
  asked.add(word);
  context.post({ type: 'resolve-mention', word });
}

const wordAt = (from: number): string | undefined => {
  const [word] = /^@\S+/.exec(draft().slice(from, from + longest + 1)) ?? [];
  return word !== undefined && word.length > 1 && word.length <= longest ? word : undefined;
};

/** Returns the words of a message that are not resolved yet: the host does it before it reads what they name. */
export function typedNow(): { typed: string[] } | undefined {
  const word = typing === undefined ? undefined : wordAt(typing);
  const text = draft();
  const words = new Set([...asked, ...(word === undefined ? [] : [word])]);
  const typed = [...words].filter((one) => text.includes(one) && !isPicked(one)).slice(0, maxMentions);
  typing = undefined;
  asked.clear();
  return typed.length > 0 ? { typed } : undefined;
}

/** Takes in what the host says a word names. */
export function resolved(
  context: PanelContext,
  { word, mention, unknown }: Extract<HostMessage, { type: 'mention-resolved' }>,
): void {
  if (!asked.delete(word)) return; // it was sent meanwhile
  if (mention) pick(context, mention);
  else if (unknown)
    saveView({ unknown: [...savedView().unknown.filter((one) => one !== unknown), unknown].slice(-maxMentions) });
}
