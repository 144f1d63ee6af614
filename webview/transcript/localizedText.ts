import { inEnglish, type LocalizedMessage, t } from '../../src/protocol/text/l10n.ts';

/** What is kept in English, in the person's language where it is kept what it is made of. */
export const localizedText = ({ text, said }: { text: string; said?: LocalizedMessage }): string =>
  said ? t(said) : text;

/** The same of warnings. */
export const warningsOf = ({ warnings = [], said = [] }: Warned): string[] =>
  warnings.map((text) => localizedText({ text, said: said.find((one) => inEnglish(one) === text) }));

interface Warned {
  warnings?: readonly string[];
  said?: readonly LocalizedMessage[];
}
