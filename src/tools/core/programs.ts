import { existsSync, statSync } from 'node:fs';
import { win32 } from 'node:path';

export interface ProgramEnvironment {
  platform: string;
  env: NodeJS.ProcessEnv;
  isFile(path: string): boolean;
}

export const currentProgramEnvironment = (): ProgramEnvironment => ({
  platform: process.platform,
  env: process.env,
  isFile: (path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false,
});

/** Prevents Windows from looking in the current folder for a program without a path. Call before any process starts. */
export function excludeCurrentFolderFromPath(
  { platform, env }: Pick<ProgramEnvironment, 'platform' | 'env'> = currentProgramEnvironment(),
): void {
  if (platform === 'win32') env[noCurrentFolder] = '1';
}

const noCurrentFolder = 'NoDefaultCurrentDirectoryInExePath';

/**
 * Returns the shell and its options before a command line. Profiles are disabled: a user's profile may print text, ask for input or start
 * programs.
 */
export function shellLaunchArguments(system: ProgramEnvironment = currentProgramEnvironment()): string[] {
  if (system.platform === 'win32') {
    const powerShell = ofWindows(system, 'WindowsPowerShell', 'v1.0', 'powershell.exe');
    return [powerShell, '-NoLogo', '-NoProfile', '-NonInteractive', '-Command'];
  }
  const bash = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash', '/run/current-system/sw/bin/bash'].find(
    existsSync,
  );
  return bash ? [bash, '--norc', '--noprofile', '-c'] : ['/bin/sh', '-c'];
}

export const processTreeTerminationCommand = (
  pid: number,
  system: ProgramEnvironment = currentProgramEnvironment(),
): [string, ...string[]] => [ofWindows(system, 'taskkill.exe'), '/pid', String(pid), '/t', '/f'];

/**
 * Resolves a program to start; undefined if not found. On Windows, returns the absolute path from `PATH`, because a bare name would be
 * found in the current folder first. On other systems, and for a name with a folder, returns the name unchanged.
 */
export function resolveProgramPath(
  name: string,
  { platform, env, isFile }: ProgramEnvironment = currentProgramEnvironment(),
): string | undefined {
  if (platform !== 'win32' || /[\\/]/.test(name)) return name;
  const endings = ['', ...(variableOf(env, 'PATHEXT') ?? '.COM;.EXE;.BAT;.CMD').split(';')];
  const own = win32.extname(name) === '' ? endings.slice(1) : endings;
  const folders = (variableOf(env, 'PATH') ?? '').split(';').map((folder) => folder.replace(/^"|"$/g, ''));
  return folders
    .filter((folder) => /^([a-z]:[\\/]|\\\\)/i.test(folder))
    .flatMap((folder) => own.map((ending) => win32.join(folder, name + ending)))
    .find(isFile);
}

// Returns the path of a Windows system program; no file of a repository can replace that path.
function ofWindows({ env }: Pick<ProgramEnvironment, 'env'>, ...names: string[]): string {
  const root = variableOf(env, 'SystemRoot') ?? variableOf(env, 'windir') ?? '';
  return win32.join(/^[a-z]:\\/i.test(root) ? root : 'C:\\Windows', 'System32', ...names);
}

const variableOf = (env: NodeJS.ProcessEnv, name: string): string | undefined =>
  Object.entries(env).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];
