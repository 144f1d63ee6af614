import type { Attachment } from '../../protocol/content/messages.ts';
import { message, toEnglishText } from '../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import { isImageAttachment } from './attachments.ts';

export function createUniqueNotifier(
  onNote: ((note: string) => void) | undefined,
): (words: LocalizableText | undefined) => void {
  const told = new Set<string>();
  return (words) => {
    const note = words === undefined ? undefined : toEnglishText(words);
    if (note === undefined || told.has(note)) return;
    told.add(note);
    onNote?.(note);
  };
}

export const thinkingBudgetWarning = (model: string) =>
  `${model} has no setting for a thinking budget here; it is ignored.`;

export function createRunWarningFilter(): (
  run: string | undefined,
  sentences: readonly LocalizableText[],
) => LocalizableText[] {
  const told = new Set<string>();
  const key = (run: string | undefined, words: LocalizableText) => `${run} ${toEnglishText(words)}`;
  return (run, sentences) => {
    const news = sentences.filter((words) => !told.has(key(run, words)));
    if (run !== undefined) for (const words of news) told.add(key(run, words));
    return news;
  };
}

export function omittedAttachmentWarnings(model: LocalizableText, leftOut: readonly Attachment[]): LocalizableText[] {
  if (leftOut.length === 0) return [];
  if (leftOut.every(isImageAttachment)) return [message('{0} does not accept images, so they are left out.', model)];
  return [message('{0} accepts text only. The other files are left out.', model)];
}
