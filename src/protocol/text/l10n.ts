/** English sentences, each with the one that says the same in the person's language. Of another build, some may be missing. */
export type Bundle = Readonly<Record<string, string>>;

/** What stands in a sentence. A sentence among them is in the same language as the one around it; so are numbers that are grouped. */
type MessageValue = string | number | LocalizedMessage | Grouped;

/** A number as people read it: `2,000`. */
interface Grouped {
  readonly grouped: number;
}

/** What others than the person read, too (models, logs, records): kept as what it is made of, so that it can be told in any language. */
export interface LocalizedMessage {
  /** With `{0}`, `{1}`, … for the values. */
  readonly english: string;
  readonly values?: readonly MessageValue[];
}

let bundle: Bundle = {};
let locale = 'en';

/** From now on people are spoken to in this language; where the bundle has nothing, in English. */
export function speak(language: string, words: Bundle = {}): void {
  bundle = words;
  locale = language;
}

/** The language that people are spoken to in, for dates and numbers: a BCP 47 tag. */
export const language = (): string => locale;

/**
 * What a person reads, in their language. English is the key, with `{0}`, `{1}`, … for the values. Never for what a model reads or
 * what is kept: that is a `LocalizedMessage`, and told by this in the moment it is shown.
 */
export function t(english: string | LocalizedMessage, ...values: readonly MessageValue[]): string {
  const said = typeof english === 'string' ? { english, values } : english;
  return filled(Object.hasOwn(bundle, said.english) ? bundle[said.english]! : said.english, said, locale, t);
}

/** A sentence that others than the person read, too. */
export const message = (english: string, ...values: readonly MessageValue[]): LocalizedMessage =>
  values.length > 0 ? { english, values } : { english };

/** How many there are of something, also of one: `1 call`, `2,000 calls`, `2 branches`. The keys are `{0} call` and `{0} calls`. */
export const amount = (number: number, noun: string, nouns = `${noun}s`): LocalizedMessage =>
  message(`{0} ${number === 1 ? noun : nouns}`, groupDigits(number));

/** A number with its thousands apart. */
export const groupDigits = (number: number): Grouped => ({ grouped: Math.round(number) });

/** As a model, a log or a record has it. */
export const inEnglish = (said: LocalizedMessage | string): string =>
  typeof said === 'string' ? said : filled(said.english, said, 'en', inEnglish);

function filled(
  words: string,
  { values = [] }: LocalizedMessage,
  locale: string,
  tell: (value: LocalizedMessage) => string,
): string {
  if (values.length === 0) return words;
  return words.replace(/\{(\d+)\}/g, (place, at: string) => {
    const value = values[Number(at)];
    if (value === undefined) return place;
    if (typeof value !== 'object') return String(value);
    return 'grouped' in value ? value.grouped.toLocaleString(locale) : tell(value);
  });
}
