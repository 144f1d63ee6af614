import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { doubtAbout, judgeCommand } from './gate/commands.ts';
import { packagesOf } from './gate/grants/packages.ts';
import { namedIn } from './gate/named.ts';
import { resolvePath } from './gate/paths.ts';
import { quoted, refuse } from './gate/spelling.ts';
import type { Part } from './part.ts';
import type { LeftCommands } from './shell/left.ts';
import type { CommandMirror } from './shell/live.ts';
import { readingLimit, runReading } from './shell/reading.ts';
import { runCommand } from './shell/run.ts';
import { askingTool, type Plan, type Tool, ToolError } from './tool.ts';
import { foldersOf, type WorkspaceRoot } from './workspace.ts';

export interface ShellOptions {
  /** Milliseconds a command may take when the call does not say. */
  timeout?(): number;
  /** Where a command's output is also shown while it runs; undefined for nowhere. */
  mirror?(command: string, folder: string): CommandMirror | undefined;
  /** Commands that outlived an editor. */
  left?: Pick<LeftCommands, 'twinOf'>;
}

/**
 * `shell.run`: one command line in the workspace. Data: `{ exitCode, signal?, output, cut?, outputId?, stillRunning? }`; an exit code other
 * than 0 is an answer, not a failure. Past its time `TOOL_TIMEOUT`, stopped `TOOL_INTERRUPTED`, both with the output in `details`.
 */
export function shellTool({ timeout = () => 600_000, mirror, left }: ShellOptions = {}): Tool {
  return askingTool(
    {
      name: 'shell.run',
      description: 'Run a shell command in the workspace. It gets no input.',
      arguments: {
        command: z.string().min(1),
        cwd: z.string().optional().describe('Folder, default the workspace'),
        timeoutSeconds: z.int().min(1).max(3600).optional(),
      },
    },
    'execute',
    async function plan({ command, cwd, timeoutSeconds }, context): Promise<Plan> {
      const { workspace } = context;
      if (command.trim() === '') throw new ToolError('TOOL_ARGS_INVALID', 'command: give a command.');
      const place = cwd ?? defaultFolder(workspace.roots);
      const folder = await resolvePath(workspace.roots, place, 'list');
      if (folder.mount) throw refuse('OUTSIDE', 'Commands run in the folders of the workspace only.');
      await refuseTwin(left, command, folder.path);
      const judge = () => judgeCommand(workspace.roots, folder.path, command);
      const { reading, parts } = await judge();
      const marker = randomUUID();
      const named = await namedIn(workspace.roots, folder.path, command);
      // What only reads, and what a row of the table covers, was looked through more closely.
      const understood = parts?.every(({ reads, row }) => reads || row);
      const why =
        typeof reading === 'string' && !understood
          ? (named.protected ?? (await doubtAbout(workspace.roots, folder.path, command)))
          : undefined;
      return {
        what: 'Run a command',
        where: folder.path,
        why: ['A command can do anything that you can do.', why].filter(Boolean).join(' '),
        command,
        marker,
        ...(await placed(folder.relative, parts, workspace.roots)),
        ...(timeoutSeconds !== undefined && { timeLimit: timeoutSeconds }),
        named: named.paths,
        ...(why === undefined && grantFor(command, cwd === undefined ? undefined : folder.relative)),
        reading:
          typeof reading === 'string'
            ? reading
            : async (context) => {
                const { reading: now } = await judge(); // its paths may lead elsewhere by now
                if (!isDeepStrictEqual(now, reading))
                  throw new ToolError('E_PRECONDITION_FAILED', 'What this command reads changed meanwhile. Try again.');
                const limit = Math.min(
                  timeoutSeconds === undefined ? readingLimit : timeoutSeconds * 1000,
                  readingLimit,
                );
                return runReading(reading, limit, workspace, context, mirror?.(command, folder.path));
              },
        revise: (edited) => plan({ command: edited, cwd, timeoutSeconds }, context),
        async run(context) {
          const now = await resolvePath(workspace.roots, place, 'list');
          if (now.path !== folder.path)
            throw new ToolError(
              'E_PRECONDITION_FAILED',
              `${quoted(folder.relative)} is another folder than was shown.`,
            );
          await refuseTwin(left, command, folder.path);
          const limit = timeoutSeconds === undefined ? timeout() : timeoutSeconds * 1000;
          return runCommand(command, folder.path, limit, context, mirror?.(command, folder.path), marker);
        },
      };
    },
  );
}

async function refuseTwin(left: ShellOptions['left'], command: string, folder: string): Promise<void> {
  const twin = await left?.twinOf(command, folder);
  if (!twin) return;
  const message = `This command went on when the editor ended, and is still at work: ${twin.processes.join(', ')}. It is not run a second time beside itself. Wait for its end, or ask the person to end it (Towpath: End Commands Left Running).`;
  throw new ToolError('E_PRECONDITION_FAILED', message, { reason: 'STILL_RUNNING', stillRunning: twin.processes });
}

/** Where a command runs, and what lasting rules for it could be about. */
async function placed(
  relative: string,
  parts: readonly Part[] | undefined,
  roots: readonly WorkspaceRoot[],
): Promise<Pick<Plan, 'folder' | 'parts' | 'packages'>> {
  const root = defaultFolder(roots);
  const fromRoot = (folder: string) => (folder === root ? '.' : folder);
  const own = parts?.map(({ row, ...part }) => ({
    ...part,
    folders: part.folders.map(fromRoot),
    ...(row && { row: { ...row, ...(row.folders && { folders: row.folders.map(fromRoot) }) } }),
  }));
  const packages = own?.some(({ row }) => row) && foldersOf(roots).length === 1 ? await packagesOf(roots) : undefined;
  return { folder: fromRoot(relative), ...(own && { parts: own }), ...(packages && { packages }) };
}

/** A command that ends as the mention of a folder does could pass for another one in that folder: it has no grant. */
function grantFor(command: string, folder: string | undefined): Pick<Plan, 'grant'> {
  if (/\(in .*\)\s*$/s.test(command)) return {};
  return { grant: `shell.run ${command}${folder === undefined ? '' : ` (in ${folder})`}` };
}

/** With several folders open a command runs in the first, as a new terminal would. */
const defaultFolder = (roots: readonly WorkspaceRoot[]) => {
  const folders = foldersOf(roots);
  return folders.length > 1 ? folders[0]!.name : '.';
};
