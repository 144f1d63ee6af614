import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import * as paths from 'node:path';
import { disablingFilters, isolatedGit } from '../core/isolatedGit.ts';
import { readRegularFileSync } from '../sandbox/regularFile.ts';
import { entryPath } from './entryTable.ts';
import { coarsestTime } from './limits.ts';
import { identityText, lookAtEntry } from './walkedEntry.ts';

/** Names of files by folder. */
export type FilesByFolder = ReadonlyMap<string, ReadonlySet<string>>;

/** State of a folder according to Git. Paths are relative to the folder, with `/`. */
export interface GitFolder {
  /** Tracked files by folder and name. */
  tracked: ReadonlyMap<string, ReadonlyMap<string, TrackedFile>>;
  /** Names of the files that differ from the index, by folder. */
  dirty: FilesByFolder;
  /** Change of the index, in nanoseconds. Git does not see a later change of a file with restored times in the same second. */
  indexTime: bigint;
  /** Returns the tracked files that an attribute converts between the repository and the disk, by folder. */
  converted(attributeFiles: readonly string[]): Promise<FilesByFolder>;
}

interface TrackedFile {
  oid: string;
  /** Length of the blob in bytes; absent if the repository lacks it, or if the file is assumed unchanged, sparse or in conflict. */
  size?: number;
}

/** Files of a folder that a pattern ignores. Paths are relative to the folder, with `/`. */
export interface IgnoredFiles {
  /** Folders that a pattern ignores as a whole, without the final `/`. */
  folders: ReadonlySet<string>;
  files: ReadonlySet<string>;
}

/** Facts that depend on the index alone, or on the objects of the repository. */
interface IndexFacts {
  /** Identity of the index; undefined if it is so young that it may change again without another. */
  index: string | undefined;
  objects: string;
  tracked: Map<string, Map<string, TrackedFile>>;
  /** Tracked files that hold attributes, relative to the folder, also above it. */
  attributeFiles: string[];
  converted?: { attributes: string; files: FilesByFolder };
}

// By folder. Git is asked again only after a change.
const knownFacts = new Map<string, IndexFacts>();
const maxKnownFolders = 20;

/**
 * Asks Git about a folder of a working tree. Git holds the bytes of a tracked file only if it reports the file unchanged (by its index), no
 * attribute or setting converts it, the object is present, and the file has the size of the blob: the caller compares the size. Throws if
 * Git fails.
 * @param onStart is called when Git compares in its own processes
 */
export async function readGitFolder(folder: string, onStart: () => void): Promise<GitFolder> {
  const [settings, located] = await Promise.all([
    askGit(folder, ['config', '-z', '--get-regexp', '^(filter[.]|core[.]attributesfile$|attr[.]tree$)'], '', [0, 1]),
    askGit(folder, ['rev-parse', '--show-toplevel', ...gitPaths.flatMap((name) => ['--git-path', name])]),
  ]);
  const lines = located.trimEnd().split('\n');
  if (lines.length !== gitPaths.length + 1) throw new Error('A path of the repository has a line break.');
  const [top, index, objects, attributes] = lines.map((line) => paths.resolve(folder, line)) as [string, ...string[]];
  const names = separated(settings).map((one) => one.slice(0, one.indexOf('\n')));
  const isElsewhere = names.some((name) => !name.startsWith('filter.'));
  const filters = names.filter((name) => name.startsWith('filter.'));
  const comparing = Promise.all([
    readIndexFacts(folder, index!, objects!),
    askGit(folder, [
      ...disablingFilters(filters),
      ...['-c', 'core.trustctime=true', '-c', 'core.checkStat=default'],
      ...['diff-files', '--name-only', '--relative', '--ignore-submodules=all', '--no-ext-diff', '-z'],
    ]),
  ]);
  onStart();
  const [facts, changed] = await comparing;
  return {
    tracked: facts.tracked,
    dirty: byFolder(separated(changed)),
    indexTime: lookAtEntry(index!)?.identity.modified ?? 0n,
    converted: (inFolder) =>
      convertedFiles(folder, facts, {
        files: [...attributeFilesAbove(folder, top), ...inFolder, attributes!, ...userAttributeFiles()],
        isElsewhere,
      }),
  };
}

