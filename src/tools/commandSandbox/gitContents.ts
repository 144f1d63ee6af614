import { execFile } from 'node:child_process';
import { foldCase } from '../core/caseFold.ts';
import { isolatedGit } from '../core/isolatedGit.ts';

/**
 * Tests the names in an index that a command has written: Git checks them out without another test. Unsafe is a name outside of the working
 * tree, or in a Git folder, and an index that cannot be read.
 * @param repository Git folder
 * @param index path of the index file
 */
export function isSafeGitIndex(repository: string, index: string): Promise<boolean> {
  return new Promise((resolve) => {
    const { program, args, options } = isolatedGit(repository, ['ls-files', '-z', '--cached', '--full-name']);
    const env = { ...options.env, GIT_INDEX_FILE: index, GIT_DIR: repository, GIT_WORK_TREE: repository };
    const given = { ...options, env, encoding: 'latin1' as const, maxBuffer: 1 << 29, timeout: 5000 };
    execFile(program, args, given, (error, names) => resolve(!error && names.split('\0').every(isSafeName)));
  });
}

const isSafeName = (name: string): boolean =>
  !name.startsWith('/') &&
  name.split('/').every((segment, _, all) => {
    const folded = foldCase(Buffer.from(segment, 'latin1').toString('utf8'));
    if (segment === '') return all.length === 1; // after the last name
    return segment !== '.' && segment !== '..' && !/^(?:\.git|git~1)[ .]*$/.test(folded);
  });

/** Tests a text of `HEAD`: the name of a branch, or a commit. */
export const isSafeGitHead = (text: string): boolean =>
  /^(?:[0-9a-f]{40}|[0-9a-f]{64}|ref: refs\/(?!.*\.\.)[^\0-\x20\x7f~^:?*[\\]+)\n?$/.test(text);
