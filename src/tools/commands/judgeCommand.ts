import type { LocalizableText } from '../../protocol/text/localized.ts';
import { createPathRefusal } from '../core/pathSyntax.ts';
import type { WorkspaceRoot } from '../core/workspace.ts';
import { analyzeCommand, type CommandAnalysis } from './analyzeCommand.ts';
import { findIrreversibleDestruction } from './destructive.ts';
import type { CommandOutputFilePredicate } from './outputFiles.ts';

const maximumCommand = 8192;

/**
 * Analyzes a command for the gate: the read-only execution if possible, and the other programs. Throws `E_SANDBOX_VIOLATION` with the
 * reason `COMMAND_REFUSED` for commands refused without an approval request: commands that cannot be displayed faithfully, and irreversible
 * destruction beyond the workspace.
 * @param isOutput test for files outside that may be read like files inside
 */
export async function judgeCommand(
  roots: readonly WorkspaceRoot[],
  folder: string,
  command: string,
  platform: string = process.platform,
  isOutput?: CommandOutputFilePredicate,
): Promise<CommandAnalysis> {
  checkShowableCommand(command);
  const understood = await analyzeCommand(roots, folder, command, platform, isOutput);
  const danger =
    typeof understood.reading === 'string'
      ? await findIrreversibleDestruction(command, { roots, folder, platform })
      : undefined;
  if (danger?.effect === 'refuse')
    throw createPathRefusal(
      'COMMAND_REFUSED',
      `The command is refused: ${danger.why}. A person can type it into a terminal.`,
    );
  return understood;
}

/** Returns the reason to always request an approval for a command without a protected path: an unknown destructive effect. */
export async function commandApprovalReason(
  roots: readonly WorkspaceRoot[],
  folder: string,
  command: string,
): Promise<LocalizableText | undefined> {
  return (await findIrreversibleDestruction(command, { roots, folder }))?.why;
}

// Refuses a command that an approval cannot display faithfully. Throws `E_SANDBOX_VIOLATION` with the reason `COMMAND_REFUSED`.
function checkShowableCommand(command: string): void {
  const problem =
    command.length > maximumCommand
      ? 'is longer than 8,192 characters; write a script file and run that'
      : /[^\S\n]{41,}|\u2800{11,}|\t{11,}|(?:\n[^\S\n]*){11,}/.test(command)
        ? 'hides its end behind many blanks'
        : unshowable.test(command)
          ? 'holds control or invisible characters'
          : undefined;
  if (problem) throw createPathRefusal('COMMAND_REFUSED', `The command ${problem}.`);
}

// Same characters as for paths, but tabs and newlines are allowed.
const unshowable = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u115f\u1160\u3164\uffa0]/u;
