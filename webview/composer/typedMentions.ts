import { maxMentions } from '../../src/protocol/content/mentionText.ts';
import type { HostMessage } from '../../src/protocol/panel/panelMessages.ts';
import type { PanelContext } from '../context.ts';
import { savedView, saveView } from '../host.ts';
import { area, draft } from './draft.ts';
import { isPicked, pick } from './mentions.ts';
import { type Typed, typedBefore } from './typedWord.ts';

/** Position of the word being typed after an `@`. Pasted words and words visited by the caret do not count. */
let typing: number | undefined;
const asked = new Set<string>();
const longest = 300;

/** Resolves a completed word through the host. */
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

export function forgetTyping(): void {
  typing = undefined;
}

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

/** Returns unresolved words of a message, which the host resolves before reading. */
export function typedNow(): { typed: string[] } | undefined {
  const word = typing === undefined ? undefined : wordAt(typing);
  const text = draft();
  const words = new Set([...asked, ...(word === undefined ? [] : [word])]);
  const typed = [...words].filter((one) => text.includes(one) && !isPicked(one)).slice(0, maxMentions);
  typing = undefined;
  asked.clear();
  return typed.length > 0 ? { typed } : undefined;
}

export function resolved(
  context: PanelContext,
  { word, mention, unknown }: Extract<HostMessage, { type: 'mention-resolved' }>,
): void {
  if (!asked.delete(word)) return; // sent meanwhile
  if (mention) pick(context, mention);
  else if (unknown)
    saveView({ unknown: [...savedView().unknown.filter((one) => one !== unknown), unknown].slice(-maxMentions) });
}
