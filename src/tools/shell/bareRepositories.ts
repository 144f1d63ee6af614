import { execFile } from 'node:child_process';
import { resolveProgramPath } from '../core/programs.ts';

/**
 * Protection against nested bare repositories, whose `config` Git would execute: requires an explicit name (Git 2.38 or newer; older
 * versions ignore the setting), unless the user has configured the setting.
 */
const setting = ['safe.bareRepository', 'explicit'] as const;

let asked: Promise<[string, string][]> | undefined;

/** Returns Git settings for every command. The user's value, from the environment or a file, wins. */
export function gitSafetySettings(own: NodeJS.ProcessEnv = process.env): Promise<[string, string][]> {
  asked ??= isDecided(own).then((decided) => (decided ? [] : [[...setting]]));
  return asked;
}

/** Returns the explanation of a Git failure by this setting; undefined for other failures. */
export const bareRepositoryRefusal = (output: string): string | undefined =>
  /cannot use bare repository .*\(safe\.bareRepository is 'explicit'\)/.test(output)
    ? 'Git was told not to use a repository inside of another one (safe.bareRepository=explicit). Where it is meant: name it with --git-dir, or the person sets safe.bareRepository.'
    : undefined;

function isDecided(own: NodeJS.ProcessEnv): Promise<boolean> {
  // Outside of a repository, Git reads the environment, user and system settings.
  const git = resolveProgramPath('git');
  if (git === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    execFile(git, ['config', '--get', setting[0]], { cwd: '/', env: own, timeout: 5000, windowsHide: true }, (error) =>
      resolve(error === null),
    );
  });
}
