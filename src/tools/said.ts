import { inEnglish, type Sentence } from '../protocol/l10n.ts';

/** What a person reads: a sentence, or words that are in no language, or another's. */
export type Said = Sentence | string;

/** Makes words of it: in the person's language where it is for them alone. */
export type Tell = (said: Said) => string;

/** Its message is in English, as that of any error; a person is told what it says. */
export class SaidError extends Error {
  constructor(readonly said: Sentence) {
    super(inEnglish(said));
  }
}

/** Several as one, in their order. What stands between them is the same in every language. */
export const joined = (parts: readonly Said[], between = ' '): Sentence => ({
  english: parts.map((_, at) => `{${at}}`).join(between),
  values: parts,
});
