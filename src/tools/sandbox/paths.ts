import type { Stats } from 'node:fs';
import { lstat, readdir, readlink, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as paths from 'node:path';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { foldCase } from '../core/caseFold.ts';
import { didYouMean } from '../core/didYouMean.ts';
import {
  checkDisplayablePath,
  createPathRefusal,
  isMutatingPathOperation,
  isNonPortableFileName,
  type PathLocation,
  type PathOperation,
  pathInsideRoots,
  pathLocations,
  quoteForMessage,
  type ResolvedWorkspaceRoot,
  stripProjectMount,
} from '../core/pathSyntax.ts';
import { ToolError } from '../core/tool.ts';
import { openFolderRoots, type WorkspaceRoot } from '../core/workspace.ts';
import { approvalReasonForBuildFile } from '../policy/buildFiles.ts';
import {
  installedCodeApprovalReason,
  isGitInternal,
  isLookalikePathSegment,
  protectedPathReason,
} from '../policy/protectedPaths.ts';
import { secretFileReason } from '../policy/secretFiles.ts';
import { findContainingRepository } from './containingRepository.ts';
import { includedInstructionApprovalReason } from './includedFiles.ts';
import { secretContentReason } from './secretContent.ts';

/**
 * Permitted path with all links resolved: `path` is absolute and real, and the same path is shown and opened. `relative` is
 * workspace-relative with `/`, and begins with the root's name if several roots are open. `protected` is the reason to approve every
 * access, independent of earlier answers; `configuration` the reason to approve changes despite presets and rules, once per run.
 */
export interface ResolvedPath {
  path: string;
  relative: string;
  kind: 'file' | 'folder' | 'link' | 'missing';
  size: number;
  mount?: WorkspaceRoot['mount'];
  /** Reason to approve every access, independent of earlier answers. */
  protected?: LocalizedMessage;
  configuration?: LocalizedMessage;
}

/**
 * Decides if an operation may access a path, in the current state of the disk: call right before the access. Throws `E_SANDBOX_VIOLATION`
 * with `details.reason`, or `ENOENT` with the nearest names. Nothing outside of the roots is opened, listed or measured, and no message
 * reveals the target of a link.
 */
export async function resolvePath(
  roots: readonly WorkspaceRoot[],
  input: string,
  operation: PathOperation,
): Promise<ResolvedPath> {
  const withoutMount = stripProjectMount(roots, input);
  try {
    const realRoots = await resolveWorkspaceRoots(roots);
    const locations = pathLocations(realRoots, input);
    const walked = await Promise.all(locations.map((location) => walk(realRoots, location, withoutMount, operation)));
    return await decide(realRoots, locations, walked, withoutMount, operation);
  } catch (error) {
    throw error instanceof ToolError ? error : errnoToToolError(error, withoutMount);
  }
}

export async function workspaceRelativePath(
  roots: readonly WorkspaceRoot[],
  path: string,
): Promise<string | undefined> {
  return relativePathInside(await resolveWorkspaceRoots(roots), path);
}

/** Returns the workspace-relative path of an absolute path; undefined if outside. */
export function relativePathInside(roots: readonly ResolvedWorkspaceRoot[], path: string): string | undefined {
  const location = pathInsideRoots(roots, path);
  return location && relativeOf(roots, location);
}

/** Resolves the links of the roots. A missing root stays as spelled; all paths below are `ENOENT`. */
export function resolveWorkspaceRoots(roots: readonly WorkspaceRoot[]): Promise<ResolvedWorkspaceRoot[]> {
  return Promise.all(
    roots.map(async (root) => ({ ...root, realPath: await realpath(root.path).catch(() => root.path) })),
  );
}

/**
 * End of a walk along real folders. `folder` is the last existing folder; `missing` are the names below. `dangling`: a link points to the
 * missing path.
 */
interface Walked {
  location: PathLocation;
  path: string;
  stats: Stats | undefined;
  folder: string;
  missing: string[];
  dangling: boolean;
}

const maximumLinks = 40;

// Walks down from the root by segment; a link is detected before any access to the target.
async function walk(
  roots: readonly ResolvedWorkspaceRoot[],
  start: PathLocation,
  input: string,
  operation: PathOperation,
): Promise<Walked> {
  const keepsLeaf = operation === 'delete' || operation === 'rename'; // the link itself is removed, not its target
  let location: PathLocation = { root: start.root, segments: [] };
  let path = start.root.realPath;
  let rest = [...start.segments];
  let links = 0;
  let namesOfLink = 0;
  let stats = await lstatOrMissing(path);
  if (!stats) throw notFound(input);
  while (rest.length > 0) {
    const next = paths.join(path, rest[0]!);
    if (!stats?.isDirectory()) throw notFound(input);
    stats = await lstatOrMissing(next);
    if (!stats) {
      const whole = { root: location.root, segments: [...location.segments, ...rest] };
      const dangling = namesOfLink > 0;
      return { location: whole, path: paths.join(path, ...rest), stats, folder: path, missing: rest, dangling };
    }
    if (stats.isSymbolicLink() && !(keepsLeaf && rest.length === 1)) {
      links += 1;
      if (links > maximumLinks)
        throw createPathRefusal('SYMLINK_LOOP', `${quoteForMessage(input)} goes through too many links.`);
      const target = pathInsideRoots(roots, paths.resolve(path, await readlink(next)));
      if (!target)
        throw createPathRefusal(
          'SYMLINK_ESCAPE',
          `${quoteForMessage(input)} goes through a link that leaves the workspace.`,
        );
      rest = [...target.segments, ...rest.slice(1)];
      namesOfLink = target.segments.length;
      location = { root: target.root, segments: [] };
      path = target.root.realPath;
      stats = await lstatOrMissing(path);
      continue;
    }
    location = { root: location.root, segments: [...location.segments, rest.shift()!] };
    path = next;
    namesOfLink -= 1;
  }
  return { location, path, stats, folder: path, missing: [], dangling: false };
}

async function decide(
  roots: readonly ResolvedWorkspaceRoot[],
  locations: readonly PathLocation[],
  walked: readonly Walked[],
  input: string,
  operation: PathOperation,
): Promise<ResolvedPath> {
  const existing = walked.filter(({ stats }) => stats);
  const makesNew = ['create', 'write', 'restore', 'mkdir'].includes(operation);
  if (existing.length > 1 || (walked.length > 1 && existing.length === 0 && makesNew)) {
    const names = locations.map(({ root }) => `"${root.name}/…"`).join(' or ');
    throw createPathRefusal(
      'AMBIGUOUS_ROOT',
      `${quoteForMessage(input)} could be in several folders. Begin with the folder: ${names}.`,
    );
  }
  const chosen = existing[0] ?? walked[0]!;
  const { location, path, stats, missing } = chosen;
  const spelled = locations[walked.indexOf(chosen)]!;

  const bothRoots = [spelled.root, location.root];
  const fixed = bothRoots.find((root) => root.mount === 'read');
  if (isMutatingPathOperation(operation) && fixed)
    throw createPathRefusal('READ_ONLY', `${quoteForMessage(input)} cannot be changed: ${fixed.name} is read only.`);
  if (isMutatingPathOperation(operation)) checkChange([spelled.segments, location.segments], missing, input, operation);
  if (!stats && !makesNew) throw await missingError(chosen, input);
  if (chosen.dangling)
    throw createPathRefusal('SYMLINK_DANGLING', `${quoteForMessage(input)} is a link to a file that does not exist.`);
  checkKind(stats, input, operation);

  const ofRun = bothRoots.every((root) => root.mount === 'run');
  const change = isMutatingPathOperation(operation) && !ofRun;
  const first = (reason: (segments: readonly string[]) => LocalizedMessage | undefined) =>
    reason(spelled.segments) ?? reason(location.segments);
  const why = tooBroad(location.root.realPath)
    ? message('The open folder is a whole disk or home folder.')
    : change
      ? (first(protectedPathReason) ??
        (await reasonAround(spelled, input)) ??
        (await reasonAround(location, input, chosen)) ??
        serverStartFileApprovalReason(roots, path) ??
        (await includedInstructionApprovalReason(realPaths(roots), path)))
      : operation === 'read' || operation === 'search'
        ? (first(secretFileReason) ?? (stats?.isFile() ? await secretContentReason(path) : undefined))
        : undefined;
  const configuration = change ? first(approvalReasonForBuildFile) : undefined;
  const kind = !stats ? 'missing' : stats.isDirectory() ? 'folder' : stats.isSymbolicLink() ? 'link' : 'file';
  return {
    path,
    relative: relativeOf(roots, location),
    kind,
    size: stats?.isFile() ? stats.size : 0,
    ...(location.root.mount && { mount: location.root.mount }),
    ...(why && { protected: why }),
    ...(configuration && { configuration }),
  };
}

/** Returns the reason to approve each change of a file (real path) that a configured server is started from; undefined for other files. */
export const serverStartFileApprovalReason = (
  roots: readonly WorkspaceRoot[],
  path: string,
): LocalizedMessage | undefined =>
  roots.some(({ startedFiles }) => startedFiles?.includes(path))
    ? message('A configured MCP server is started from it.')
    : undefined;

const realPaths = (roots: readonly ResolvedWorkspaceRoot[]) => openFolderRoots(roots).map(({ realPath }) => realPath);

// Returns the reason from surrounding folders and sibling names; refuses paths inside of Git's own files.
async function reasonAround(location: PathLocation, input: string, { folder, missing }: Partial<Walked> = {}) {
  const around = await findContainingRepository(location.root.realPath, location.segments);
  if (around === 'repository') throw gitInternal(input);
  if (around === 'environment') return installedCodeApprovalReason;
  const [name] = missing ?? [];
  if (folder === undefined || name === undefined) return undefined;
  const beside = (await readdir(folder).catch((): string[] => [])).find((other) => foldCase(other) === foldCase(name));
  return beside === undefined
    ? undefined
    : message(
        '{0} differs from the existing {1} only by case or by the form of its letters; on many disks they are the same.',
        quoteForMessage(name),
        quoteForMessage(beside),
      );
}

const gitInternal = (input: string) =>
  createPathRefusal('GIT_INTERNAL', `${quoteForMessage(input)} belongs to Git; use git commands through shell.run.`);

// Checks the spelling and the real path: the editor reads `.vscode/x` even through a link.
function checkChange(spellings: string[][], missing: string[], input: string, operation: PathOperation): void {
  for (const segments of spellings) {
    checkDisplayablePath(segments);
    if (isGitInternal(segments)) throw gitInternal(input);
    if (segments.length === 0 && operation !== 'write' && operation !== 'create')
      throw createPathRefusal('PATH_INVALID', 'The workspace folder itself cannot be changed.');
  }
  if (!['write', 'create', 'mkdir'].includes(operation)) return;
  const twin = missing.find(isLookalikePathSegment);
  if (twin)
    throw createPathRefusal(
      'NAME_TWIN',
      `${quoteForMessage(twin)} looks like the name of a protected place but is not it.`,
    );
  if (missing.some((name) => name === '~') || (missing[0]?.startsWith('~') && spellings[0]![0] === missing[0]))
    throw createPathRefusal(
      'PATH_INVALID',
      `"~" is not expanded here; ${quoteForMessage(input)} would make a folder of that name.`,
    );
  const odd = missing.find(isNonPortableFileName);
  if (odd)
    throw createPathRefusal(
      'PATH_NOT_PORTABLE',
      `The name ${quoteForMessage(odd)} does not work on every system. Choose another.`,
    );
}

function checkKind(stats: Stats | undefined, input: string, operation: PathOperation): void {
  const namesFolder = /[\\/]$/.test(input) && (process.platform === 'win32' || input.endsWith('/'));
  if (['read', 'write', 'restore'].includes(operation)) {
    if (stats?.isDirectory())
      throw createPathRefusal(
        'NOT_A_FILE',
        `${quoteForMessage(input)} is a folder.${operation === 'read' ? ' Use fs.list for it.' : ''}`,
      );
    if ((stats && !stats.isFile()) || namesFolder)
      throw createPathRefusal('NOT_A_FILE', `${quoteForMessage(input)} is not a plain file.`);
  }
  const special = stats && !stats.isFile() && !stats.isDirectory() && !stats.isSymbolicLink();
  if (operation === 'search' && special)
    throw createPathRefusal('NOT_A_FILE', `${quoteForMessage(input)} is not a plain file.`);
  if (operation === 'create' && namesFolder)
    throw createPathRefusal('NOT_A_FILE', `${quoteForMessage(input)} names a folder.`);
  if ((operation === 'create' && stats) || (operation === 'mkdir' && stats && !stats.isDirectory()))
    throw createPathRefusal('EXISTS', `${quoteForMessage(input)} exists already.`);
  if (operation === 'list' && stats && !stats.isDirectory())
    throw createPathRefusal(
      'NOT_A_DIRECTORY',
      `${quoteForMessage(input)} is a file, not a folder. Use fs.read for it.`,
    );
}

function relativeOf(roots: readonly ResolvedWorkspaceRoot[], location: PathLocation): string {
  const parts = isNamedRoot(roots, location.root) ? [location.root.name, ...location.segments] : location.segments;
  return parts.length > 0 ? parts.join('/') : '.';
}

export const isNamedRoot = (roots: readonly WorkspaceRoot[], root: WorkspaceRoot): boolean =>
  root.mount !== undefined || openFolderRoots(roots).length > 1;

// Tests for a root with all files of a user, where reads are not free.
function tooBroad(root: string): boolean {
  const home = homedir();
  return root === paths.parse(root).root || root === home || root === paths.dirname(home);
}

async function missingError(walked: Walked, input: string): Promise<ToolError> {
  const names = await readdir(walked.folder).catch(() => []);
  return notFound(input, didYouMean(walked.missing[0] ?? '', names.slice(0, 5000)));
}

const notFound = (input: string, hint = '') =>
  new ToolError('ENOENT', `${quoteForMessage(input)} does not exist.${hint || ' Use fs.find to look for it.'}`);

async function lstatOrMissing(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export function errnoToToolError(error: unknown, input: string): ToolError {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (code === 'ENOENT' || code === 'ENOTDIR') return notFound(input);
  if (code === 'ELOOP')
    return createPathRefusal('SYMLINK_ESCAPE', `${quoteForMessage(input)} became a link while it was being opened.`);
  if (code === 'ENAMETOOLONG')
    return createPathRefusal('PATH_INVALID', `${quoteForMessage(input)} is too long a name.`);
  if (code === 'EACCES' || code === 'EPERM')
    return new ToolError('TOOL_EXEC_FAILED', `No permission for ${quoteForMessage(input)}.`);
  return new ToolError('TOOL_EXEC_FAILED', `The disk refused ${quoteForMessage(input)} (${code ?? 'unknown error'}).`);
}
