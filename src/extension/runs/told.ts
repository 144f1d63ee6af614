import { type Sentence, t } from '../../protocol/l10n.ts';

/** What went wrong: in English, and as what can be told in any language, where it is known as that. */
interface Failure {
  message: string;
  said?: Sentence;
}

/** Words for a sentence around them. */
export const wordsIn = ({ message, said }: Failure): string | Sentence => said ?? message;

/** As the person reads it. */
export const told = ({ message, said }: Failure): string => (said ? t(said) : message);
