import { UserFacingError } from '../../protocol/text/localized.ts';
import type { Simple } from '../shellSyntax/shellSyntax.ts';

/** One program with its words as they are when it runs: variables and globs are worked out, loops gone through. */
export interface CommandStep {
  words: string[];
  /** In front of it, in order. */
  variables: [name: string, value: string][];
  /** Where it runs: absolute and real. */
  folder: string;
  /** It reads what another one writes. */
  piped: boolean;
  stdout: Simple['stdout'];
  stderr: Simple['stderr'];
  /**
   * A shell may make other words of a glob or a list of names in it, by what is on the disk by then: other `names` behind the same
   * beginning, or `options`, too. As they stand here they hold only without a shell.
   */
  unsettled?: 'names' | 'options';
  /** It goes through folders by itself: files with secrets in them are left out when it runs. */
  searches?: boolean;
}

export interface Steps {
  /** How it hangs on what came before; absent on the first. */
  operator?: '&&' | '||' | ';';
  commands: CommandStep[];
}

/** Stands in a word for what is known only when it runs. No command has these characters: they could not be shown. */
export const some = { text: '\u0000', number: '\u0001', file: '\u0002', choice: '\u0003' } as const;
/** The word is known to the last letter. */
export const isKnown = (word: string): boolean => !Object.values(some).some((mark) => word.includes(mark));

/** Why it cannot be said what a script runs, and where. */
export class Unclear extends UserFacingError {}

/** For a sentence: what is not known is drawn as dots. */
export const shownWord = (word: string): string =>
  Object.values(some).reduce((shown, mark) => shown.replaceAll(mark, '…'), word);
