import { lstat, opendir, readdir, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as paths from 'node:path';
import { byteSizeMessage } from '../../../protocol/text/byteSizes.ts';
import { type LocalizedMessage, localizedCount, message } from '../../../protocol/text/l10n.ts';
import { joinLocalizableTexts } from '../../../protocol/text/localized.ts';
import { raceWithAbort } from '../../../protocol/values/abort.ts';
import type { PlannedDataLoss } from '../../core/tool.ts';
import type { WorkspaceRoot } from '../../core/workspace.ts';
import { linesWithoutEndings } from '../../sandbox/fileText.ts';
import { readRegularFile } from '../../sandbox/regularFile.ts';
import { isStandardStreamPath } from '../devices.ts';
import { temporaryFolders } from '../outputFiles.ts';
import { findPotentialDataLosses, type PotentialLoss } from './claims.ts';
import type { CoverageAnswer, FileCoverage } from './coverage.ts';
import { findGitDataLoss, isIrreplaceable, resolveGitAlias, type UnreachableCommits } from './gitClaims.ts';
import { findGitRepositoryRoot, type GitStatusEntry, IsolatedGitRepository } from './repository.ts';

// Milliseconds to wait for the loss of a command.
const limit = 1000;
// Maximum paths to check with Git, and maximum files to count without Git.
const maxPaths = 200;
const shownNames = 3;

/**
 * Returns a finder for data without a copy elsewhere that a command would discard: uncommitted changes, untracked files not ignored,
 * commits of a single branch; without a repository, every file. The finder returns undefined for no loss. Returns undefined if the command
 * names nothing to discard.
 * @param folder working folder, absolute
 * @param covers tells whether an undo of the command will restore these files (absolute paths)
 */
export async function createDataLossFinder(
  roots: readonly Pick<WorkspaceRoot, 'path'>[],
  folder: string,
  command: string,
  milliseconds = limit,
  covers: FileCoverage = async () => ({ isWhole: false }),
): Promise<(() => Promise<PlannedDataLoss | undefined>) | undefined> {
  const claims = await findPotentialDataLosses(command, around(folder));
  return claims.length > 0 ? () => lossOf(roots, claims, milliseconds, covers) : undefined;
}

/**
 * Tests if a command may remove the repository of an open folder or parts of it, or cannot be read.
 * @param folder working folder, absolute
 */
export async function mayRemoveRepository(
  roots: readonly Pick<WorkspaceRoot, 'path'>[],
  folder: string,
  command: string,
): Promise<boolean> {
  if (/\.git(?![\w-])/.test(command)) return true;
  const claims = await findPotentialDataLosses(command, around(folder));
  return claims.some((claim) => {
    if (claim.kind === 'unknown') return true;
    if (claim.kind !== 'delete' && claim.kind !== 'some') return false;
    return roots.some(({ path }) => path === claim.path || path.startsWith(withEnd(claim.path)));
  });
}

async function lossOf(
  roots: readonly Pick<WorkspaceRoot, 'path'>[],
  claims: readonly PotentialLoss[],
  milliseconds: number,
  covers: FileCoverage,
): Promise<PlannedDataLoss | undefined> {
  const open = await Promise.all(roots.map(({ path }) => realpath(path).catch(() => path)));
  const signal = AbortSignal.timeout(milliseconds);
  try {
    return await plannedLoss(await raceWithAbort(lostBy(claims, signal), signal), open, covers);
  } catch {
    return unknownLoss; // also if Git is missing or fails: a loss cannot be excluded
  }
}

const around = (folder: string) => ({ folder, home: homedir(), platform: process.platform });

const unknownLoss: PlannedDataLoss = { text: message('Could not determine what this command discards.'), items: ['?'] };

/**
 * All lost data, with absolute paths, grouped for the sentences of the approval. `deleted` are files unknown to Git; `deletedInAll` counts
 * all deleted files.
 */
interface Lost {
  unknown: boolean;
  deleted: Set<string>;
  deletedInAll: number;
  overwritten: Set<string>;
  discarded: Set<string>;
  overwrittenChanges: Set<string>;
  inGit: boolean;
  /** Some of it is certainly in no record: a repository itself. */
  isBeyondRecord: boolean;
  /** Repositories (absolute path of the working tree) with a part of it in their own state: the index, a stash, a branch, a merge. */
  repositories: Set<string>;
  stashed: Set<string>;
  stashEntries: number;
  commits: UnreachableCommits[];
}

async function lostBy(claims: readonly PotentialLoss[], signal: AbortSignal): Promise<Lost> {
  const lost: Lost = {
    unknown: false,
    deleted: new Set(),
    deletedInAll: 0,
    overwritten: new Set(),
    discarded: new Set(),
    overwrittenChanges: new Set(),
    inGit: false,
    isBeyondRecord: false,
    repositories: new Set(),
    stashed: new Set(),
    stashEntries: 0,
    commits: [],
  };
  const repositories = new Map<string, IsolatedGitRepository>();
  const repositoryOf = (file: string): IsolatedGitRepository | undefined => {
    const top = findGitRepositoryRoot(file);
    if (top === undefined) return undefined;
    const known = repositories.get(top) ?? new IsolatedGitRepository(top, signal);
    repositories.set(top, known);
    return known;
  };
  const deletes = new Map<string, (relative: string) => boolean>();
  const writes = new Map<string, 'overwrite' | 'edit'>();
  const all: PotentialLoss[] = [];
  for (const claim of claims) all.push(...(await withoutAlias(claim, repositoryOf)));
  for (const claim of all) {
    signal.throwIfAborted();
    if (claim.kind === 'unknown') lost.unknown = true;
    else if (claim.kind === 'git') await addGit(lost, claim, repositoryOf);
    else if (claim.kind === 'some') lost.unknown ||= await holdsWork(claim.path, repositoryOf);
    else if (claim.kind === 'copy')
      for (const { path, isGone } of await replacedBy(claim, signal))
        if (isGone) deletes.set(path, () => true);
        else writes.set(path, 'overwrite');
    else {
      const path = await existingPath(claim.path, claim.kind === 'delete');
      if (path === undefined) continue;
      if (claim.kind === 'delete') deletes.set(path, claim.only ?? (() => true));
      else writes.set(path, writes.get(path) ?? claim.kind);
    }
  }
  if (deletes.size + writes.size > maxPaths) throw new Error('These are too many paths.');
  for (const [repository, files] of grouped([...deletes.keys()], repositoryOf))
    await addDeleted(lost, repository, files, deletes, signal);
  for (const [repository, files] of grouped([...writes.keys()], repositoryOf))
    await addWritten(lost, repository, files, writes);
  const collects = all.some((claim) => claim.kind === 'git' && collectsGarbage.has(claim.command));
  lost.isBeyondRecord ||= collects && lost.repositories.size > 0;
  return lost;
}

// Nested aliases are not followed.
async function withoutAlias(
  claim: PotentialLoss,
  repositoryOf: (file: string) => IsolatedGitRepository | undefined,
): Promise<readonly PotentialLoss[]> {
  const repository = claim.kind === 'git' ? repositoryOf(claim.folder) : undefined;
  if (claim.kind !== 'git' || !repository) return [claim];
  const alias = await resolveGitAlias(repository, claim.command);
  if (alias === undefined) return [claim];
  const rest = claim.args.map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  // A shell alias runs in the root of the repository, a Git alias in the working folder.
  return alias.startsWith('!')
    ? findPotentialDataLosses([alias.slice(1), ...rest].join(' '), around(repository.top))
    : findPotentialDataLosses(['git', alias, ...rest].join(' '), around(claim.folder));
}

// Groups paths by repository. A nested repository belongs to the surrounding repository.
function grouped(files: readonly string[], repositoryOf: (file: string) => IsolatedGitRepository | undefined) {
  const groups = new Map<IsolatedGitRepository | undefined, string[]>();
  for (const file of files) {
    const repository = repositoryOf(paths.dirname(file)) ?? repositoryOf(file);
    groups.set(repository, [...(groups.get(repository) ?? []), file]);
  }
  return groups;
}

// Deleting a link does not delete its target.
async function existingPath(path: string, isDelete: boolean): Promise<string | undefined> {
  if (isStandardStreamPath(path)) return undefined;
  const real = await realpath(isDelete ? paths.dirname(path) : path).catch(() => undefined);
  if (real === undefined) return undefined;
  const file = isDelete ? paths.join(real, paths.basename(path)) : real;
  const stats = await lstat(file).catch(() => undefined);
  const hasContent = stats && (stats.isFile() ? stats.size > 0 : stats.isDirectory() && isDelete);
  return hasContent && !isTemporary(file) ? file : undefined;
}

// Tests for temporary files, which are expendable unless the workspace contains them.
const isTemporary = (path: string): boolean => temporaryFolders().includes(paths.dirname(path));

async function holdsWork(
  folder: string,
  repositoryOf: (file: string) => IsolatedGitRepository | undefined,
): Promise<boolean> {
  const real = await realpath(folder).catch(() => undefined);
  const repository = real === undefined ? undefined : repositoryOf(real);
  if (repository) return (await repository.changesOf([real!])).some((one) => isUntracked(one) || isChanged(one));
  const file = await existingPath(folder, true);
  if (file === undefined) return false;
  return (await readdir(file)).length > 0;
}

// Git commands that remove objects, also of commits that were discarded before.
const collectsGarbage = new Set(['gc', 'maintenance', 'repack', 'prune']);

/** Tests for a Git command that discards nothing but contents of the working tree that the index has otherwise. */
const restoresFromIndex = (command: string, args: readonly string[]): boolean => {
  const end = args.indexOf('--');
  const options = (end < 0 ? args : args.slice(0, end)).filter((one) => one.startsWith('-'));
  if (command === 'clean') return true;
  if (command === 'restore') return options.every((one) => /^(-W|--worktree|-q|--quiet)$/.test(one));
  // Without `--`, the first of several words may be a revision.
  const isOfIndex = end < 0 ? args.length - options.length === 1 : end === options.length;
  return command === 'checkout' && isOfIndex && options.every((one) => /^(-q|--quiet)$/.test(one));
};

async function addGit(
  lost: Lost,
  { folder, command, args }: Extract<PotentialLoss, { kind: 'git' }>,
  repositoryOf: (file: string) => IsolatedGitRepository | undefined,
): Promise<void> {
  const repository = repositoryOf(folder);
  const found = repository && (await findGitDataLoss(repository, folder, command, args));
  if (!found) return;
  lost.inGit = true;
  if (!restoresFromIndex(command, args)) lost.repositories.add(repository.top);
  lost.isBeyondRecord ||= command === 'worktree';
  for (const path of found.discarded ?? []) lost.discarded.add(path);
  for (const path of found.deleted ?? []) lost.deleted.add(path);
  lost.deletedInAll += found.deleted?.length ?? 0;
  for (const path of found.stashed ?? []) lost.stashed.add(path);
  lost.stashEntries += found.stashEntries ?? 0;
  if (found.commits) lost.commits.push(found.commits);
}

async function addDeleted(
  lost: Lost,
  repository: IsolatedGitRepository | undefined,
  files: readonly string[],
  only: ReadonlyMap<string, (relative: string) => boolean>,
  signal: AbortSignal,
): Promise<void> {
  const isMeant = (path: string) =>
    files.some(
      (file) => path === file || (path.startsWith(withEnd(file)) && only.get(file)!(paths.relative(file, path))),
    );
  if (!repository) {
    for (const file of files)
      for await (const path of filesBelow(file, signal)) {
        if (!isMeant(path)) continue;
        lost.deleted.add(path);
        lost.deletedInAll += 1;
        if (lost.deleted.size > maxPaths) return;
      }
    return;
  }
  lost.inGit = true;
  const { top } = repository;
  lost.isBeyondRecord ||= files.some((file) => top === file || top.startsWith(withEnd(file)) || file.endsWith('/.git'));
  const entries = (await repository.changesOf(files)).filter(({ path }) => isMeant(path));
  for (const entry of entries)
    if (isUntracked(entry)) lost.deleted.add(entry.path);
    else if (isChanged(entry)) lost.discarded.add(entry.path);
  for (const path of await repository.ignoredBelow(files))
    if (isMeant(path) && isIrreplaceable(repository.top, path)) lost.deleted.add(path);
  const isNarrowed = files.some((file) => !only.get(file)!(''));
  lost.deletedInAll +=
    lost.deleted.size + (lost.deleted.size > 0 && !isNarrowed ? await repository.trackedBelow(files) : 0);
}

async function addWritten(
  lost: Lost,
  repository: IsolatedGitRepository | undefined,
  files: readonly string[],
  kinds: ReadonlyMap<string, 'overwrite' | 'edit'>,
): Promise<void> {
  if (!repository) {
    for (const file of files) lost.overwritten.add(file);
    return;
  }
  lost.inGit = true;
  for (const entry of await repository.changesOf(files))
    if (isUntracked(entry)) lost.overwritten.add(entry.path);
    else if (isChanged(entry))
      (kinds.get(entry.path) === 'edit' ? lost.overwrittenChanges : lost.discarded).add(entry.path);
  for (const path of await repository.ignoredBelow(files))
    if (isIrreplaceable(repository.top, path)) lost.overwritten.add(path);
}

const isUntracked = ({ index }: GitStatusEntry): boolean => index === '?';
const isChanged = ({ index, file }: GitStatusEntry): boolean => /[MTARCU]/.test(index) || /[MTAU]/.test(file);

// Returns the files replaced and deleted by a copy. Throws above the limit.
async function replacedBy({ from, to, deletes }: Extract<PotentialLoss, { kind: 'copy' }>, signal: AbortSignal) {
  const replaced: { path: string; isGone: boolean }[] = [];
  let seen = 0;
  for await (const path of filesBelow(to, signal)) {
    seen += 1;
    if (seen > maxPaths * 10 || replaced.length > maxPaths) throw new Error('These are too many files.');
    const relative = paths.relative(to, path);
    const isGiven = await lstat(paths.join(from, relative)).then(
      () => true,
      () => false,
    );
    const file = isGiven || deletes ? await existingPath(path, !isGiven) : undefined;
    if (file !== undefined) replaced.push({ path: file, isGone: !isGiven });
  }
  return replaced;
}

// Never follows a link.
async function* filesBelow(path: string, signal: AbortSignal): AsyncGenerator<string> {
  signal.throwIfAborted();
  const stats = await lstat(path).catch(() => undefined);
  if (!stats) return;
  if (!stats.isDirectory()) {
    yield path;
    return;
  }
  for await (const entry of await opendir(path)) yield* filesBelow(paths.join(path, entry.name), signal);
}

async function plannedLoss(
  lost: Lost,
  roots: readonly string[],
  covers: FileCoverage,
): Promise<PlannedDataLoss | undefined> {
  const names = (all: ReadonlySet<string>): string | LocalizedMessage =>
    namesIn([...all].map((path) => nameOf(path, roots)).sort());
  const files = (all: ReadonlySet<string>): LocalizedMessage => localizedCount(all.size, 'file');
  const { deleted, overwritten, discarded, overwrittenChanges, stashed } = lost;
  const sentences: LocalizedMessage[] = [];
  if (discarded.size > 0)
    sentences.push(message('Discards uncommitted changes in {0}: {1}.', files(discarded), names(discarded)));
  if (overwrittenChanges.size > 0)
    sentences.push(
      message('Overwrites uncommitted changes in {0}: {1}.', files(overwrittenChanges), names(overwrittenChanges)),
    );
  if (deleted.size > 0) {
    const isPart = lost.deletedInAll > deleted.size;
    const inAll = isPart ? localizedCount(lost.deletedInAll, 'file') : files(deleted);
    sentences.push(
      isPart
        ? message('Deletes {0}, {1} of them not in Git: {2}.', inAll, deleted.size, names(deleted))
        : lost.inGit
          ? message('Deletes {0}, not in Git: {1}.', inAll, names(deleted))
          : deleted.size > maxPaths
            ? message('Deletes more than {0} files: {1}.', maxPaths, names(deleted))
            : message('Deletes {0}: {1}.', inAll, names(deleted)),
    );
  }
  if (overwritten.size > 0) sentences.push(await overwrites(overwritten, lost.inGit, names));
  const goneSentences = sentences.length;
  const isGone = goneSentences > 0;
  if (stashed.size > 0)
    sentences.push(message('Moves changes in {0} to the Git stash: {1}.', files(stashed), names(stashed)));
  if (lost.stashEntries > 0)
    sentences.push(message('Deletes {0} of the Git stash.', localizedCount(lost.stashEntries, 'entry', 'entries')));
  for (const { ref, count, kind } of lost.commits)
    sentences.push(commitSentences[kind](ref, localizedCount(count, 'commit')));
  const gone = [...discarded, ...overwrittenChanges, ...deleted, ...overwritten];
  const promised = [...gone, ...stashed, ...[...lost.repositories].map((top) => paths.join(top, '.git'))];
  const isPushed = lost.commits.some(({ isRemote }) => isRemote);
  const isKnown = !lost.unknown && !isPushed && !lost.isBeyondRecord && gone.length < maxPaths;
  const coverage: CoverageAnswer = sentences.length > 0 && isKnown ? await covers(promised) : { isWhole: false };
  if (isPushed) sentences.push(message('A push cannot be undone.'));
  else if (coverage.isWhole) sentences.push(message('Undo restores them.'));
  else if (coverage.large) sentences.push(...coverage.large.slice(0, shownNames).map((one) => tooLarge(one, roots)));
  else if (coverage.reason && (isGone || lost.stashEntries + lost.commits.length > 0)) sentences.push(coverage.reason);
  else if (isGone) sentences.splice(goneSentences, 0, message('Cannot be undone.')); // commits are still in the logs
  if (lost.unknown) sentences.push(unknownLoss.text as LocalizedMessage);
  if (sentences.length === 0) return undefined;
  const items = [
    ...[...discarded, ...overwrittenChanges].map((path) => `changes ${path}`),
    ...[...deleted, ...overwritten].map((path) => `file ${path}`),
    ...[...stashed].map((path) => `stash ${path}`),
    ...(lost.stashEntries > 0 ? [`entries ${lost.stashEntries}`] : []),
    ...lost.commits.map(({ ref, count }) => `commits ${ref} ${count}`),
    ...(lost.unknown ? unknownLoss.items : []),
  ];
  return {
    text: joinLocalizableTexts(sentences),
    items,
    ...(coverage.isWhole && { promised }),
    ...(coverage.isWhole && lost.repositories.size === 0 && { isCertain: true as const }),
  };
}

const tooLarge = ({ path, bytes }: { path: string; bytes: number }, roots: readonly string[]): LocalizedMessage =>
  message('{0}, {1}, cannot be restored.', nameOf(path, roots), byteSizeMessage(bytes));

const commitSentences = {
  moves: (ref: string, commits: LocalizedMessage) => message('Moves branch {0} back by {1}.', ref, commits),
  deletes: (ref: string, commits: LocalizedMessage) =>
    message('Deletes {0} with {1} not contained in any other branch or tag.', ref, commits),
  removes: (ref: string, commits: LocalizedMessage) => message('Removes {1} from branch {0}.', ref, commits),
};

async function overwrites(
  all: ReadonlySet<string>,
  inGit: boolean,
  names: (all: ReadonlySet<string>) => string | LocalizedMessage,
): Promise<LocalizedMessage> {
  const [only] = all;
  const count = all.size === 1 ? await lineCount(only!) : undefined;
  if (count === undefined) {
    const files = localizedCount(all.size, 'file');
    return inGit
      ? message('Overwrites {0}, not in Git: {1}.', files, names(all))
      : message('Overwrites {0}: {1}.', files, names(all));
  }
  const lines = localizedCount(count, 'line');
  return inGit
    ? message('Overwrites {0} ({1}, not in Git).', names(all), lines)
    : message('Overwrites {0} ({1}).', names(all), lines);
}

function namesIn(all: readonly string[]): string | LocalizedMessage {
  const first = all.slice(0, shownNames).join(', ');
  const more = all.length - shownNames;
  return more > 0 ? message('{0} and {1} more', first, more) : first;
}

function nameOf(path: string, roots: readonly string[]): string {
  const root = roots.find((one) => path.startsWith(withEnd(one)));
  return root ? paths.relative(root, path).replaceAll(paths.sep, '/') : path;
}

// Maximum bytes of a file whose lines are counted.
const maxCounted = 2_000_000;

async function lineCount(path: string): Promise<number | undefined> {
  const bytes = await readRegularFile(path, maxCounted).catch(() => undefined);
  return bytes && linesWithoutEndings(bytes.toString('latin1')).length;
}

const withEnd = (folder: string): string => (folder.endsWith(paths.sep) ? folder : folder + paths.sep);
