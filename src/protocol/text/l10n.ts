// @invariant stored-text-is-english: Text for models and for storage is English; the UI translates text when it shows it.

/** Translations by English text. Bundles of other builds may lack entries. */
export type TranslationBundle = Readonly<Record<string, string>>;

type MessageValue = string | number | LocalizedMessage | Grouped;

interface Grouped {
  readonly grouped: number;
}

/**
 * Localizable text that is also read outside of the UI (models, logs, records). Stored as English text with `{0}`, `{1}`, … and values, so
 * that any language can be rendered.
 */
export interface LocalizedMessage {
  readonly english: string;
  readonly values?: readonly MessageValue[];
}

let bundle: TranslationBundle = {};
let locale = 'en';

export function setLanguage(language: string, translations: TranslationBundle = {}): void {
  bundle = translations;
  locale = language;
}

export const currentLocale = (): string => locale;

/**
 * Translates text for the user. The key is English with `{0}`, `{1}`, … for the values. Text for models or storage is a `LocalizedMessage`,
 * translated only at display.
 */
export function t(english: string | LocalizedMessage, ...values: readonly MessageValue[]): string {
  const message = typeof english === 'string' ? { english, values } : english;
  return filled(
    Object.hasOwn(bundle, message.english) ? bundle[message.english]! : message.english,
    message,
    locale,
    t,
  );
}

export const message = (english: string, ...values: readonly MessageValue[]): LocalizedMessage =>
  values.length > 0 ? { english, values } : { english };

export const localizedCount = (number: number, noun: string, nouns = `${noun}s`): LocalizedMessage =>
  message(`{0} ${number === 1 ? noun : nouns}`, withDigitGrouping(number));

export const withDigitGrouping = (number: number): Grouped => ({ grouped: Math.round(number) });

export const toEnglishText = (message: LocalizedMessage | string): string =>
  typeof message === 'string' ? message : filled(message.english, message, 'en', toEnglishText);

function filled(
  template: string,
  { values = [] }: LocalizedMessage,
  locale: string,
  localize: (value: LocalizedMessage) => string,
): string {
  if (values.length === 0) return template;
  return template.replace(/\{(\d+)\}/g, (placeholder, at: string) => {
    const value = values[Number(at)];
    if (value === undefined) return placeholder;
    if (typeof value !== 'object') return String(value);
    return 'grouped' in value ? value.grouped.toLocaleString(locale) : localize(value);
  });
}
