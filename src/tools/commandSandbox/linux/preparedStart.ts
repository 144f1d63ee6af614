import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { type CommandTerminal, takeTerminal } from '../../commandInput/terminal.ts';
import type { SandboxedProcess } from '../commandSandbox.ts';
import { removeCommandFolder } from './commandFolder.ts';
import { firstProcess, programDescriptor, programMessage, type SandboxedProgram } from './firstProcess.ts';
import {
  createOverlayFolders,
  type OverlayFolders,
  overlayCommandLine,
  type SandboxPrograms,
} from './overlayNamespace.ts';
import { type SandboxedProcesses, watchSandboxedProcesses } from './sandboxedProcesses.ts';

/** Sandbox of a command that has not started. */
export interface StartPlan {
  /** Process whose user and network namespaces the command joins. */
  namespace: number;
  /** Absolute real paths that are shown as overlays. */
  targets: readonly string[];
  /** Folders whose contents are added to those of a target, by target. */
  layers: ReadonlyMap<string, string>;
  /** Path of the seccomp filter. */
  filter: string;
  /** Returns the options of Bubblewrap. */
  options(overlays: readonly OverlayFolders[]): string[];
  /** The program has a pipe as input, and else an empty input. */
  hasInput: boolean;
  /** The program has a terminal as input, if there is one. */
  hasTerminal?: boolean;
  /** Absolute real paths that something is mounted on, if the options name them. */
  mountPoints: readonly string[];
}

/**
 * Sandbox that waits for its program. Nothing has read a file in the overlays, so that they show the folders as these are when the program
 * starts.
 */
export interface PreparedStart {
  /** Process id of Bubblewrap; undefined if it could not be started. */
  pid: number | undefined;
  /** Processes inside. */
  processes: SandboxedProcesses;
  /** Folder of the layers. */
  folder: string;
  overlays: readonly OverlayFolders[];
  /** Input of the program; its owner closes it. */
  terminal?: CommandTerminal;
  /** False if the process has ended. */
  isAlive(): boolean;
  /** Resolves when everything is mounted. Rejects with what the system said if the process has ended. */
  ready(): Promise<void>;
  /** Starts the program, once. Throws what the system said if the process has ended. */
  run(program: SandboxedProgram): SandboxedProcess;
  /** Ends the process if it still waits. */
  end(): Promise<void>;
}

/** Descriptors of the filter and of the information, as `bwrap` is told. */
export const startDescriptors = { seccompDescriptor: 3, informationDescriptor: 4 };
const optionsDescriptor = 5;

/** @param folder path of a new folder, on a disk that supports overlays */
export async function prepareStart(
  programs: SandboxPrograms,
  folder: string,
  { namespace, targets, layers, filter, options, hasInput, hasTerminal }: StartPlan,
): Promise<PreparedStart> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const overlays = await createOverlayFolders(folder, targets, layers);
  const waiting = [programs.bwrap, '--args', String(optionsDescriptor), '--', ...firstProcess(programs.perl)];
  const terminal = hasTerminal ? await takeTerminal() : undefined;
  const child = await startWaiting(
    overlayCommandLine(programs, { folder, count: targets.length, namespace }, waiting),
    { filter, hasInput },
    terminal,
  ).catch(async (error) => {
    terminal?.close();
    await removeCommandFolder(folder);
    throw error;
  });
  const socket = (descriptor: number) => child.stdio[descriptor] as Socket;
  const program = socket(programDescriptor);
  const descriptors = [...(hasInput ? [0] : []), 1, 2, startDescriptors.informationDescriptor, optionsDescriptor];
  const sockets = [...descriptors.map(socket), program];
  for (const one of sockets) one.on('error', () => {}); // it has ended
  child.on('error', () => {}); // the owner of the command listens, too
  for (const one of [child, ...sockets]) one.unref();
  child.stderr.read(0); // starts to read
  const processes = watchSandboxedProcesses(socket(startDescriptors.informationDescriptor));
  socket(optionsDescriptor).end([...options(overlays), '--as-pid-1', '--clearenv', ''].join('\0'));
  const isReady = once(program, 'readable').then(
    () => program.read() !== null,
    () => false,
  );
  let hasProgram = false;
  const isAlive = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  const endError = () => new Error(String(child.stderr.read() ?? '').trim() || `exit code ${child.exitCode}`);

  return {
    pid: child.pid,
    processes,
    folder,
    overlays,
    ...(terminal && { terminal }),
    isAlive,
    async ready() {
      for (const one of [child, program]) one.ref();
      if (await isReady) return;
      if (isAlive()) await once(child, 'close');
      throw endError();
    },
    run(sandboxed) {
      if (!isAlive()) throw endError();
      const message = programMessage(sandboxed);
      hasProgram = true;
      for (const one of [child, ...sockets]) one.ref();
      program.end(message);
      return child;
    },
    async end() {
      if (hasProgram) return;
      terminal?.close();
      if (isAlive()) {
        const ended = once(child, 'exit');
        child.ref();
        child.kill('SIGKILL');
        await ended;
      }
      await processes.end();
    },
  };
}

async function startWaiting(
  [program, ...args]: readonly string[],
  { filter, hasInput }: Pick<StartPlan, 'filter' | 'hasInput'>,
  terminal: CommandTerminal | undefined,
): Promise<SandboxedProcess> {
  const filterFile = await open(filter);
  try {
    const child: ChildProcess = spawn(program!, args, {
      cwd: '/',
      env: startEnvironment(),
      // No pipe as input of a command: bash treats a socket as a remote shell and reads profiles.
      stdio: [
        terminal?.descriptor ?? (hasInput ? 'pipe' : 'ignore'),
        'pipe',
        'pipe',
        filterFile.fd,
        'pipe',
        'pipe',
        'pipe',
      ],
      detached: true, // own process group, to be ended together
    });
    terminal?.started();
    return child as SandboxedProcess;
  } finally {
    await filterFile.close();
  }
}

// The variables of the command follow with the program.
function startEnvironment(): NodeJS.ProcessEnv {
  const { LD_LIBRARY_PATH } = process.env;
  return { LC_ALL: 'C', ...(LD_LIBRARY_PATH && { LD_LIBRARY_PATH }) };
}
