import { existsSync, promises as fs } from 'node:fs';
import path from 'node:path';
import { readRegularFile } from '../../tools/sandbox/regularFile.ts';
import { readCheckout, readGitLines, readGitOutput } from './checkout.ts';
import { parseTrackedFiles, parseWorktreeList } from './gitOutput.ts';
import { activationMarker } from './worktree.ts';
import type { WorktreeFacts } from './worktreeLosses.ts';

const usageFiles = ['HEAD', 'index', 'logs/HEAD', 'COMMIT_EDITMSG'];

/** Folders that an installation, a build or a cache creates again. */
const generatedFolders = new Set([
  ...['node_modules', 'bower_components', '.pnpm-store', '.venv', '__pycache__', 'dist', 'build', 'target', 'coverage'],
  ...['.next', '.nuxt', '.svelte-kit', '.gradle', '.cache', '.parcel-cache', '.turbo', '.vscode-test'],
  ...['.pytest_cache', '.mypy_cache', '.ruff_cache', '.tox'],
]);

const maxComparedBytes = 10_000_000;
const maxReflogCommits = 500;

/** Reads the state of a worktree (real, absolute path) without writing to it. Undefined if a command of Git fails. */
export async function readWorktreeFacts(root: string, folder: string): Promise<WorktreeFacts | undefined> {
  try {
    const checkout = await readCheckout(folder);
    if (!checkout) return undefined;
    const { topLevel, gitFolder, branch, changed, untracked, ignored } = checkout;
    const listed = parseWorktreeList(await readGitOutput(root, 'worktree', 'list', '--porcelain'));
    const entries = listed.filter((entry) => isSameFolder(entry.folder, folder));
    const tracked = parseTrackedFiles(await readGitOutput(folder, 'ls-files', '-z', '-v', '--stage'));
    const ownReferences = await readGitLines(
      folder,
      'for-each-ref',
      '--format=%(refname)',
      'refs/worktree',
      'refs/bisect',
      'refs/rewritten',
    );
    return {
      isLinked: entries.length === 1 && entries[0] !== listed[0] && isSameFolder(topLevel, folder),
      isLocked: entries.some(({ isLocked }) => isLocked) || existsSync(path.join(gitFolder, 'locked')),
      ...(branch !== undefined && { branch }),
      unfinished: [...checkout.unfinished, ...ownReferences],
      changed,
      untracked,
      uncompared: tracked.uncompared
        .filter(({ skipped, file }) => !skipped || existsSync(path.join(folder, file)))
        .map(({ file }) => file),
      ignored: await irreplaceable(ignored, root, folder),
      submodules: tracked.submodules,
      stashes: branch === undefined ? 0 : await stashesOf(folder, branch),
      unmerged: branch === undefined ? 0 : await unmergedCommits(folder, branch),
      unreferenced: await unreferencedCommits(folder, branch),
      usedAt: await lastUse([folder, ...usageFiles.map((name) => path.join(gitFolder, name))]),
    };
  } catch {
    return undefined;
  }
}

async function irreplaceable(ignored: readonly string[], root: string, folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const file of ignored) {
    const isGenerated = file
      .split('/')
      .slice(0, -1)
      .some((name) => generatedFolders.has(name));
    if (isGenerated || file === activationMarker || (await isCopy(path.join(folder, file), path.join(root, file))))
      continue;
    found.push(file);
  }
  return found;
}

/** Returns true for two plain files of equal content; links and folders differ. */
async function isCopy(file: string, original: string): Promise<boolean> {
  try {
    if (!(await fs.lstat(file)).isFile()) return false;
    const [one, other] = await Promise.all([
      readRegularFile(file, maxComparedBytes),
      readRegularFile(original, maxComparedBytes),
    ]);
    return one.equals(other);
  } catch {
    return false;
  }
}

/** Counts the entries whose description contains the name: a doubtful entry counts. */
async function stashesOf(folder: string, branch: string): Promise<number> {
  const name = branch.slice('refs/heads/'.length);
  const entries = await readGitLines(folder, 'stash', 'list', '--format=%gs');
  return entries.filter((entry) => entry.includes(name)).length;
}

async function unmergedCommits(folder: string, branch: string): Promise<number> {
  const name = branch.slice('refs/heads/'.length);
  return Number(
    await readGitOutput(folder, 'rev-list', '--count', branch, '--not', `--exclude=${name}`, '--branches', '--remotes'),
  );
}

/** Counts the commits that would be lost with the worktree's reflog; the branch keeps its own reflog. */
async function unreferencedCommits(folder: string, branch: string | undefined): Promise<number> {
  const reflog = (reference: string) => readGitLines(folder, 'log', '--walk-reflogs', '--format=%H', reference);
  const ofBranch = new Set(branch === undefined ? [] : await reflog(branch));
  const own = [...new Set(await reflog('HEAD'))].filter((commit) => !ofBranch.has(commit));
  if (own.length === 0 || own.length > maxReflogCommits) return own.length;
  return Number(await readGitOutput(folder, 'rev-list', '--count', ...own, '--not', '--glob=refs/*'));
}

async function lastUse(files: readonly string[]): Promise<number> {
  const times = files.map((file) =>
    fs.stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    ),
  );
  return Math.max(...(await Promise.all(times)));
}

/** Git writes slashes on Windows, too. */
const isSameFolder = (one: string, other: string) => path.resolve(one) === path.resolve(other);
