import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import * as paths from 'node:path';
import { disablingFilters, isolatedGit } from '../core/isolatedGit.ts';

/** State of a folder according to Git. Paths are relative to the folder, with `/`. */
export interface GitFolder {
  /** Unchanged tracked files without conversion, by path: ID and size of the blob, which is present in the repository. */
  blobs: Map<string, GitBlob>;
  tracked: Set<string>;
  /** Folders that a pattern ignores as a whole, without the final `/`. */
  ignoredFolders: Set<string>;
  ignoredFiles: Set<string>;
}

interface GitBlob {
  oid: string;
  size: number;
}

// Sizes of blobs that a repository holds, by folder and object ID. A blob never changes.
const knownBlobSizes = new Map<string, Map<string, number>>();
const maxKnownFolders = 20;

interface TrackedFile {
  path: string;
  oid: string;
}

/**
 * Asks Git about a folder of a working tree. Git holds the bytes of a tracked file only if it reports the file unchanged (by its index), no
 * attribute or setting converts it, the object is present, and the file has the size of the blob: the caller compares the size. Throws if
 * Git fails.
 */
export async function readGitFolder(folder: string): Promise<GitFolder> {
  const filters = separated(
    await askGit(folder, ['config', '-z', '--name-only', '--get-regexp', '^filter[.]'], '', [0, 1]),
  );
  const [listed, changed, ignored, converts] = await Promise.all([
    askGit(folder, ['ls-files', '-s', '-v', '-z']),
    askGit(folder, [
      ...disablingFilters(filters),
      'diff-files',
      '--name-only',
      '--relative',
      '--ignore-submodules=all',
      '--no-ext-diff',
      '-z',
    ]),
    askGit(folder, ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z']),
    hasConversions(folder),
  ]);
  const dirty = new Set(separated(changed));
  const tracked = new Set<string>();
  const candidates: TrackedFile[] = [];
  for (const row of separated(listed)) {
    const tab = row.indexOf('\t');
    const path = row.slice(tab + 1);
    if (row.startsWith('160000', 2)) continue;
    tracked.add(path);
    // `H 100644 <oid> 0`: neither assumed unchanged, sparse nor in conflict, and a regular file
    if (row.startsWith('H 100') && row[tab - 1] === '0' && !dirty.has(path))
      candidates.push({ path, oid: row.slice(9, tab - 2) });
  }
  const plain = converts ? await withoutConversion(folder, candidates) : candidates;
  const sizes = await blobSizes(
    folder,
    plain.map(({ oid }) => oid),
  );
  const blobs = new Map<string, GitBlob>();
  for (const { path, oid } of plain) {
    const size = sizes.get(oid);
    if (size !== undefined) blobs.set(path, { oid, size });
  }
  const folders = separated(ignored).filter((one) => one.endsWith('/'));
  return {
    blobs,
    tracked,
    ignoredFolders: await ignoredPaths(
      folder,
      folders.map((one) => one.slice(0, -1)),
    ),
    ignoredFiles: new Set(separated(ignored).filter((one) => !one.endsWith('/'))),
  };
}

/** Tests if a folder lies in a working tree of Git. */
export function isInGit(folder: string): boolean {
  for (let top = folder; ; top = paths.dirname(top)) {
    if (existsSync(paths.join(top, '.git'))) return true;
    if (paths.dirname(top) === top) return false;
  }
}

/** Returns those of the paths that a pattern ignores. Paths are relative to the folder. */
export async function ignoredPaths(folder: string, candidates: readonly string[]): Promise<Set<string>> {
  if (candidates.length === 0) return new Set();
  const asFolders = candidates.map((one) => `${one}/`).join('\0');
  const answer = await askGit(folder, ['check-ignore', '-z', '--stdin'], asFolders, [0, 1]);
  return new Set(separated(answer).map((one) => one.replace(/\/$/, '')));
}

/** Object ID of a blob with these bytes, in the hash of the repository, by the length of another ID. */
export function gitBlobId(bytes: Uint8Array, idLength: number): string {
  const hash = createHash(idLength === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

/** Reads blobs by object ID. Blobs that are absent or have other contents are omitted. */
export async function readGitBlobs(folder: string, oids: readonly string[]): Promise<Map<string, Buffer>> {
  const blobs = new Map<string, Buffer>();
  if (oids.length === 0) return blobs;
  const output = await gitOutput(folder, ['cat-file', '--batch'], `${oids.join('\n')}\n`).catch(() => Buffer.alloc(0));
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(10, at);
    if (end < 0) break;
    const [oid = '', type, size] = output.toString('latin1', at, end).split(' ');
    at = end + 1;
    if (type !== 'blob' && size === undefined) continue; // `<oid> missing`
    const bytes = output.subarray(at, at + Number(size));
    if (gitBlobId(bytes, oid.length) === oid) blobs.set(oid, bytes);
    at += Number(size) + 1;
  }
  return blobs;
}

async function blobSizes(folder: string, oids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const known = knownBlobSizes.get(folder);
  const sizes = new Map<string, number>();
  const unknown: string[] = [];
  for (const oid of new Set(oids)) {
    const size = known?.get(oid);
    if (size === undefined) unknown.push(oid);
    else sizes.set(oid, size);
  }
  if (unknown.length > 0) {
    const format = '--batch-check=%(objectname) %(objecttype) %(objectsize)';
    const answer = await askGit(folder, ['cat-file', format], `${unknown.join('\n')}\n`);
    for (const line of answer.split('\n')) {
      const [oid = '', type, size] = line.split(' ');
      if (type === 'blob') sizes.set(oid, Number(size));
    }
  }
  if (!known && knownBlobSizes.size >= maxKnownFolders) knownBlobSizes.clear();
  knownBlobSizes.set(folder, sizes); // only those of the current index
  return sizes;
}

// True if an attribute or a setting may convert a file between the repository and the disk.
async function hasConversions(folder: string): Promise<boolean> {
  const settings = await askGit(
    folder,
    ['config', '--get-regexp', '^core[.](autocrlf|eol|attributesfile)$'],
    '',
    [0, 1],
  );
  if (settings.split('\n').some((line) => line !== '' && !/ false$/i.test(line))) return true;
  const [inTree, common, top] = await Promise.all([
    askGit(folder, ['ls-files', '--cached', '--others', '-z', '--', ':(top,glob)**/.gitattributes']),
    askGit(folder, ['rev-parse', '--git-path', 'info/attributes']),
    askGit(folder, ['rev-parse', '--show-toplevel']),
  ]);
  const own = paths.resolve(folder, common.trim());
  return (
    inTree !== '' || existsSync(own) || existsSync(paths.join(top.trim(), '.gitattributes')) || hasUserAttributes()
  );
}

const hasUserAttributes = (): boolean => {
  const { XDG_CONFIG_HOME, HOME = '' } = process.env;
  return (
    existsSync(paths.join(XDG_CONFIG_HOME || paths.join(HOME, '.config'), 'git/attributes')) ||
    existsSync('/etc/gitattributes')
  );
};

// A conversion of line endings alone is excluded by the equal size; any other conversion excludes the file.
async function withoutConversion(folder: string, files: readonly TrackedFile[]): Promise<TrackedFile[]> {
  if (files.length === 0) return [];
  const input = files.map(({ path }) => path).join('\0');
  const fields = separated(
    await askGit(folder, ['check-attr', '-z', '--stdin', 'filter', 'ident', 'working-tree-encoding'], input),
    true,
  );
  const converted = new Set<string>();
  for (let at = 0; at + 2 < fields.length; at += 3)
    if (fields[at + 2] !== 'unspecified' && fields[at + 2] !== 'unset') converted.add(fields[at]!);
  return files.filter(({ path }) => !converted.has(path));
}

const separated = (text: string, withEmpty = false): string[] => {
  const fields = text.split('\0');
  return withEmpty ? fields.slice(0, -1) : fields.filter((one) => one !== '');
};

/**
 * Returns the output of Git in a folder as UTF-8. Rejects if Git is missing or ends with another exit code.
 * @param variables environment variables besides those of the editor
 */
export const askGit = async (
  folder: string,
  args: readonly string[],
  input?: string,
  codes?: readonly number[],
  variables?: NodeJS.ProcessEnv,
): Promise<string> => (await gitOutput(folder, args, input, codes, variables)).toString('utf8');

async function gitOutput(
  folder: string,
  args: readonly string[],
  input = '',
  codes: readonly number[] = [0],
  variables: NodeJS.ProcessEnv = {},
): Promise<Buffer> {
  const { program, args: all, options } = isolatedGit(folder, args);
  const env = { ...options.env, ...variables };
  return new Promise((resolve, reject) => {
    const child = spawn(program, all, { ...options, env, stdio: ['pipe', 'pipe', 'ignore'] });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stdin.on('error', () => {}); // Git may end before it has read everything
    child.on('error', reject);
    child.on('close', (code) =>
      codes.includes(code ?? -1) ? resolve(Buffer.concat(chunks)) : reject(new Error(`git ${args[0]} failed: ${code}`)),
    );
    child.stdin.end(input);
  });
}
