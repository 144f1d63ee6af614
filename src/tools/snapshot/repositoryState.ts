import { createHash } from 'node:crypto';
import * as paths from 'node:path';
import { readRegularFileSync } from '../sandbox/regularFile.ts';
import { askGit } from './gitFiles.ts';

/** Folders of a repository, absolute: `common` is shared by all working trees, `own` belongs to one. Equal without linked working trees. */
interface RepositoryFolders {
  common: string;
  own: string;
  /** Working tree. */
  top: string;
}

/** Refs by name: an object ID, or `ref: <name>` for a symbolic ref. */
export type RepositoryRefs = Map<string, string>;

/**
 * State of a repository before a call: its refs, and the commit of HEAD. `folder` lies in one of the working trees. Paths are absolute.
 */
export interface RepositorySnapshot {
  folder: string;
  /** `.git` of each recorded working tree. */
  trees: string[];
  own: string;
  refs: RepositoryRefs;
  head: string | null;
  /** The repository has too many files besides its objects: they are not recorded. */
  isPartial?: true;
}

/** Finds the repository of a folder of a working tree. Rejects without one. */
export async function findRepository(folder: string): Promise<RepositoryFolders> {
  const answer = await askGit(folder, ['rev-parse', '--git-common-dir', '--git-dir', '--show-toplevel']);
  const [common = '', own = '', top = ''] = answer.split('\n').map((one) => paths.resolve(folder, one));
  return { common, own, top };
}

/** Reads all refs but HEAD, in a folder of a working tree. */
export async function readRefs(folder: string): Promise<RepositoryRefs> {
  const answer = await askGit(folder, ['for-each-ref', '--format=%(refname)%00%(objectname)%00%(symref)']);
  const refs: RepositoryRefs = new Map();
  for (const line of answer.split('\n')) {
    const [name = '', oid = '', target = ''] = line.split('\0');
    if (name !== '') refs.set(name, target === '' ? oid : `ref: ${target}`);
  }
  return refs;
}

const maxHeadBytes = 10_000;

/** Returns the commit of HEAD; null before the first commit. `own` is the folder of the working tree's own state. */
export function headCommit(own: string, refs: RepositoryRefs): string | null {
  const text = readRegularFileSync(paths.join(own, 'HEAD'), maxHeadBytes)?.toString('utf8').trim() ?? '';
  const name = /^ref: (.+)$/.exec(text)?.[1];
  return (name === undefined ? text : refs.get(name)) || null;
}

/**
 * Hashes the entries of an index, without the times and sizes of files. Rejects for a damaged index.
 * @param own folder of the working tree's own state
 * @param index absolute path of the index or of a copy; a missing file is an empty index
 */
export async function hashIndexEntries(own: string, index: string): Promise<string> {
  const args = [`--git-dir=${own}`, `--work-tree=${own}`, 'ls-files', '-s', '-v', '-z'];
  const listing = await askGit(own, args, '', [0], { GIT_INDEX_FILE: index });
  return createHash('sha256').update(listing).digest('hex');
}

/** Tests for an index of a working tree, by its path relative to the common folder. */
export const isIndexFile = (name: string): boolean => /^(worktrees\/[^/]+\/)?index$/.test(name);

/** Tests for a log of a ref, by its path relative to the common folder. */
export const isRefLog = (name: string): boolean => /^(worktrees\/[^/]+\/)?logs\//.test(name);

/** Tests for a ref that mirrors a branch of a remote. */
export const isRemoteRef = (name: string): boolean => name.startsWith('refs/remotes/');

/**
 * Tests for a file that says what the working tree stands on, by its path relative to the common folder: HEAD, the index, or the log of the
 * stash, which holds its entries. A repository goes back with these files or not at all.
 */
export const isDecisiveFile = (name: string): boolean =>
  isIndexFile(name) || /^(worktrees\/[^/]+\/)?HEAD$/.test(name) || name === 'logs/refs/stash';
