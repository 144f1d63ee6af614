import { existsSync, statSync } from 'node:fs';
import { win32 } from 'node:path';

/** System on which programs are looked for. A test gives another one. */
export interface ProgramSystem {
  platform: string;
  env: NodeJS.ProcessEnv;
  isFile(path: string): boolean;
}

export const thisSystem = (): ProgramSystem => ({
  platform: process.platform,
  env: process.env,
  isFile: (path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false,
});

/** On Windows, keeps a program that is named without a folder from being looked for in the folder where something runs. Call it before anything starts. */
export function ignoreCurrentFolder({ platform, env }: Pick<ProgramSystem, 'platform' | 'env'> = thisSystem()): void {
  if (platform === 'win32') env[noCurrentFolder] = '1';
}

const noCurrentFolder = 'NoDefaultCurrentDirectoryInExePath';

/** The shell of commands, and its options in front of a line. Without profiles: they are the person's, may print, ask or start things. */
export function shellCommand(system: ProgramSystem = thisSystem()): string[] {
  if (system.platform === 'win32') {
    const powerShell = ofWindows(system, 'WindowsPowerShell', 'v1.0', 'powershell.exe');
    return [powerShell, '-NoLogo', '-NoProfile', '-NonInteractive', '-Command'];
  }
  const bash = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash', '/run/current-system/sw/bin/bash'].find(
    existsSync,
  );
  return bash ? [bash, '--norc', '--noprofile', '-c'] : ['/bin/sh', '-c'];
}

/** On Windows, the words that end a process with its children. */
export const endTreeCommand = (pid: number, system: ProgramSystem = thisSystem()): [string, ...string[]] => [
  ofWindows(system, 'taskkill.exe'),
  '/pid',
  String(pid),
  '/t',
  '/f',
];

/**
 * A program to start: on Windows by its absolute path, as the folders of `PATH` have it, for a name alone would be taken from the folder that
 * it runs in. Undefined: there is none. Elsewhere, and with a folder in it, as it is named.
 */
export function programToStart(
  name: string,
  { platform, env, isFile }: ProgramSystem = thisSystem(),
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

/** A program of the system: nothing of a repository can take its place. */
function ofWindows({ env }: Pick<ProgramSystem, 'env'>, ...names: string[]): string {
  const root = variableOf(env, 'SystemRoot') ?? variableOf(env, 'windir') ?? '';
  return win32.join(/^[a-z]:\\/i.test(root) ? root : 'C:\\Windows', 'System32', ...names);
}

/** Names of variables have no case there. */
const variableOf = (env: NodeJS.ProcessEnv, name: string): string | undefined =>
  Object.entries(env).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];
