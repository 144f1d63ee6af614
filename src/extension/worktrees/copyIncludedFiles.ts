import { promises as fs } from 'node:fs';
import path from 'node:path';
import { resolvePath } from '../../tools/sandbox/paths.ts';
import { readRegularFile } from '../../tools/sandbox/regularFile.ts';
import { createFile } from '../../tools/sandbox/writeFile.ts';
import { readGitFiles } from './checkout.ts';

/** Patterns of ignored files to copy, in the syntax of `.gitignore`: a convention of several coding agents. */
const patternFile = '.worktreeinclude';
const defaultPatterns = ['.env', '.env.*'];
const [maxFiles, maxTotalBytes] = [1_000, 100_000_000];

/**
 * Copies files that Git ignores and the project needs from a repository's folder into a new worktree: those that `.worktreeinclude` matches, else
 * `.env` files. Copies only plain files that Git ignores in the worktree as well, and replaces none. Returns the files that could not be
 * copied.
 */
export async function copyIncludedFiles(root: string, folder: string): Promise<string[]> {
  const found = await includedFiles(root);
  if (found.length === 0) return [];
  const ignored = await readGitFiles(folder, ['check-ignore', '-z', '--stdin'], found);
  const failed = ignored.slice(maxFiles);
  let left = maxTotalBytes;
  for (const file of ignored.slice(0, maxFiles)) {
    const size = await copyFile(path.join(root, file), folder, file, left).catch(() => undefined);
    if (size === undefined) failed.push(file);
    else left -= size;
  }
  return failed;
}

async function includedFiles(root: string): Promise<string[]> {
  const patterns = path.join(root, patternFile);
  const hasPatterns = await fs.lstat(patterns).then(
    (stats) => stats.isFile(),
    () => false,
  );
  const options = hasPatterns ? [`--exclude-from=${patterns}`] : defaultPatterns.map((one) => `--exclude=${one}`);
  const found = await readGitFiles(root, ['ls-files', '-z', '--others', '--ignored', ...options]);
  const isInstalled = (file: string) => !hasPatterns && file.split('/').includes('node_modules');
  return found.filter((file) => !file.endsWith('/') && !isInstalled(file));
}

/** Returns the size; undefined for a link. Throws for a file that is too large, and for an existing copy. */
async function copyFile(source: string, folder: string, file: string, maxBytes: number): Promise<number | undefined> {
  const stats = await fs.lstat(source);
  if (!stats.isFile() || (await fs.realpath(source)) !== source) return undefined;
  const bytes = await readRegularFile(source, maxBytes);
  const copy = await resolvePath([{ name: path.basename(folder), path: folder }], file, 'write');
  await createFile(copy.path, bytes, stats.mode & 0o777);
  return bytes.length;
}
