import type { RuleKind } from '../../protocol/content/rule.ts';

/** One program of a command, as a rule sees it. */
export interface CommandPart {
  /** Its exact words, as they would be written. */
  words: string;
  /** Where it runs, and what else it acts on as if it ran there: workspace-relative, `.` for the workspace. */
  folders: string[];
  /** It only reads: no rule is needed for it. */
  reads: boolean;
  /** The row of the table of commands that covers it. */
  row?: {
    command: string;
    kind: RuleKind;
    /** What rules for the project's copy of the program call it, the one that a new rule is for first. */
    copies?: string[];
    /** Where a rule for the row holds, when that is not where it runs: the project around it. */
    folders?: string[];
  };
}

/** Where a rule for a part's row has to hold. */
export const partFolders = ({ folders, row }: Pick<CommandPart, 'folders' | 'row'>): string[] =>
  row?.folders ?? folders;

/** Id of the row of several commands that only read, together. Stored in rules: it never changes, whatever the UI says. */
export const readingRow = 'commands that only read';
