import { createHash } from 'node:crypto';
import * as paths from 'node:path';
import { readRegularFileSync } from '../sandbox/regularFile.ts';
import { askGit } from './gitFiles.ts';
import { lookAtEntry } from './walkedEntry.ts';

/** Folders of a repository, absolute: `common` is shared by all working trees, `own` belongs to one. Equal without linked working trees. */
export interface RepositoryFolders {
  common: string;
  own: string;
  /** Working tree. */
  top: string;
}

/** Refs by name: an object ID, or `ref: <name>` for a symbolic ref. */
export type RepositoryRefs = Map<string, string>;

/**
 * State of a repository before a call: its refs, and the commit of HEAD. `folder` lies in one of the working trees, `folders` in all that are
 * recorded. Paths are absolute.
 */
export interface RepositorySnapshot {
  folder: string;
  folders: string[];
  /** `.git` of each recorded working tree. */
  trees: string[];
  own: string;
  refs: RepositoryRefs;
  head: string | null;
  /** `.git` files of the recorded working trees that are linked to the repository. */
  links: WorkingTreeLink[];
  /** The repository has too many files besides its objects: they are not recorded. */
  isPartial?: true;
}

/** `.git` file of a working tree, absolute, with its content and permissions. */
export interface WorkingTreeLink {
  file: string;
  content: Buffer;
  mode: number;
}

const maxLinkBytes = 4096;

/**
 * Reads the `.git` file of a working tree; undefined if nothing is there. Throws if it is something else.
 * @param file absolute path
 */
export function readWorkingTreeLink(file: string): WorkingTreeLink | undefined {
  const entry = lookAtEntry(file);
  if (!entry) return undefined;
  const content = entry.kind === 'file' ? readRegularFileSync(file, maxLinkBytes) : undefined;
  if (!content) throw new Error('It is no file of a linked working tree.');
  return { file, content, mode: entry.mode };
}

/** Finds the repository of a folder of a working tree. Rejects without one. */
export async function findRepository(folder: string): Promise<RepositoryFolders> {
  const answer = await askGit(folder, ['rev-parse', '--git-common-dir', '--git-dir', '--show-toplevel']);
  const [common = '', own = '', top = ''] = answer.split('\n').map((one) => paths.resolve(folder, one));
  return { common, own, top };
}

/**
 * Finds the repository of a working tree whose `.git` file is gone, by the content of that file. Rejects without one.
 * @param top working tree, absolute
 */
export async function findLinkedRepository(top: string, content: Buffer): Promise<RepositoryFolders> {
  const target = /^gitdir: (.+?)\r?\n?$/.exec(content.toString('utf8'))?.[1];
  if (target === undefined) throw new Error('The file names no repository.');
  const own = paths.resolve(top, target);
  const common = (await askRepository(own, ['rev-parse', '--git-common-dir'])).trimEnd();
  return { common: paths.resolve(own, common), own, top };
}

/** Asks Git about a repository, also if its working tree is gone. `own` is the repository's folder, or that of a working tree in it. */
export const askRepository = (
  own: string,
  args: readonly string[],
  input?: string,
  variables?: NodeJS.ProcessEnv,
): Promise<string> => askGit(own, [`--git-dir=${own}`, `--work-tree=${own}`, ...args], input, [0], variables);

/** Reads all refs but HEAD. */
export async function readRefs(own: string): Promise<RepositoryRefs> {
  const answer = await askRepository(own, ['for-each-ref', '--format=%(refname)%00%(objectname)%00%(symref)']);
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
  const text = readHead(own);
  const name = branchOf(text);
  return (name === undefined ? text : refs.get(name)) || null;
}

/** Returns the ref that is checked out in a working tree; undefined for a commit, or without HEAD. `own` as above. */
export const headBranch = (own: string): string | undefined => branchOf(readHead(own));

const readHead = (own: string): string =>
  readRegularFileSync(paths.join(own, 'HEAD'), maxHeadBytes)?.toString('utf8').trim() ?? '';

const branchOf = (head: string): string | undefined => /^ref: (.+)$/.exec(head)?.[1];

/**
 * Hashes the entries of an index, without the times and sizes of files. Rejects for a damaged index.
 * @param own folder of the working tree's own state
 * @param index absolute path of the index or of a copy; a missing file is an empty index
 */
export async function hashIndexEntries(own: string, index: string): Promise<string> {
  const listing = await askRepository(own, ['ls-files', '-s', '-v', '-z'], '', { GIT_INDEX_FILE: index });
  return createHash('sha256').update(listing).digest('hex');
}

/** Tests for an index of a working tree, by its path relative to the common folder. */
export const isIndexFile = (name: string): boolean => /^(worktrees\/[^/]+\/)?index$/.test(name);

/** Tests for a log of a ref, by its path relative to the common folder. */
export const isRefLog = (name: string): boolean => /^(worktrees\/[^/]+\/)?logs\//.test(name);

/** Tests for a ref that mirrors a branch of a remote. */
export const isRemoteRef = (name: string): boolean => name.startsWith('refs/remotes/');

/**
 * Tests for a file that says what the working tree stands on, by its name in a change: HEAD, the index, the log of the stash, which holds its
 * entries, or the `.git` file of a working tree. A repository goes back with these files or not at all.
 */
export const isDecisiveFile = (name: string): boolean =>
  isIndexFile(name) || /^((worktrees\/[^/]+\/)?HEAD|logs\/refs\/stash|(.*\/)?\.git)$/.test(name);
