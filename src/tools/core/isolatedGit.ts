import * as paths from 'node:path';
import { resolveProgramPath } from './programs.ts';

/**
 * Returns the call of a Git command in a folder that runs nothing of the repository but filters, and neither locks, writes nor fetches. Git
 * starts in the root of the file system, so that no file of a repository can replace a program. Throws if Git is missing.
 */
export function isolatedGit(folder: string, args: readonly string[]) {
  const program = resolveProgramPath('git');
  if (program === undefined) throw new Error('There is no Git.');
  const own = Object.entries(process.env).filter(([name]) => !/^GIT_/i.test(name));
  const env = {
    ...Object.fromEntries(own),
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
    LC_ALL: 'C',
  };
  const options = { cwd: paths.parse(folder).root, env, windowsHide: true };
  return { program, args: [...safeSettings, '-C', folder, ...args], options };
}

const safeSettings = [
  '--no-pager',
  '--no-optional-locks',
  '--no-replace-objects',
  ...[
    'core.fsmonitor=false',
    'core.untrackedCache=false',
    'core.hooksPath=/dev/null',
    'diff.external=',
    'safe.bareRepository=explicit',
    'submodule.recurse=false',
  ].flatMap((setting) => ['-c', setting]),
];

/**
 * Returns options that disable all filters: Git would run a filter to compare a file.
 * @param names names of the settings below `filter.`
 */
export function disablingFilters(names: readonly string[]): string[] {
  const drivers = new Set(names.map((name) => name.slice(0, name.lastIndexOf('.'))));
  return [...drivers].flatMap((driver) =>
    ['clean=', 'smudge=', 'process=', 'required=false'].flatMap((setting) => ['-c', `${driver}.${setting}`]),
  );
}
