import type { Attachment } from '../../protocol/content/messages.ts';
import { message, toEnglishText } from '../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import { isImageAttachment } from './attachments.ts';

export function createUniqueNotifier(
  onNote: ((note: string) => void) | undefined,
): (text: LocalizableText | undefined) => void {
  const reported = new Set<string>();
  return (text) => {
    const note = text === undefined ? undefined : toEnglishText(text);
    if (note === undefined || reported.has(note)) return;
    reported.add(note);
    onNote?.(note);
  };
}

export const thinkingBudgetWarning = (model: string) =>
  `${model} has no setting for a thinking budget here; it is ignored.`;

export function createRunWarningFilter(): (
  run: string | undefined,
  sentences: readonly LocalizableText[],
) => LocalizableText[] {
  const reported = new Set<string>();
  const key = (run: string | undefined, text: LocalizableText) => `${run} ${toEnglishText(text)}`;
  return (run, sentences) => {
    const news = sentences.filter((text) => !reported.has(key(run, text)));
    if (run !== undefined) for (const text of news) reported.add(key(run, text));
    return news;
  };
}

export function omittedAttachmentWarnings(model: LocalizableText, leftOut: readonly Attachment[]): LocalizableText[] {
  if (leftOut.length === 0) return [];
  if (leftOut.every(isImageAttachment)) return [message('{0} does not accept images, so they are left out.', model)];
  return [message('{0} accepts text only. The other files are left out.', model)];
}
