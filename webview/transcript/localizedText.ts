import { inEnglish, type LocalizedMessage, t } from '../../src/protocol/text/l10n.ts';

/** Localized form of a stored English text, if available. */
export const localizedText = ({ text, said }: { text: string; said?: LocalizedMessage }): string =>
  said ? t(said) : text;

export const warningsOf = ({ warnings = [], said = [] }: Warned): string[] =>
  warnings.map((text) => localizedText({ text, said: said.find((one) => inEnglish(one) === text) }));

interface Warned {
  warnings?: readonly string[];
  said?: readonly LocalizedMessage[];
}
