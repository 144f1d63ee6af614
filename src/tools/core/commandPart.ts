import type { CommandRuleKind } from '../../protocol/content/rule.ts';

/**
 * One program of a command, as permission rules see the program. `words` is the exact spelling. `folders` are the workspace-relative
 * working folder and the other folders that the program acts on (`.` is the workspace). A part with `reads` only reads and needs no rule.
 */
export interface CommandPart {
  words: string;
  folders: string[];
  reads: boolean;
  /** The program does not work in the sandbox. */
  needsOutside?: true;
  /** Program or Git command by which a rule covers the part outside of the sandbox. */
  program?: string;
  row?: {
    command: string;
    kind: CommandRuleKind;
    /** Spellings of rules for the project's copy of the program; a new rule uses the first spelling. */
    copies?: string[];
    /** Folders in which a rule for the row applies, if different from the working folder: the project around the command. */
    folders?: string[];
  };
}

export const commandPartFolders = ({ folders, row }: Pick<CommandPart, 'folders' | 'row'>): string[] =>
  row?.folders ?? folders;

/** Id of the row of several commands that only read, together. Rules store the id, so the value never changes, whatever the UI shows. */
export const readOnlyCommandsRuleId = 'commands that only read';
