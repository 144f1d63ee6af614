import { type LocalizedMessage, t, toEnglishText } from './l10n.ts';
import { type MessageLinks, messageLinksOf } from './links.ts';

export type LocalizableText = string | LocalizedMessage;

export type Localizer = (localizable: LocalizableText) => string;

export function toErrorInfo(localizable: LocalizableText): {
  message: string;
  said?: LocalizedMessage;
  links?: MessageLinks;
} {
  if (typeof localizable === 'string') return { message: localizable };
  const links = messageLinksOf(localizable);
  return { message: toEnglishText(localizable), said: localizable, ...(links && { links }) };
}

export const toStoredText = (localizable: LocalizableText): { text: string; said?: LocalizedMessage } =>
  typeof localizable === 'string' ? { text: localizable } : { text: toEnglishText(localizable), said: localizable };

export function joinLocalizableTexts(parts: readonly LocalizableText[], between = ' '): LocalizableText {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  if (parts.every((part) => typeof part === 'string')) return parts.join(between);
  return { english: parts.map((_, at) => `{${at}}`).join(between), values: parts };
}

export function withFullStop(localizable: LocalizableText): LocalizableText {
  const english = toEnglishText(localizable);
  if (/[^.\s]\.$/.test(english)) return localizable;
  if (typeof localizable === 'string' || !/[^.\s]$/.test(english)) return english.replace(/[.\s]*$/, '.');
  return joinLocalizableTexts([localizable, '.'], '');
}

/** Removes the final full stop. Falls back to English if the full stop is part of a translated sentence. */
export function withoutFullStop(localizable: LocalizableText): LocalizableText {
  if (typeof localizable === 'string') return localizable.replace(/\.$/, '');
  const { english, values = [] } = localizable;
  if (!toEnglishText(localizable).endsWith('.')) return localizable;
  const last = Number(/\{(\d+)\}$/.exec(english)?.[1]);
  const value = values[last];
  if (typeof value !== 'string' && !(typeof value === 'object' && 'english' in value))
    return toEnglishText(localizable).slice(0, -1);
  const shorter = withoutFullStop(value);
  if (typeof value === 'object' && typeof shorter === 'string') return toEnglishText(localizable).slice(0, -1);
  return { english, values: values.map((one, at) => (at === last ? shorter : one)) };
}

/** Error with a message for the user, as a sentence; `message` is English. */
export class UserFacingError extends Error {
  readonly said?: LocalizedMessage;

  constructor(localizable: LocalizableText, options?: ErrorOptions) {
    super(toEnglishText(localizable), options);
    if (typeof localizable !== 'string') this.said = localizable;
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

export function storedLocalizedForms(localizable: readonly LocalizableText[]): { said?: LocalizedMessage[] } {
  const said = localizable.filter((one) => typeof one !== 'string');
  return said.length > 0 ? { said } : {};
}

/** Translates a stored English text if a matching localizable sentence is present. */
export const localizeStoredText = (english: string, said: readonly LocalizedMessage[] = []): string =>
  localize(said.find((one) => toEnglishText(one) === english) ?? english);

export const localize = (localizable: LocalizableText): string =>
  typeof localizable === 'string' ? localizable : t(localizable);
