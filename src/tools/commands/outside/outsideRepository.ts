import { readdir } from 'node:fs/promises';
import * as paths from 'node:path';
import { findGitRepositoryRoot, IsolatedGitRepository } from '../loss/repository.ts';

// Milliseconds to read the settings of the repository.
const limit = 2000;

/** Hooks that the commands run on this machine. */
const hooks: Readonly<Record<string, RegExp>> = {
  push: /^(?:pre-push|reference-transaction)$/,
  fetch: /^(?:reference-transaction|pre-auto-gc)$/,
  pull: /^(?:(?:pre-|post-)?(?:applypatch|merge|merge-commit|rebase|rewrite|checkout|commit|auto-gc)(?:-msg)?|(?:prepare-)?commit-msg|reference-transaction)$/,
  'ls-remote': /^$/,
};

/**
 * Tests if a Git command with a remote runs no program of the workspace: its remote has a name in the settings, and the repository has no hook
 * for it. Git takes another name for a path, at which a command can create a repository with hooks of its own.
 * @param words words of the command @param folder its working folder, absolute and real
 */
export async function startsNoWorkspaceProgram(words: readonly string[], folder: string): Promise<boolean> {
  const [, verb = '', ...rest] = words;
  const top = findGitRepositoryRoot(folder);
  const hooksOfVerb = Object.hasOwn(hooks, verb) ? hooks[verb] : undefined;
  if (top === undefined || hooksOfVerb === undefined) return false;
  const repository = new IsolatedGitRepository(top, AbortSignal.timeout(limit));
  try {
    const settings = (await repository.settings()).filter(({ scope }) => scope !== 'command');
    const remote = rest.find((word) => !word.startsWith('-'));
    if (remote !== undefined && !settings.some(({ name }) => name === `remote.${remote}.url`)) return false;
    if (settings.some(({ name }) => name === 'core.hookspath')) return verb === 'ls-remote'; // may be files of the workspace
    const shared = (await repository.shown(top, ['rev-parse'], ['--git-common-dir'])).replace(/\n$/, '');
    const names = await readdir(paths.resolve(top, shared, 'hooks')).catch((): string[] => []);
    return !names.some((name) => hooksOfVerb.test(name));
  } catch {
    return false;
  }
}
