import { constants, existsSync } from 'node:fs';
import { lstat, readdir, rmdir } from 'node:fs/promises';
import * as paths from 'node:path';
import type { RefChange, RepositoryChange, RepositoryFileChange } from '../../protocol/content/repositoryChange.ts';
import { message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';
import { sweepTempFiles } from '../core/tempFiles.ts';
import { sha256 } from '../sandbox/fileText.ts';
import { removeTree } from '../sandbox/fileTree.ts';
import { openRegularFile } from '../sandbox/regularFile.ts';
import { createFile, replaceFile } from '../sandbox/writeFile.ts';
import {
  askRepository,
  findLinkedRepository,
  findRepository,
  hashIndexEntries,
  headBranch,
  headCommit,
  isDecisiveFile,
  isIndexFile,
  isRefLog,
  isRemoteRef,
  type RepositoryFolders,
  type RepositoryRefs,
  readRefs,
} from './repositoryState.ts';

/** Access to stored contents by SHA-256. Rejects for a missing content. */
export interface RepositoryContents {
  read(id: string): Promise<Buffer>;
  store(content: Buffer): Promise<string>;
}

interface PreparedFile {
  change: RepositoryFileChange;
  file: string;
  found: Buffer | null;
  content: Buffer | null;
}

/** Working tree of a change; `trees` are the folders of the `.git` files in the change, by name. Absolute. */
interface RepositoryLocation {
  folder: string;
  trees: ReadonlyMap<string, string>;
}

/** Change of a repository whose current state allows it; `refs` and `files` are those that remain to be changed. */
export interface PreparedRepositoryChange {
  location: RepositoryLocation;
  found: RepositoryFolders;
  change: RepositoryChange;
  refs: RefChange[];
  files: PreparedFile[];
  /** Names of files that something else has changed since, and that stay. */
  left: string[];
}

/**
 * Checks that a repository is in the state `before` of a change, or between `before` and `after`. Later entries of logs, refs of remotes that
 * have moved, and files that only have changed beside (settings, hooks, notes of Git) stay. Throws `UserFacingError` if something else has
 * moved a ref or HEAD, staged files or changed the stash.
 * @param known the repository, if its working tree may be gone by now
 */
export async function prepareRepositoryChange(
  location: RepositoryLocation,
  change: RepositoryChange,
  contents: RepositoryContents,
  known?: RepositoryFolders,
): Promise<PreparedRepositoryChange> {
  const found =
    known ??
    (await findRepositoryOfChange(location, change, contents).catch(() => {
      throw new UserFacingError(message('The Git repository is missing or cannot be read.'));
    }));
  const now = await readRefs(found.own);
  const refs = change.refs.filter(({ name, before, after }) => {
    const value = now.get(name) ?? null;
    if (value === before || value === after) return value !== after;
    if (isRemoteRef(name)) return false;
    throw new UserFacingError(message('{0} has moved since.', shortRef(name)));
  });
  const { before, after } = change.head;
  const head = headCommit(found.own, now);
  const isBegun = change.refs.some(({ name, after }) => !isRemoteRef(name) && (now.get(name) ?? null) === after);
  if (!isBegun && head !== before && head !== after) throw new UserFacingError(message('{0} has moved since.', 'HEAD'));
  await checkDescendants(found, change, now);
  await checkWorkingTrees(found.common, change, refs);
  const files: PreparedFile[] = [];
  const left: string[] = [];
  for (const one of change.files) {
    const file = one.isLink ? linkIn(location, one.name) : fileIn(found.common, one.name);
    const current = await readCurrent(file);
    const isBetween = current !== undefined && isStashLogBetween(change, one, current.bytes);
    const isTaken = one.isLink && !current && existsSync(file);
    const state = isBetween ? 'before' : isTaken ? 'other' : await stateOf(file, one, current);
    if (state === 'before') {
      const content = one.after === null ? null : await contents.read(one.after);
      files.push({ change: one, file, found: current?.bytes ?? null, content });
    } else if (state === 'other') {
      if (isIndexFile(one.name)) throw new UserFacingError(message('You have staged other changes since.'));
      if (isDecisiveFile(one.name)) throw new UserFacingError(message('{0} has changed since.', one.name));
      left.push(one.name);
    }
  }
  return { location, found, change, refs, files, left };
}

/** Finds the repository by its working tree, or by the recorded `.git` file that the tree lacks. Rejects without one. */
async function findRepositoryOfChange(
  { folder, trees }: RepositoryLocation,
  { files }: RepositoryChange,
  contents: RepositoryContents,
): Promise<RepositoryFolders> {
  const link = files.find(({ name, isLink }) => isLink && trees.get(name) === folder);
  const id = link?.after ?? link?.before;
  if (id && !existsSync(paths.join(folder, '.git'))) return findLinkedRepository(folder, await contents.read(id));
  const found = await findRepository(folder);
  if (found.top !== folder) throw new Error('The folder belongs to another repository.');
  return found;
}

// Git adds an entry to the log of the stash when an undo moves its ref. An interrupted undo leaves that entry.
function isStashLogBetween({ refs }: RepositoryChange, { name, before }: RepositoryFileChange, bytes: Buffer): boolean {
  const stash = refs.find((one) => one.name === 'refs/stash');
  if (name !== 'logs/refs/stash' || !stash) return false;
  const end = bytes.lastIndexOf('\n', bytes.length - 2) + 1;
  const isOwn = bytes.toString('latin1', end).startsWith(`${stash.before} ${stash.after} `);
  return isOwn && sha256(bytes.subarray(0, end)) === before;
}

// A commit that another ref has been built on stays reachable by its branch.
async function checkDescendants(
  { own }: RepositoryFolders,
  change: RepositoryChange,
  now: RepositoryRefs,
): Promise<void> {
  const changed = new Set(change.refs.map(({ name }) => name));
  for (const { name, before, isNew } of change.refs) {
    if (!isNew || before === null || now.get(name) !== before) continue;
    const answer = await askRepository(own, ['for-each-ref', `--contains=${before}`, '--format=%(refname)']);
    const other = answer.split('\n').find((one) => one !== '' && !changed.has(one) && !isRemoteRef(one));
    if (other !== undefined) throw new UserFacingError(message('{0} contains its commits.', shortRef(other)));
  }
}

// A branch that a working tree has checked out is not deleted, unless the change also checks out another there, or removes the tree.
async function checkWorkingTrees(
  common: string,
  { files }: RepositoryChange,
  refs: readonly RefChange[],
): Promise<void> {
  const deleted = new Set(refs.flatMap(({ name, after }) => (after === null ? [name] : [])));
  if (deleted.size === 0) return;
  const linked = await readdir(paths.join(common, 'worktrees')).catch(() => []);
  for (const tree of ['', ...linked.map((name) => `worktrees/${name}/`)]) {
    const branch = headBranch(paths.join(common, tree));
    if (branch === undefined || !deleted.has(branch) || files.some(({ name }) => name === `${tree}HEAD`)) continue;
    throw new UserFacingError(message('{0} is checked out.', shortRef(branch)));
  }
}

/**
 * Applies a change after another check: refs by compare-and-swap in one transaction, without hooks, and files under the locks of Git. Returns
 * what it changed, with the contents that it replaced stored. Throws `UserFacingError` if the repository has changed meanwhile: before the
 * first change, unless Git takes the lock of HEAD in between. An interrupted change can be repeated.
 * @param owner content of the locks, by which a repeated change knows its own. Only one change of an owner is at work.
 */
export async function changeRepository(
  { location, change, found: { common, own, top } }: PreparedRepositoryChange,
  contents: RepositoryContents,
  owner: string,
): Promise<RepositoryChange> {
  const { refs, files, left } = await prepareRepositoryChange(location, change, contents, { common, own, top });
  const lock = Buffer.from(`${owner}\n`);
  const stored: RepositoryFileChange[] = [];
  for (const { change: one, found } of files)
    stored.push({ ...one, before: found === null ? null : await contents.store(found) });
  // Deletions come first, because a folder may become a file; logs last, because Git adds an entry for each ref.
  const inOrder = files
    .filter((one) => !one.change.isLink)
    .sort((one, other) => Number(one.content !== null) - Number(other.content !== null));
  const logs = inOrder.filter(({ change: one }) => isRefLog(one.name));
  // Git takes the lock of HEAD itself to move its branch.
  const heads = inOrder.filter((one) => !logs.includes(one) && paths.basename(one.file) === 'HEAD');
  const others = inOrder.filter((one) => !logs.includes(one) && !heads.includes(one));
  await underLocks(common, others, lock, async () => {
    await updateRefs(own, common, refs);
    await underLocks(common, heads, lock, async () => {
      for (const one of [...heads, ...others]) await write(common, one);
    });
    for (const one of logs) await write(common, one);
    for (const one of files) if (one.change.isLink) await writeLink(one);
  });
  for (const { name } of change.files) await removeLeftovers(fileIn(common, name), lock);
  const done = new Set(files.map(({ change: one }) => one.name));
  return {
    ...change,
    refs: [...refs, ...change.refs.filter((one) => !refs.includes(one) && !isRemoteRef(one.name))],
    files: [...stored, ...change.files.filter(({ name }) => !done.has(name) && !left.includes(name))],
  };
}

async function updateRefs(own: string, common: string, refs: readonly RefChange[]): Promise<void> {
  const isSymbolic = ({ before, after }: RefChange) => [before, after].some((one) => one?.startsWith('ref: '));
  const plain = refs.filter((one) => !isSymbolic(one));
  const deletions = plain
    .filter(({ after }) => after === null)
    .map(({ name, before }) => `delete ${name}\0${before}\0`);
  const moves = plain
    .filter(({ after }) => after !== null)
    .map(({ name, before, after }) =>
      before === null ? `create ${name}\0${after}\0` : `update ${name}\0${after}\0${before}\0`,
    );
  const verifications = plain
    .filter(({ before, after }) => before !== null && after !== null)
    .map(({ name, before }) => `verify ${name}\0${before}\0`);
  const run = async (commands: readonly string[]) => {
    const options = ['-c', 'core.logAllRefUpdates=false'];
    if (commands.length > 0)
      await askRepository(own, [...options, 'update-ref', '--no-deref', '--stdin', '-z'], commands.join(''));
  };
  try {
    await run([...deletions, ...moves]).catch(async (error) => {
      // A branch cannot replace a folder of branches in the transaction that deletes them.
      if (!hasNestedNames(plain)) throw error;
      await run([...deletions, ...verifications]);
      await run(moves);
    });
  } catch {
    const names = ['HEAD', 'packed-refs', ...refs.map(({ name }) => name)];
    const locked = names.find((name) => existsSync(paths.join(common, `${name}.lock`)));
    if (locked) throw new UserFacingError(message('Git is busy: {0} exists.', `${locked}.lock`));
    throw new UserFacingError(message('Git refused to move the branches back.'));
  }
  for (const { name, after } of refs.filter(isSymbolic)) {
    const target = after?.startsWith('ref: ') ? after.slice('ref: '.length) : undefined;
    if (after === null) await askRepository(own, ['symbolic-ref', '--delete', name]);
    else if (target !== undefined) await askRepository(own, ['symbolic-ref', name, target]);
    else await askRepository(own, ['update-ref', '--no-deref', name, after]);
  }
}

const hasNestedNames = (refs: readonly RefChange[]): boolean =>
  refs.some(({ name }) => refs.some((other) => other.name.startsWith(`${name}/`)));

/** Works under the locks of these files, whose contents are checked under them. Locks of an interrupted change are taken over. */
async function underLocks(
  common: string,
  files: readonly PreparedFile[],
  content: Buffer,
  work: () => Promise<void>,
): Promise<void> {
  const locks: string[] = [];
  try {
    for (const { file, found, change } of files) {
      const lock = `${file}.lock`;
      await createFile(lock, content).catch(async (error) => {
        if (await isLockOf(lock, content)) return;
        throw new UserFacingError(message('Git is busy: {0} exists.', `${change.name}.lock`), { cause: error });
      });
      locks.push(lock);
      const now = await readCurrent(file);
      if (!isSameContent(now?.bytes ?? null, found))
        throw new UserFacingError(message('{0} has changed since.', change.name));
    }
    await work();
  } finally {
    for (const lock of locks) {
      await removeTree(lock);
      await removeEmptyFolders(common, lock);
    }
  }
}

const isLockOf = async (lock: string, content: Buffer): Promise<boolean> =>
  isSameContent((await readCurrent(lock).catch(() => undefined))?.bytes ?? null, content);

/** Removes a lock and temporary files that an interrupted change has left beside a file. */
async function removeLeftovers(file: string, lock: Buffer): Promise<void> {
  await sweepTempFiles(paths.dirname(file));
  if (await isLockOf(`${file}.lock`, lock)) await removeTree(`${file}.lock`);
}

async function write(common: string, { change, file, content }: PreparedFile): Promise<void> {
  const now = await readCurrent(file);
  if (content === null) {
    if (now) await removeTree(file);
    await removeEmptyFolders(common, file);
  } else if (!now) await createFile(file, content, change.afterMode);
  else await replaceFile(file, content, change.afterMode);
}

async function writeLink({ change, file, found, content }: PreparedFile): Promise<void> {
  const now = await readCurrent(file);
  if (!isSameContent(now?.bytes ?? null, found))
    throw new UserFacingError(message('{0} has changed since.', change.name));
  if (content === null) return now && removeTree(file);
  await (now ? replaceFile(file, content, change.afterMode) : createFile(file, content, change.afterMode));
}

// Git takes an empty `rebase-merge` for a rebase.
async function removeEmptyFolders(common: string, file: string): Promise<void> {
  for (let folder = paths.dirname(file); folder.length > common.length; folder = paths.dirname(folder)) {
    const isRemoved = await rmdir(folder).then(
      () => true,
      () => false,
    );
    if (!isRemoved) return;
  }
}

async function stateOf(
  file: string,
  { name, before, after, mode, afterMode, listing }: RepositoryFileChange,
  current: CurrentFile | undefined,
): Promise<'before' | 'after' | 'other'> {
  const id = current ? sha256(current.bytes) : null;
  if (id === before && before === after) return current?.mode === mode && mode !== afterMode ? 'before' : 'after';
  if (id === after) return 'after';
  if (id === before) return 'before';
  // Entries of a log stay, except those of the stash, which are the stash.
  if (isRefLog(name) && !name.endsWith('logs/refs/stash')) return 'after';
  if (!listing) return 'other';
  const entries = await hashIndexEntries(paths.dirname(file), file).catch(() => undefined);
  return entries === listing.after ? 'after' : entries === listing.before ? 'before' : 'other';
}

interface CurrentFile {
  bytes: Buffer;
  mode: number;
}

const maxFileBytes = 500_000_000;

/** Reads a file; undefined if there is none. */
async function readCurrent(file: string): Promise<CurrentFile | undefined> {
  try {
    const { handle, stats } = await openRegularFile(file, constants.O_NOFOLLOW ?? 0);
    try {
      if (stats.size > maxFileBytes) throw new UserFacingError(message('{0} is too large.', paths.basename(file)));
      return { bytes: await handle.readFile(), mode: stats.mode & 0o7777 };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || (await isFolder(file))) return undefined;
    throw error;
  }
}

const isFolder = (path: string): Promise<boolean> =>
  lstat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );

/** Throws for a name that leads out of the repository, or to its objects. */
function fileIn(common: string, name: string): string {
  const segments = name.split('/');
  const isOutside = segments.some((one) => ['', '.', '..'].includes(one)) || segments[0] === 'objects';
  if (isOutside || paths.isAbsolute(name)) throw new Error('The record names a file outside of the repository.');
  return paths.join(common, ...segments);
}

/** Throws for a name that is not the `.git` file of a known folder. */
function linkIn({ trees }: RepositoryLocation, name: string): string {
  const folder = trees.get(name);
  if (folder === undefined || paths.posix.basename(name) !== '.git')
    throw new Error('The record names a file outside of the working trees.');
  return paths.join(folder, '.git');
}

const isSameContent = (one: Buffer | null, other: Buffer | null): boolean =>
  one === null || other === null ? one === other : one.equals(other);

const shortRef = (name: string): string => name.replace(/^refs\/(heads|tags|remotes)\//, '');
