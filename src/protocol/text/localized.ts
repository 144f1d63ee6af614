import { inEnglish, type LocalizedMessage, t } from './l10n.ts';
import { type Links, linksOf } from './links.ts';

export type LocalizableText = string | LocalizedMessage;

export type Localizer = (words: LocalizableText) => string;

/** Stored form of a text: English, with the localizable parts if present. */
export function toErrorInfo(words: LocalizableText): { message: string; said?: LocalizedMessage; links?: Links } {
  if (typeof words === 'string') return { message: words };
  const links = linksOf(words);
  return { message: inEnglish(words), said: words, ...(links && { links }) };
}

export const textAs = (words: LocalizableText): { text: string; said?: LocalizedMessage } =>
  typeof words === 'string' ? { text: words } : { text: inEnglish(words), said: words };

/** Joins texts in order. The separator is the same in every language. */
export function joined(parts: readonly LocalizableText[], between = ' '): LocalizableText {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  if (parts.every((part) => typeof part === 'string')) return parts.join(between);
  return { english: parts.map((_, at) => `{${at}}`).join(between), values: parts };
}

export function ended(words: LocalizableText): LocalizableText {
  const english = inEnglish(words);
  if (/[^.\s]\.$/.test(english)) return words;
  if (typeof words === 'string' || !/[^.\s]$/.test(english)) return english.replace(/[.\s]*$/, '.');
  return joined([words, '.'], '');
}

/** Removes the final full stop. Falls back to English if the full stop is part of a translated sentence. */
export function unended(words: LocalizableText): LocalizableText {
  if (typeof words === 'string') return words.replace(/\.$/, '');
  const { english, values = [] } = words;
  if (!inEnglish(words).endsWith('.')) return words;
  const last = Number(/\{(\d+)\}$/.exec(english)?.[1]);
  const value = values[last];
  if (typeof value !== 'string' && !(typeof value === 'object' && 'english' in value))
    return inEnglish(words).slice(0, -1);
  const shorter = unended(value);
  if (typeof value === 'object' && typeof shorter === 'string') return inEnglish(words).slice(0, -1);
  return { english, values: values.map((one, at) => (at === last ? shorter : one)) };
}

/** Error with a message for the user, as a sentence; `message` is English. */
export class UserFacingError extends Error {
  readonly said?: LocalizedMessage;

  constructor(words: LocalizableText, options?: ErrorOptions) {
    super(inEnglish(words), options);
    if (typeof words !== 'string') this.said = words;
  }
}

export function messageOf(thrown: unknown): LocalizableText {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown instanceof UserFacingError ? localizedMessageIn(thrown) : thrown.message;
}

export const localizedMessageIn = ({ message, said }: { message: string; said?: LocalizedMessage }): LocalizableText =>
  said ?? message;

export const errorText = (failure: { message: string; said?: LocalizedMessage }): string =>
  localize(localizedMessageIn(failure));

export function messagesIn(words: readonly LocalizableText[]): { said?: LocalizedMessage[] } {
  const said = words.filter((one) => typeof one !== 'string');
  return said.length > 0 ? { said } : {};
}

/** Translates a stored English text if a matching localizable sentence is present. */
export const localizedFromEnglish = (english: string, said: readonly LocalizedMessage[] = []): string =>
  localize(said.find((one) => inEnglish(one) === english) ?? english);

export const localize = (words: LocalizableText): string => (typeof words === 'string' ? words : t(words));