const gitPaths = ['index', 'objects', 'info/attributes'];

/** Returns what patterns ignore in a folder of a working tree. Throws if Git fails. */
export async function readIgnored(folder: string): Promise<IgnoredFiles> {
  const listed = separated(
    await askGit(folder, ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z']),
  );
  const folders = listed.flatMap((one) => (one.endsWith('/') ? [one.slice(0, -1)] : []));
  return {
    folders: await ignoredPaths(folder, folders),
    files: new Set(listed.filter((one) => !one.endsWith('/'))),
  };
}

async function readIndexFacts(folder: string, index: string, objects: string): Promise<IndexFacts> {
  const identity = settledIdentity(index);
  const state = objectsState(objects);
  const known = knownFacts.get(folder);
  const isIndexKnown = known?.index !== undefined && known.index === identity;
  if (isIndexKnown && known.objects === state) return known;
  const facts = isIndexKnown ? { ...known, objects: state } : await listTracked(folder, identity, state);
  await readSizes(folder, facts);
  if (!known && knownFacts.size >= maxKnownFolders) knownFacts.clear();
  knownFacts.set(folder, facts);
  return facts;
}

async function listTracked(folder: string, index: string | undefined, objects: string): Promise<IndexFacts> {
  const [listed, attributeFiles] = await Promise.all([
    askGit(folder, ['ls-files', '-s', '-v', '-z']),
    askGit(folder, ['ls-files', '-z', '--', ':(top,glob)**/.gitattributes']),
  ]);
  const tracked = new Map<string, Map<string, TrackedFile>>();
  for (let at = 0; at < listed.length; ) {
    const end = listed.indexOf('\0', at);
    const tab = listed.indexOf('\t', at);
    if (!listed.startsWith('160000', at + 2)) {
      const slash = listed.lastIndexOf('/', end);
      const inside = slash > tab ? listed.slice(tab + 1, slash) : '';
      // `H 100644 <oid> 0`: neither assumed unchanged, sparse nor in conflict, and a regular file
      const isPlain = listed.startsWith('H 100', at) && listed[tab - 1] === '0';
      const file = { oid: isPlain ? listed.slice(at + 9, tab - 2) : '' };
      const files = tracked.get(inside);
      const name = listed.slice(Math.max(slash, tab) + 1, end);
      if (files) files.set(name, file);
      else tracked.set(inside, new Map([[name, file]]));
    }
    at = end + 1;
  }
  return { index, objects, tracked, attributeFiles: separated(attributeFiles) };
}

async function readSizes(folder: string, { tracked }: IndexFacts): Promise<void> {
  const byId = new Map<string, TrackedFile[]>();
  for (const files of tracked.values())
    for (const file of files.values()) {
      delete file.size;
      if (file.oid === '') continue;
      const same = byId.get(file.oid);
      if (same) same.push(file);
      else byId.set(file.oid, [file]);
    }
  if (byId.size === 0) return;
  const format = '--batch-check=%(objectname) %(objecttype) %(objectsize)';
  const answer = await askGit(folder, ['cat-file', format], `${[...byId.keys()].join('\n')}\n`);
  for (const line of answer.split('\n')) {
    const [oid = '', type, size] = line.split(' ');
    if (type === 'blob') for (const file of byId.get(oid) ?? []) file.size = Number(size);
  }
}

/** Returns the identity of a file that will get another one with the next change; undefined if it is too young for that, or missing. */
function settledIdentity(file: string): string | undefined {
  const entry = lookAtEntry(file);
  if (!entry || entry.identity.inode === 0n || entry.identity.changed > BigInt(Date.now()) * 1_000_000n - coarsestTime)
    return undefined;
  return identityText(entry.identity, entry.size);
}

/** Text that differs after objects of a repository were added or removed. */
function objectsState(objects: string): string {
  const packs = paths.join(objects, 'pack');
  const folders = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
  const alternates = paths.join(objects, 'info', 'alternates');
  if (existsSync(alternates)) return `elsewhere ${process.hrtime.bigint()}`; // objects of other repositories are not watched
  const names = folders.map((name) => paths.join(objects, name));
  const files = existsSync(packs) ? readdirSync(packs).map((name) => paths.join(packs, name)) : [];
  return [objects, packs, ...names, ...files]
    .map((path) => {
      const entry = lookAtEntry(path);
      return entry ? identityText(entry.identity, entry.size) : '';
    })
    .join();
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

/**
 * Reads blobs by object ID. Blobs that are absent or have other contents are omitted.
 * @param common common folder of the repository: a working tree may be gone
 */
export async function readGitBlobs(common: string, oids: readonly string[]): Promise<Map<string, Buffer>> {
  const blobs = new Map<string, Buffer>();
  if (oids.length === 0) return blobs;
  const args = [`--git-dir=${common}`, `--work-tree=${common}`, 'cat-file', '--batch'];
  const output = await gitOutput(common, args, `${oids.join('\n')}\n`).catch(() => Buffer.alloc(0));
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

interface AttributeSources {
  /** Files that may hold attributes, absolute paths. */
  files: readonly string[];
  /** A setting names another source. */
  isElsewhere: boolean;
}

// A conversion of line endings alone is excluded by the equal size; any other conversion excludes the file.
const conversions = ['filter', 'ident', 'working-tree-encoding'];

async function convertedFiles(folder: string, facts: IndexFacts, { files, isElsewhere }: AttributeSources) {
  const inIndex = facts.attributeFiles.map((file) => paths.resolve(folder, file));
  const texts = files.flatMap((file) =>
    lookAtEntry(file) ? [readRegularFileSync(file, maxAttributeBytes)?.toString()] : [],
  );
  // Git reads an attribute file that is missing on disk from the index.
  const isUnknown = isElsewhere || texts.includes(undefined) || inIndex.some((file) => !lookAtEntry(file));
  const all = texts.join('\n');
  if (!isUnknown && !conversions.some((name) => all.includes(name))) return new Map<string, Set<string>>();
  const attributes = JSON.stringify([files, texts]);
  if (!isUnknown && facts.index !== undefined && facts.converted?.attributes === attributes)
    return facts.converted.files;
  const tracked = [...facts.tracked].flatMap(([inside, names]) =>
    [...names.keys()].map((name) => entryPath(inside, name)),
  );
  const fields = separated(
    await askGit(folder, ['check-attr', '-z', '--stdin', ...conversions], tracked.join('\0')),
    true,
  );
  const converted: string[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3)
    if (fields[at + 2] !== 'unspecified' && fields[at + 2] !== 'unset') converted.push(fields[at]!);
  facts.converted = { attributes, files: byFolder(converted) };
  return facts.converted.files;
}

const maxAttributeBytes = 1_000_000;

function attributeFilesAbove(folder: string, top: string): string[] {
  const files: string[] = [];
  for (let at = folder; at !== top && at !== paths.dirname(at); ) {
    at = paths.dirname(at);
    files.push(paths.join(at, '.gitattributes'));
  }
  return files;
}

function userAttributeFiles(): string[] {
  const { XDG_CONFIG_HOME, HOME = '' } = process.env;
  return [paths.join(XDG_CONFIG_HOME || paths.join(HOME, '.config'), 'git/attributes'), '/etc/gitattributes'];
}

function byFolder(files: readonly string[]): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>();
  for (const file of files) {
    const slash = file.lastIndexOf('/');
    const folder = slash < 0 ? '' : file.slice(0, slash);
    const names = folders.get(folder);
    if (names) names.add(file.slice(slash + 1));
    else folders.set(folder, new Set([file.slice(slash + 1)]));
  }
  return folders;
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
