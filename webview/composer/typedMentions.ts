import { maxMentions } from '../../src/protocol/content/mentionText.ts';
import type { HostMessage } from '../../src/protocol/panel/panelMessages.ts';
import type { PanelContext } from '../context.ts';
import { savedWebviewState, saveWebviewState } from '../host.ts';
import { composerDraft, composerTextArea } from './draft.ts';
import { isPickedMention, pickMention } from './mentions.ts';
import { type TypedCompletionQuery, typedQueryBeforeCaret } from './typedWord.ts';

/** Position of the word being typed after an `@`. Pasted words and words visited by the caret do not count. */
let typing: number | undefined;
const asked = new Set<string>();
const longest = 300;

/** Resolves a completed word through the host. */
export function detectTypedMention(context: PanelContext, { inputType }: { inputType?: string | undefined }): void {
  const box = composerTextArea()?.control as HTMLTextAreaElement | undefined;
  const typed =
    box && box.selectionStart === box.selectionEnd ? mentionBefore(box.value, box.selectionStart) : undefined;
  if (typing !== undefined && typed?.from !== typing) resolveTypedWord(context);
  if (typed && typed.query !== '' && isTyping(inputType)) typing = typed.from;
}

const mentionBefore = (text: string, caret: number): TypedCompletionQuery | undefined => {
  const typed = typedQueryBeforeCaret(text, caret);
  return typed?.after === '@' ? typed : undefined;
};

const isTyping = (inputType: string | undefined): boolean =>
  inputType !== undefined && /^(insert(Text|CompositionText|FromComposition|ReplacementText)|delete)/.test(inputType);

export function clearTypedMention(): void {
  typing = undefined;
}

export function resolveTypedWord(context: PanelContext): void {
  const word = typing === undefined ? undefined : wordAt(typing);
  typing = undefined;
  if (word === undefined || isPickedMention(word)) return;
  asked.add(word);
  context.post({ type: 'resolve-mention', word });
}

const wordAt = (from: number): string | undefined => {
  const [word] = /^@\S+/.exec(composerDraft().slice(from, from + longest + 1)) ?? [];
  return word !== undefined && word.length > 1 && word.length <= longest ? word : undefined;
};

/** Returns unresolved words of a message, which the host resolves before reading. */
export function unresolvedMentions(): { typed: string[] } | undefined {
  const word = typing === undefined ? undefined : wordAt(typing);
  const text = composerDraft();
  const words = new Set([...asked, ...(word === undefined ? [] : [word])]);
  const typed = [...words].filter((one) => text.includes(one) && !isPickedMention(one)).slice(0, maxMentions);
  typing = undefined;
  asked.clear();
  return typed.length > 0 ? { typed } : undefined;
}

export function receiveResolvedMention(
  context: PanelContext,
  { word, mention, unknown }: Extract<HostMessage, { type: 'mention-resolved' }>,
): void {
  if (!asked.delete(word)) return; // sent meanwhile
  if (mention) pickMention(context, mention);
  else if (unknown)
    saveWebviewState({
      unknown: [...savedWebviewState().unknown.filter((one) => one !== unknown), unknown].slice(-maxMentions),
    });
}
