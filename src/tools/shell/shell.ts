// @invariant sandbox-never-falls-back: A command that is allowed because of the sandbox runs in it or not at all; outside, after an approval of the user.
import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { takesInput } from '../commandInput/takesInput.ts';
import type { CommandSandbox } from '../commandSandbox/commandSandbox.ts';
import { findPackageRegistries } from '../commandSandbox/packageRegistries.ts';
import { findProjectPackages } from '../commands/grants/projectPackages.ts';
import { commandApprovalReason, judgeCommand } from '../commands/judgeCommand.ts';
import type { FileCoverage } from '../commands/loss/coverage.ts';
import { createDataLossFinder, mayRemoveRepository } from '../commands/loss/loss.ts';
import { commandOutputFiles } from '../commands/outputFiles.ts';
import { findReferencedPaths } from '../commands/referencedPaths.ts';
import { programForOutside } from '../commands/unsandboxedPrograms.ts';
import type { CommandPart } from '../core/commandPart.ts';
import { createPathRefusal, quoteForMessage } from '../core/pathSyntax.ts';
import { storeLongOutput } from '../core/storedOutput.ts';
import { createSideEffectTool, type Tool, type ToolCallPlan, type ToolContext, ToolError } from '../core/tool.ts';
import { openFolderRoots, type WorkspaceRoot } from '../core/workspace.ts';
import { shellRunDefinition, shellStopDefinition } from '../definitions/commandTools.ts';
import { resolvePath, resolveWorkspaceRoots } from '../sandbox/paths.ts';
import { BackgroundCommands } from './background.ts';
import type { CommandOutputMirror } from './liveOutput.ts';
import type { OrphanedCommands } from './orphanedCommands.ts';
import { commandState } from './outputRead.ts';
import { createPausableTimeout } from './pausableTimeout.ts';
import { readOnlyCommandTimeAndOutputLimit, runReadOnlyCommand } from './readOnlyRun.ts';
import { runCommand } from './runCommand.ts';
import { SandboxDenials } from './sandboxDenials.ts';
import { commonAllowableFolder, explainDenial, isNowAllowed, requestToLeave } from './sandboxEscape.ts';
import { sandboxQuestions } from './sandboxQuestions.ts';
import { SeenOutputFiles } from './seenOutputFiles.ts';

export interface ShellOptions {
  /** Default timeout in milliseconds. */
  timeout?(): number;
  /** Returns an additional output target for live output; undefined for none. */
  mirror?(command: string, folder: string): CommandOutputMirror | undefined;
  left?: Pick<OrphanedCommands, 'twinOf'>;
  background?: BackgroundCommands;
  run?: typeof runCommand;
  /** Milliseconds for the detection of losses. */
  lossLimit?: number;
  /** Tells whether an undo of a command will restore these files (absolute paths). */
  covers?: FileCoverage;
  /** Absent: commands are never sandboxed. */
  sandbox?: Pick<CommandSandbox, 'begin'> & Partial<Pick<CommandSandbox, 'allowableFolder'>>;
  /** Returns the sites of package registries, known with these open folders (absolute, real). */
  registries?(folders: readonly string[]): Promise<readonly string[]>;
}

/**
 * `shell.run`: one command line in the workspace. Data: `{ exitCode, signal?, output, cut?, outputId?, stillRunning? }`; a nonzero exit
 * code is a result, not a failure. Throws `TOOL_TIMEOUT` and `TOOL_INTERRUPTED` with the output in `details`. In the background (by
 * `background` or by the user): `{ id, running: true, output, cut?, outputId?, note? }` after the first output, unless the command has
 * ended.
 */
