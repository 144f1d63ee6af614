import { type LocalizedMessage, t, toEnglishText } from './l10n.ts';
import { type MessageLinks, messageLinksOf } from './links.ts';

export type LocalizableText = string | LocalizedMessage;

export type Localizer = (words: LocalizableText) => string;

export function toErrorInfo(words: LocalizableText): {
  message: string;
  said?: LocalizedMessage;
  links?: MessageLinks;
} {
  if (typeof words === 'string') return { message: words };
  const links = messageLinksOf(words);
  return { message: toEnglishText(words), said: words, ...(links && { links }) };
}

export const toStoredText = (words: LocalizableText): { text: string; said?: LocalizedMessage } =>
  typeof words === 'string' ? { text: words } : { text: toEnglishText(words), said: words };

export function joinLocalizableTexts(parts: readonly LocalizableText[], between = ' '): LocalizableText {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  if (parts.every((part) => typeof part === 'string')) return parts.join(between);
  return { english: parts.map((_, at) => `{${at}}`).join(between), values: parts };
}

export function withFullStop(words: LocalizableText): LocalizableText {
  const english = toEnglishText(words);
  if (/[^.\s]\.$/.test(english)) return words;
  if (typeof words === 'string' || !/[^.\s]$/.test(english)) return english.replace(/[.\s]*$/, '.');
  return joinLocalizableTexts([words, '.'], '');
}

/** Removes the final full stop. Falls back to English if the full stop is part of a translated sentence. */
export function withoutFullStop(words: LocalizableText): LocalizableText {
  if (typeof words === 'string') return words.replace(/\.$/, '');
  const { english, values = [] } = words;
  if (!toEnglishText(words).endsWith('.')) return words;
  const last = Number(/\{(\d+)\}$/.exec(english)?.[1]);
  const value = values[last];
  if (typeof value !== 'string' && !(typeof value === 'object' && 'english' in value))
    return toEnglishText(words).slice(0, -1);
  const shorter = withoutFullStop(value);
  if (typeof value === 'object' && typeof shorter === 'string') return toEnglishText(words).slice(0, -1);
  return { english, values: values.map((one, at) => (at === last ? shorter : one)) };
}

/** Error with a message for the user, as a sentence; `message` is English. */
export class UserFacingError extends Error {
  readonly said?: LocalizedMessage;

  constructor(words: LocalizableText, options?: ErrorOptions) {
    super(toEnglishText(words), options);
    if (typeof words !== 'string') this.said = words;
  }
}

export function messageOf(thrown: unknown): LocalizableText {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown instanceof UserFacingError ? storedLocalizableText(thrown) : thrown.message;
}

export const storedLocalizableText = ({
  message,
  said,
}: {
  message: string;
  said?: LocalizedMessage;
}): LocalizableText => said ?? message;

export const localizedErrorText = (failure: { message: string; said?: LocalizedMessage }): string =>
  localize(storedLocalizableText(failure));

export function storedMessageParts(words: readonly LocalizableText[]): { said?: LocalizedMessage[] } {
  const said = words.filter((one) => typeof one !== 'string');
  return said.length > 0 ? { said } : {};
}

/** Translates a stored English text if a matching localizable sentence is present. */
export const localizeStoredText = (english: string, said: readonly LocalizedMessage[] = []): string =>
  localize(said.find((one) => toEnglishText(one) === english) ?? english);

export const localize = (words: LocalizableText): string => (typeof words === 'string' ? words : t(words));
