import { type LocalizedMessage, t, toEnglishText } from '../../src/protocol/text/l10n.ts';

/** Localized form of a stored English text, if available. */
export const localizeStoredEnglish = ({ text, said }: { text: string; said?: LocalizedMessage }): string =>
  said ? t(said) : text;

export const localizedWarnings = ({ warnings = [], said = [] }: Warned): string[] =>
  warnings.map((text) => localizeStoredEnglish({ text, said: said.find((one) => toEnglishText(one) === text) }));

interface Warned {
  warnings?: readonly string[];
  said?: readonly LocalizedMessage[];
}