export function shellTool({
  timeout = () => 600_000,
  mirror,
  left,
  background = new BackgroundCommands(),
  run = runCommand,
  lossLimit,
  covers,
  sandbox,
  registries = (folders) => findPackageRegistries({ environment: process.env, home: homedir(), folders }),
}: ShellOptions = {}): Tool {
  const made = new SeenOutputFiles();
  const denials = new SandboxDenials();
  const refuseTwin = (command: string, folder: string, runId: string) =>
    refuseTwinOf({ left, background }, command, folder, runId);
  return createSideEffectTool(shellRunDefinition, 'execute', async function plan(args, context): Promise<ToolCallPlan> {
    const { command, cwd, timeoutSeconds, background: goesOn, outside } = args;
    const { workspace } = context;
    if (command.trim() === '') throw new ToolError('TOOL_ARGS_INVALID', 'command: give a command.');
    const workingFolder = cwd ?? defaultFolder(workspace.roots);
    const folder = await resolvePath(workspace.roots, workingFolder, 'list');
    if (folder.mount) throw createPathRefusal('OUTSIDE', 'Commands run in the folders of the workspace only.');
    await refuseTwin(command, folder.path, context.runId);
    const judge = () =>
      judgeCommand(workspace.roots, folder.path, command, process.platform, (path) => made.has(context.runId, path));
    const { reading, said, parts } = await judge();
    const marker = randomUUID();
    const denialKey = { runId: context.runId, folder: folder.path, command };
    const named = await findReferencedPaths(workspace.roots, folder.path, command);
    // Read-only parts and parts with a table row were analyzed more precisely.
    const understood = parts?.every(({ reads, row }) => reads || row);
    const why =
      typeof reading === 'string' && !understood
        ? (named.protected ?? (await commandApprovalReason(workspace.roots, folder.path, command)) ?? named.shown)
        : typeof reading === 'string'
          ? named.shown
          : undefined;
    const findLoss =
      typeof reading === 'string'
        ? await createDataLossFinder(workspace.roots, folder.path, command, lossLimit, goesOn ? undefined : covers)
        : undefined;
    const distrustsGit =
      typeof reading === 'string' && (await mayRemoveRepository(workspace.roots, folder.path, command));
    const outputs =
      typeof reading === 'string' && why === undefined
        ? await commandOutputFiles(workspace.roots, folder.path, command)
        : [];
    return {
      what: goesOn ? message('Run a command in the background') : message('Run a command'),
      where: folder.path,
      why: why ?? '',
      command,
      ...(findLoss && { findLoss }),
      ...(distrustsGit && { distrustsGit }),
      marker,
      ...(await resolveFolder(folder.relative, parts, workspace.roots)),
      ...(timeoutSeconds !== undefined && { timeLimit: timeoutSeconds }),
      ...(goesOn && { background: true }),
      ...(outputs.length > 0 && { outputs }),
      named: named.paths,
      ...(why === undefined && grantFor(command, cwd === undefined ? undefined : folder.relative)),
      reading:
        typeof reading === 'string'
          ? (ofProject(parts) ?? said ?? reading)
          : async (context) => {
              const { reading: now } = await judge(); // its paths may have other targets by now
              if (!isDeepStrictEqual(now, reading))
                throw new ToolError('E_PRECONDITION_FAILED', 'What this command reads changed meanwhile. Try again.');
              const limit = Math.min(
                timeoutSeconds === undefined ? readOnlyCommandTimeAndOutputLimit : timeoutSeconds * 1000,
                readOnlyCommandTimeAndOutputLimit,
              );
              return runReadOnlyCommand(reading, limit, workspace, context, mirror?.(command, folder.path));
            },
      revise: (edited) => plan({ ...args, command: edited }, context),
      ...(sandbox && (await inSandbox(sandbox))),
      run: (context) => start(context),
    };

    async function inSandbox(
      sandbox: NonNullable<ShellOptions['sandbox']>,
    ): Promise<Pick<ToolCallPlan, 'sandboxed' | 'outsideReason' | 'modelReason' | 'allowableFolder'>> {
      const program = programForOutside(command);
      const leaving = requestToLeave(outside);
      const denial = leaving && !goesOn && program === undefined ? denials.of(denialKey) : undefined;
      const allowed = denial ? context.allowedFolders() : [];
      const modelReason = leaving?.reason !== undefined && { modelReason: leaving.reason };
      if (leaving && !(denial && isNowAllowed(denial, allowed))) {
        if (!denial) return { outsideReason: message('The model asks to run it outside the sandbox.'), ...modelReason };
        const find = async (path: string) => sandbox.allowableFolder?.(path, await realFolders());
        return { ...explainDenial(denial, await commonAllowableFolder(denial, allowed, find)), ...modelReason };
      }
      if (program !== undefined) return { outsideReason: message('“{0}” does not work in the sandbox.', program) };
      const isUndoable = async () => (await covers?.([]))?.isWhole === true;
      return { sandboxed: { isUndoable, run: (context, exit) => start(context, sandbox, exit) } };
    }

    async function realFolders(): Promise<string[]> {
      return (await resolveWorkspaceRoots(openFolderRoots(workspace.roots))).map(({ realPath }) => realPath);
    }

    async function start(context: ToolContext, confinedBy?: ShellOptions['sandbox'], exit?: AbortSignal) {
      const now = await resolvePath(workspace.roots, workingFolder, 'list');
      if (now.path !== folder.path)
        throw new ToolError(
          'E_PRECONDITION_FAILED',
          `${quoteForMessage(folder.relative)} is another folder than was shown.`,
        );
      await refuseTwin(command, folder.path, context.runId);
      if (goesOn) background.dropOldest();
      const limit = timeoutSeconds === undefined ? (goesOn ? undefined : timeout()) : timeoutSeconds * 1000;
      const time = limit === undefined ? undefined : createPausableTimeout(limit);
      const folders = confinedBy ? await realFolders() : [];
      const allowed = confinedBy ? context.allowedFolders() : [];
      const questions = sandboxQuestions(context, command, time, () => registries(folders));
      const confined = await confinedBy?.begin({
        runId: context.runId,
        folder: folder.path,
        folders,
        allowed,
        ...(goesOn && { isLive: true }),
        ...(background.prompts && takesInput(command, goesOn ?? false) && { hasTerminal: true }),
        questions,
      });
      const shown = mirror?.(command, folder.path);
      const settle = await made.begin(context.runId, { line: command, outputs, parts });
      return run(command, folder.path, context, {
        timeout: time,
        confined: confined && { sandbox: confined, questions, ...(exit && { exit }) },
        ...(confined && { onDenial: (paths, changed) => denials.set(denialKey, { paths, changed, allowed }) }),
        mirror: shown,
        marker,
        background,
        goesOn,
      }).finally(settle);
    }
  });
}

