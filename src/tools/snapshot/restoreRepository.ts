import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, rmdir } from 'node:fs/promises';
import * as paths from 'node:path';
import type { RefChange, RepositoryChange, RepositoryFileChange } from '../../protocol/content/repositoryChange.ts';
import { message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';
import { removeTree } from '../sandbox/fileTree.ts';
import { openRegularFile } from '../sandbox/regularFile.ts';
import { createFile, replaceFile } from '../sandbox/writeFile.ts';
import { askGit } from './gitFiles.ts';
import {
  findRepository,
  hashIndexEntries,
  headCommit,
  isIndexFile,
  isRefLog,
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

/** Change of a repository whose current state allows it; `refs` and `files` are those that remain to be changed. */
export interface PreparedRepositoryChange {
  /** Working tree, absolute. */
  folder: string;
  common: string;
  change: RepositoryChange;
  refs: RefChange[];
  files: PreparedFile[];
}

/**
 * Checks that a repository is in the state `before` of a change, or between `before` and `after`. Throws `UserFacingError` if something else
 * has changed it.
 * @param folder working tree, absolute
 */
export async function prepareRepositoryChange(
  folder: string,
  change: RepositoryChange,
  contents: RepositoryContents,
): Promise<PreparedRepositoryChange> {
  const found = await findRepository(folder).catch(() => {
    throw new UserFacingError(message('The Git repository is missing or cannot be read.'));
  });
  const now = await readRefs(folder);
  const refs = change.refs.filter(({ name, before, after }) => {
    const value = now.get(name) ?? null;
    if (value !== before && value !== after) throw new UserFacingError(message('{0} has moved since.', shortRef(name)));
    return value !== after;
  });
  const { before, after } = change.head;
  const head = headCommit(found.own, now);
  const isBegun = refs.length < change.refs.length;
  if (!isBegun && head !== before && head !== after) throw new UserFacingError(message('{0} has moved since.', 'HEAD'));
  await checkDescendants(folder, change, now);
  const files: PreparedFile[] = [];
  for (const one of change.files) {
    const file = fileIn(found.common, one.name);
    const bytes = await readOrNull(file);
    const state = await stateOf(file, one, bytes);
    if (state === 'after') continue;
    if (state === 'before') {
      files.push({
        change: one,
        file,
        found: bytes,
        content: one.after === null ? null : await contents.read(one.after),
      });
      continue;
    }
    if (isRefLog(one.name)) continue; // has later entries, which stay
    if (isIndexFile(one.name)) throw new UserFacingError(message('You have staged other changes since.'));
    throw new UserFacingError(message('{0} has changed since.', one.name));
  }
  return { folder, common: found.common, change, refs, files };
}

// A commit that another ref has been built on stays reachable by its branch.
async function checkDescendants(folder: string, change: RepositoryChange, now: RepositoryRefs): Promise<void> {
  const own = new Set(change.refs.map(({ name }) => name));
  for (const { name, before, isNew } of change.refs) {
    if (!isNew || before === null || now.get(name) !== before) continue;
    const answer = await askGit(folder, ['for-each-ref', `--contains=${before}`, '--format=%(refname)']);
    const other = answer.split('\n').find((one) => one !== '' && !own.has(one) && !one.startsWith('refs/remotes/'));
    if (other !== undefined) throw new UserFacingError(message('{0} contains its commits.', shortRef(other)));
  }
}

/**
 * Applies a prepared change: refs by compare-and-swap in one transaction, without hooks, then files, under the locks of Git. Returns what it
 * changed, with the contents that it replaced stored. An interrupted change can be repeated. Throws `UserFacingError` if the repository
 * changes meanwhile.
 */
export async function changeRepository(
  { folder, common, change, refs, files }: PreparedRepositoryChange,
  contents: RepositoryContents,
): Promise<RepositoryChange> {
  const stored: RepositoryFileChange[] = [];
  for (const { change: one, found } of files)
    stored.push({ ...one, before: found === null ? null : await contents.store(found) });
  const done = new Set(files.map(({ change: one }) => one.name));
  const isLog = ({ change: one }: PreparedFile) => isRefLog(one.name);
  await updateRefs(folder, refs);
  // Deletions come first, because a folder may become a file; logs last, because Git adds an entry for each ref.
  const inOrder = [...files].sort((one, other) => Number(one.content !== null) - Number(other.content !== null));
  for (const one of inOrder) if (!isLog(one)) await writeUnderLock(common, one);
  for (const one of inOrder) if (isLog(one)) await write(common, one);
  return {
    ...change,
    files: [...stored, ...change.files.filter(({ name }) => !done.has(name))],
  };
}

async function updateRefs(folder: string, refs: readonly RefChange[]): Promise<void> {
  const isSymbolic = ({ before, after }: RefChange) => [before, after].some((one) => one?.startsWith('ref: '));
  const plain = refs.filter((one) => !isSymbolic(one));
  const commands = plain.map(({ name, before, after }) =>
    after === null
      ? `delete ${name}\0${before}\0`
      : before === null
        ? `create ${name}\0${after}\0`
        : `update ${name}\0${after}\0${before}\0`,
  );
  const isDeletion = (one: string) => one.startsWith('delete ');
  const run = async (some: readonly string[]) => {
    if (some.length > 0)
      await askGit(
        folder,
        ['-c', 'core.logAllRefUpdates=false', 'update-ref', '--no-deref', '--stdin', '-z'],
        some.join(''),
      );
  };
  // A branch cannot replace a folder of branches in the transaction that deletes them.
  await run(commands)
    .catch(async () => {
      await run(commands.filter(isDeletion));
      await run(commands.filter((one) => !isDeletion(one)));
    })
    .catch(() => {
      throw new UserFacingError(message('Git refused to move the branches back.'));
    });
  for (const { name, after } of refs.filter(isSymbolic)) {
    const target = after?.startsWith('ref: ') ? after.slice('ref: '.length) : undefined;
    if (after === null) await askGit(folder, ['symbolic-ref', '--delete', name]);
    else if (target !== undefined) await askGit(folder, ['symbolic-ref', name, target]);
    else await askGit(folder, ['update-ref', '--no-deref', name, after]);
  }
}

async function writeUnderLock(common: string, one: PreparedFile): Promise<void> {
  const lock = `${one.file}.lock`;
  await createFile(lock, Buffer.alloc(0)).catch((error) => {
    throw new UserFacingError(message('Git is busy: {0} exists.', `${one.change.name}.lock`), { cause: error });
  });
  try {
    const now = await readOrNull(one.file);
    if (!isSameContent(now, one.found)) throw new UserFacingError(message('{0} has changed since.', one.change.name));
    await write(common, one);
  } finally {
    await removeTree(lock);
    await removeEmptyFolders(common, lock);
  }
}

async function write(common: string, { change, file, content }: PreparedFile): Promise<void> {
  const now = await readOrNull(file);
  if (content === null) {
    if (now !== null) await removeTree(file);
    await removeEmptyFolders(common, file);
  } else if (now === null) await createFile(file, content, change.afterMode);
  else await replaceFile(file, content, change.afterMode);
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
  { before, after, listing }: RepositoryFileChange,
  bytes: Buffer | null,
): Promise<'before' | 'after' | 'other'> {
  const id = bytes === null ? null : createHash('sha256').update(bytes).digest('hex');
  if (id === after) return 'after';
  if (id === before) return 'before';
  if (!listing) return 'other';
  const entries = await hashIndexEntries(paths.dirname(file), file).catch(() => undefined);
  return entries === listing.after ? 'after' : entries === listing.before ? 'before' : 'other';
}

const maxFileBytes = 500_000_000;

async function readOrNull(file: string): Promise<Buffer | null> {
  try {
    const { handle, stats } = await openRegularFile(file, constants.O_NOFOLLOW ?? 0);
    try {
      if (stats.size > maxFileBytes) throw new UserFacingError(message('{0} is too large.', paths.basename(file)));
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || (await isFolder(file))) return null;
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

const isSameContent = (one: Buffer | null, other: Buffer | null): boolean =>
  one === null || other === null ? one === other : one.equals(other);

const shortRef = (name: string): string => name.replace(/^refs\/(heads|tags|remotes)\//, '');
