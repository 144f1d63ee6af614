import type { LocalizableText } from '../../protocol/text/localized.ts';
import { refuse } from '../core/pathSyntax.ts';
import type { WorkspaceRoot } from '../core/workspace.ts';
import { type CommandAnalysis, understand } from './analyzeCommand.ts';
import { destruction } from './destructive.ts';
import type { IsOutput } from './outputFiles.ts';

/** The longest command that a person can be asked to judge. */
const maximumCommand = 8192;

/**
 * What a command is: the words that may be run without a question where it only reads, and what it runs besides.
 * @param isOutput which files outside may be read as if they were inside
 * Throws `E_SANDBOX_VIOLATION` with the reason `COMMAND_REFUSED` for what nobody is even asked about: what cannot be shown
 * as what it is, and what destroys more than the workspace could ever lose.
 */
export async function judgeCommand(
  roots: readonly WorkspaceRoot[],
  folder: string,
  command: string,
  platform: string = process.platform,
  isOutput?: IsOutput,
): Promise<CommandAnalysis> {
  checkShowableCommand(command);
  const understood = await understand(roots, folder, command, platform, isOutput);
  const danger =
    typeof understood.reading === 'string' ? await destruction(command, { roots, folder, platform }) : undefined;
  if (danger?.effect === 'refuse')
    throw refuse('COMMAND_REFUSED', `The command is refused: ${danger.why}. A person can type it into a terminal.`);
  return understood;
}

/** Why a command is asked about every time, though it names no protected place: what it destroys cannot be said. */
export async function doubtAbout(
  roots: readonly WorkspaceRoot[],
  folder: string,
  command: string,
): Promise<LocalizableText | undefined> {
  return (await destruction(command, { roots, folder }))?.why;
}

/**
 * Refuses a command that cannot be shown as what it is: a question about it would lie. Throws `E_SANDBOX_VIOLATION`
 * with the reason `COMMAND_REFUSED`.
 */
function checkShowableCommand(command: string): void {
  const problem =
    command.length > maximumCommand
      ? 'is longer than 8,192 characters; write a script file and run that'
      : /[^\S\n]{41,}|\u2800{11,}|\t{11,}|(?:\n[^\S\n]*){11,}/.test(command)
        ? 'hides its end behind many blanks'
        : unshowable.test(command)
          ? 'holds control or invisible characters'
          : undefined;
  if (problem) throw refuse('COMMAND_REFUSED', `The command ${problem}.`);
}

/** As for paths, but tab and newline are ordinary in a command. */
const unshowable = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u115f\u1160\u3164\uffa0]/u;