async function refuseTwinOf(
  { left, background }: Required<Pick<ShellOptions, 'background'>> & Pick<ShellOptions, 'left'>,
  command: string,
  folder: string,
  runId: string,
): Promise<void> {
  const going = background.twinOf(runId, command, folder);
  if (going)
    throw new ToolError(
      'E_PRECONDITION_FAILED',
      `This command is at work in the background already, as ${going.id}. It is not run a second time beside itself: read it with output.read, or end it with shell.stop.`,
      { reason: 'STILL_RUNNING', id: going.id },
    );
  const twin = await left?.twinOf(command, folder);
  if (!twin) return;
  const message = `This command went on when the editor ended, and is still at work: ${twin.processes.join(', ')}. It is not run a second time beside itself. Wait for its end, or ask the person to end it (Towpath: End Commands Left Running).`;
  throw new ToolError('E_PRECONDITION_FAILED', message, { reason: 'STILL_RUNNING', stillRunning: twin.processes });
}

/** `shell.stop`: ends a background command of this run with all processes. Data: the end, and new output. */
export function shellStopTool(background: BackgroundCommands): Tool {
  const tool = createSideEffectTool(
    shellStopDefinition,
    'execute',
    async ({ id }, { runId }): Promise<ToolCallPlan> => {
      const command = background.find(runId, id);
      if (!command)
        throw new ToolError('ENOENT', `No command of this run is in the background with the id ${JSON.stringify(id)}.`);
      return {
        what: message('Stop a background command'),
        where: command.folder,
        why: message('It is a command of this run.'),
        free: 'command-of-run',
        details: command.line,
        grant: 'shell.stop',
        async run(context) {
          await command.stop('call');
          const { text, dropped } = command.takeNews();
          return { ...commandState(command), ...(await storeLongOutput(text, dropped, 'output', context)) };
        },
      };
    },
  );
  return { ...tool, ofRun: true };
}

async function resolveFolder(
  relative: string,
  parts: readonly CommandPart[] | undefined,
  roots: readonly WorkspaceRoot[],
): Promise<Pick<ToolCallPlan, 'folder' | 'parts' | 'packages'>> {
  const root = defaultFolder(roots);
  const fromRoot = (folder: string) => (folder === root ? '.' : folder);
  const own = parts?.map(({ row, ...part }) => ({
    ...part,
    folders: part.folders.map(fromRoot),
    ...(row && { row: { ...row, ...(row.folders && { folders: row.folders.map(fromRoot) }) } }),
  }));
  const packages =
    own?.some(({ row }) => row) && openFolderRoots(roots).length === 1 ? await findProjectPackages(roots) : undefined;
  return { folder: fromRoot(relative), ...(own && { parts: own }), ...(packages && { packages }) };
}

const ofProject = (parts: readonly CommandPart[] | undefined): LocalizedMessage | undefined =>
  parts?.every(({ reads, row }) => reads || row) &&
  parts.some(({ row }) => row && (row.kind === 'checks' || row.kind === 'loads'))
    ? message('It runs this project’s code.')
    : undefined;

// Omits the grant if the command's end imitates the folder suffix of a grant.
function grantFor(command: string, folder: string | undefined): Pick<ToolCallPlan, 'grant'> {
  if (/\(in .*\)\s*$/s.test(command)) return {};
  return { grant: `shell.run ${command}${folder === undefined ? '' : ` (in ${folder})`}` };
}

const defaultFolder = (roots: readonly WorkspaceRoot[]) => {
  const folders = openFolderRoots(roots);
  return folders.length > 1 ? folders[0]!.name : '.';
};
