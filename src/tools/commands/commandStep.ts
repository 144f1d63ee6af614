import { UserFacingError } from '../../protocol/text/localized.ts';
import type { SimpleCommand } from '../shellSyntax/shellSyntax.ts';

/**
 * One program with its arguments at execution: variables and globs expanded, loops unrolled. `folder` is absolute and real; a `piped` step
 * reads the output of another. `searches`: the program walks folders itself, so secret files must be excluded.
 */
export interface ResolvedProgramInvocation {
  words: string[];
  variables: [name: string, value: string][];
  folder: string;
  piped: boolean;
  stdout: SimpleCommand['stdout'];
  stderr: SimpleCommand['stderr'];
  /**
   * A shell may expand a glob or a list to other words at execution: other `names` with the same prefix, or also `options`. The words are
   * exact only without a shell.
   */
  unsettled?: 'names' | 'options';
  searches?: boolean;
}

export interface CommandPipeline {
  /** Connection to the step before; absent for the first. */
  operator?: '&&' | '||' | ';';
  commands: ResolvedProgramInvocation[];
}

/** Placeholders in a word for parts known only at execution. Commands never contain these characters, because they cannot be displayed. */
export const unknownValuePlaceholders = { text: '\u0000', number: '\u0001', file: '\u0002', choice: '\u0003' } as const;
export const isStaticShellWord = (word: string): boolean =>
  !Object.values(unknownValuePlaceholders).some((mark) => word.includes(mark));

export class UndeterminedCommandError extends UserFacingError {}

export const formatShellWordForDisplay = (word: string): string =>
  Object.values(unknownValuePlaceholders).reduce((shown, mark) => shown.replaceAll(mark, '…'), word);
