import { inEnglish, type LocalizedMessage, t } from './l10n.ts';
import { type Links, linksOf } from './links.ts';

/** What is said: a sentence that can be told in any language, or words that are as they are (a provider's, the system's). */
export type LocalizableText = string | LocalizedMessage;

/** Makes text of words, in the person's language where it is for them alone. */
export type Localizer = (words: LocalizableText) => string;

/** Words as they are kept: in English, and what they are made of, where that can be told in another language. */
export function toErrorInfo(words: LocalizableText): { message: string; said?: LocalizedMessage; links?: Links } {
  if (typeof words === 'string') return { message: words };
  const links = linksOf(words);
  return { message: inEnglish(words), said: words, ...(links && { links }) };
}

/** The same of what is called a text. */
export const textAs = (words: LocalizableText): { text: string; said?: LocalizedMessage } =>
  typeof words === 'string' ? { text: words } : { text: inEnglish(words), said: words };

/** Several as one, in their order. What stands between them is the same in every language. */
export function joined(parts: readonly LocalizableText[], between = ' '): LocalizableText {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  if (parts.every((part) => typeof part === 'string')) return parts.join(between);
  return { english: parts.map((_, at) => `{${at}}`).join(between), values: parts };
}

/** With a full stop behind it, and nothing else. */
export function ended(words: LocalizableText): LocalizableText {
  const english = inEnglish(words);
  if (/[^.\s]\.$/.test(english)) return words;
  if (typeof words === 'string' || !/[^.\s]$/.test(english)) return english.replace(/[.\s]*$/, '.');
  return joined([words, '.'], '');
}

/** Without the full stop at its end; where that is a part of a sentence that has a translation, in English. */
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

/** An error that says to people what happened, in English like every other one and as a sentence. */
export class UserFacingError extends Error {
  readonly said?: LocalizedMessage;

  constructor(words: LocalizableText, options?: ErrorOptions) {
    super(inEnglish(words), options);
    if (typeof words !== 'string') this.said = words;
  }
}

/** What was thrown, in the words that a person is told. */
export function messageOf(thrown: unknown): LocalizableText {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown instanceof UserFacingError ? localizedMessageIn(thrown) : thrown.message;
}

/** The same of a failure that is data. */
export const localizedMessageIn = ({ message, said }: { message: string; said?: LocalizedMessage }): LocalizableText =>
  said ?? message;

/** What it says, as the person is told it. */
export const errorText = (failure: { message: string; said?: LocalizedMessage }): string =>
  localize(localizedMessageIn(failure));

/** Those of some words that are sentences, as they are kept beside the English. */
export function messagesIn(words: readonly LocalizableText[]): { said?: LocalizedMessage[] } {
  const said = words.filter((one) => typeof one !== 'string');
  return said.length > 0 ? { said } : {};
}

/** What is kept in English, in the person's language where it is among these sentences. */
export const localizedFromEnglish = (english: string, said: readonly LocalizedMessage[] = []): string =>
  localize(said.find((one) => inEnglish(one) === english) ?? english);

/** Words in the person's language. */
export const localize = (words: LocalizableText): string => (typeof words === 'string' ? words : t(words));
