import { execFile } from 'node:child_process';
import { programToStart } from '../core/programs.ts';

/**
 * A repository can hold a folder that is a repository itself, without a `.git`: Git would run what its `config` says. It is told not
 * to use one that was not named (Git 2.38 and newer; older ones ignore it), unless the person has decided about that.
 */
const setting = ['safe.bareRepository', 'explicit'] as const;

let asked: Promise<[string, string][]> | undefined;

/** The settings that Git gets with every command. The person's own value, of the environment or of a file, wins. */
export function gitSafety(own: NodeJS.ProcessEnv = process.env): Promise<[string, string][]> {
  asked ??= isDecided(own).then((decided) => (decided ? [] : [[...setting]]));
  return asked;
}

/** Why a command of Git failed by it; undefined when it did not. */
export const whyRefused = (output: string): string | undefined =>
  /cannot use bare repository .*\(safe\.bareRepository is 'explicit'\)/.test(output)
    ? 'Git was told not to use a repository inside of another one (safe.bareRepository=explicit). Where it is meant: name it with --git-dir, or the person sets safe.bareRepository.'
    : undefined;

function isDecided(own: NodeJS.ProcessEnv): Promise<boolean> {
  // Outside of all repositories it gives the environment's, the person's and the system's.
  const git = programToStart('git');
  if (git === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    execFile(git, ['config', '--get', setting[0]], { cwd: '/', env: own, timeout: 5000, windowsHide: true }, (error) =>
      resolve(error === null),
    );
  });
}
