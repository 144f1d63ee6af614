import { type ChildProcess, spawn } from 'node:child_process';
import { lstat, mkdir, open, utimes } from 'node:fs/promises';
import type { Socket } from 'node:net';
import type { SandboxedProcess } from '../commandSandbox.ts';
import { removeCommandFolder } from './commandFolder.ts';
import {
  createOverlayFolders,
  type OverlayFolders,
  overlayCommandLine,
  type SandboxPrograms,
} from './overlayNamespace.ts';

/** Location of a command that has not started. */
export interface StartLocation {
  /** Process whose user and network namespaces the command joins. */
  namespace: number;
  /** Absolute real paths that are shown as overlays. */
  targets: readonly string[];
  /** Folders whose contents are added to those of a target, by target. */
  layers: ReadonlyMap<string, string>;
  /** Path of the seccomp filter. */
  filter: string;
  hasInput: boolean;
}

/**
 * Process that has created the overlays of a command and waits for its program. Nothing has read a file in the overlays, so that they show
 * the folders as these are when the program starts.
 */
export interface PreparedStart {
  /** Process id; undefined if it could not be started. */
  pid: number | undefined;
  /** Folder of the layers. */
  folder: string;
  overlays: readonly OverlayFolders[];
  /** False if the process has ended. */
  isAlive(): boolean;
  /** Returns the time of the start in milliseconds, by the clock of the disk. Call it before the paths of the command are read. */
  begin(): Promise<number>;
  /**
   * Becomes the program, once. Throws what the system said if the process has ended.
   * @param options options of Bubblewrap
   */
  run(options: readonly string[], program: readonly string[], environment: NodeJS.ProcessEnv): StartedProgram;
  /** Ends the process if it still waits. */
  end(): Promise<void>;
}

interface StartedProgram {
  child: SandboxedProcess;
  /** Output of `--info-fd`. */
  information: Socket;
}

/** Descriptors of the filter and of the information, as `bwrap` is told. */
export const startDescriptors = { seccompDescriptor: 3, informationDescriptor: 4 };
const optionsDescriptor = 5;

/** @param folder path of a new folder, on a disk that supports overlays */
export async function prepareStart(
  programs: SandboxPrograms,
  folder: string,
  { namespace, targets, layers, filter, hasInput }: StartLocation,
): Promise<PreparedStart> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const overlays = await createOverlayFolders(folder, targets, layers);
  const waiting = [programs.bwrap, '--args', String(optionsDescriptor), '--', programs.sh, '-c', initScript];
  const child = await startWaiting(
    overlayCommandLine(programs, { folder, count: targets.length, namespace }, waiting),
    { filter, hasInput },
  ).catch(async (error) => {
    await removeCommandFolder(folder);
    throw error;
  });
  const sockets = [1, 2, startDescriptors.informationDescriptor, optionsDescriptor, ...(hasInput ? [0] : [])].map(
    (descriptor) => child.stdio[descriptor] as Socket,
  );
  const [, , information, options] = sockets as [Socket, Socket, Socket, Socket];
  child.stdin?.on('error', () => {}); // it has ended
  options.on('error', () => {}); // it has ended
  child.on('error', () => {}); // the owner of the command listens, too
  for (const one of [child, ...sockets]) one.unref();
  child.stderr.read(0); // starts to read
  let hasProgram = false;
  const isAlive = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null;

  return {
    pid: child.pid,
    folder,
    overlays,
    isAlive,
    async begin() {
      const now = new Date();
      await utimes(folder, now, now);
      return (await lstat(folder)).ctimeMs;
    },
    run(bwrapOptions, program, environment) {
      if (!isAlive()) throw new Error(String(child.stderr.read() ?? '').trim() || `exit code ${child.exitCode}`);
      const variables = Object.entries(environment).flatMap(([name, value]) =>
        value === undefined ? [] : ['--setenv', name, value],
      );
      // The program comes last: Bubblewrap starts with a part of the options if this process ends meanwhile.
      const words = [
        '--as-pid-1',
        '--clearenv',
        ...variables,
        ...bwrapOptions,
        '--setenv',
        programVariable,
        program.map(quoted).join(' '),
      ];
      if ([...words, ...program].some((word) => word.includes('\0'))) throw new Error('It contains a zero byte.');
      hasProgram = true;
      for (const one of [child, ...sockets]) one.ref();
      options.end(`${words.join('\0')}\0`);
      return { child, information };
    },
    async end() {
      if (hasProgram || !isAlive()) return;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.ref();
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function startWaiting(
  [program, ...args]: readonly string[],
  { filter, hasInput }: Pick<StartLocation, 'filter' | 'hasInput'>,
): Promise<SandboxedProcess> {
  const filterFile = await open(filter);
  try {
    const child: ChildProcess = spawn(program!, args, {
      cwd: '/',
      env: startEnvironment(),
      // No pipe as input of a command: bash treats a socket as a remote shell and reads profiles.
      stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe', filterFile.fd, 'pipe', 'pipe'],
      detached: true, // own process group, to be ended together
    });
    return child as SandboxedProcess;
  } finally {
    await filterFile.close();
  }
}

/** Variable with the program, as words of a shell. Not an argument: it is not known yet, and other users can read arguments. */
const programVariable = 'TOWPATH_PROGRAM';

/**
 * First process of a PID namespace: Bubblewrap then ends when the kernel has ended all other ones. Its own first process reports the exit of
 * the command while processes in the background still write.
 */
const initScript = `eval "set -- $${programVariable}"; unset ${programVariable}; "$@"; exit $?`;

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

// The variables of the command follow with the program.
function startEnvironment(): NodeJS.ProcessEnv {
  const { LD_LIBRARY_PATH } = process.env;
  return { LC_ALL: 'C', ...(LD_LIBRARY_PATH && { LD_LIBRARY_PATH }) };
}
