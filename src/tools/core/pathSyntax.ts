import * as paths from 'node:path';
import type { PathRefusalReason } from '../../protocol/text/codes.ts';
import { shortenText } from '../../protocol/text/shorten.ts';
import { ToolError } from './tool.ts';
import { openFolderRoots, type WorkspaceRoot } from './workspace.ts';

/** `restore` is a write to the path of an earlier file, which may have a name that no other operation creates. */
export type PathOperation =
  | 'write'
  | 'restore'
  | 'create'
  | 'mkdir'
  | 'delete'
  | 'rename'
  | 'read'
  | 'list'
  | 'search'
  | 'stat';
export const isMutatingPathOperation = (operation: PathOperation) =>
  ['write', 'restore', 'create', 'mkdir', 'delete', 'rename'].includes(operation);

export interface ResolvedWorkspaceRoot extends WorkspaceRoot {
  realPath: string;
}

/** Target of a path by spelling, without disk access: `segments` below `root`, free of `.` and `..`. */
export interface PathLocation {
  root: ResolvedWorkspaceRoot;
  segments: string[];
}

/** Creates a refusal. `reason` is for code; the message never reveals the target of a refused path. */
export function createPathRefusal(reason: PathRefusalReason, message: string): ToolError {
  return new ToolError('E_SANDBOX_VIOLATION', message, { reason });
}

/**
 * Returns all locations in the workspace that an input can mean by its spelling; several only if more than one root is open. Nothing is
 * expanded or decoded: `~`, `$HOME`, `%2e` and (except on Windows) backslashes are ordinary characters. Throws if there is no location.
 */
export function pathLocations(
  roots: readonly ResolvedWorkspaceRoot[],
  input: string,
  platform: string = process.platform,
): PathLocation[] {
  if (typeof input !== 'string' || input === '') throw new ToolError('TOOL_ARGS_INVALID', 'path: give a path as text.');
  if (roots.length === 0) throw createPathRefusal('NO_WORKSPACE', 'No folder is open. Open a folder first.');
  checkSpelling(input, platform);

  const style = platform === 'win32' ? paths.win32 : paths.posix;
  const [begin, ...below] = style.normalize(input).split(style.sep);
  const mount = roots.find((root) => root.mount && root.name === begin);
  if (mount) {
    checkNames(below, input, platform);
    return [{ root: mount, segments: below.filter(Boolean) }];
  }
  const spelled = style.isAbsolute(input) ? [input] : relativeSpellings(roots, input, style);
  const locations = new Map<string, PathLocation>();
  for (const path of spelled) {
    const location = pathInsideRoots(roots, path, platform);
    if (location) locations.set(style.join(location.root.realPath, ...location.segments), location);
  }
  if (locations.size === 0) {
    const hint = style.isAbsolute(input) ? ' Paths are relative to the workspace folder, like "src/main.ts".' : '';
    throw createPathRefusal('OUTSIDE', `${quoteForMessage(input)} is outside the workspace.${hint}`);
  }
  const found = [...locations.values()];
  for (const { segments } of found) checkNames(segments, input, platform);
  return found;
}

/**
 * Returns the location below a root for an absolute path, compared with the root's spelling and real path; undefined if outside. The first
 * of nested roots wins, but a mount inside of a folder always counts as a mount.
 */
export function pathInsideRoots(
  roots: readonly ResolvedWorkspaceRoot[],
  path: string,
  platform: string = process.platform,
): PathLocation | undefined {
  const style = platform === 'win32' ? paths.win32 : paths.posix;
  const folds = platform === 'win32' || platform === 'darwin';
  const split = (text: string) => style.resolve(text).split(style.sep).filter(Boolean);
  const wanted = split(path);
  let found: { root: ResolvedWorkspaceRoot; depth: number } | undefined;
  for (const root of roots) {
    for (const base of [root.path, root.realPath].map(split)) {
      const same = (segment: string, index: number) =>
        folds ? segment.toLowerCase() === wanted[index]?.toLowerCase() : segment === wanted[index];
      const depth = base.length;
      if (base.every(same) && (!found || (root.mount && depth > found.depth))) found = { root, depth };
    }
  }
  return found && { root: found.root, segments: wanted.slice(found.depth) };
}

const projectName = '@project';

/** Converts a path to the form of results and messages: with mounts, `@project/x` becomes `x`. */
export function stripProjectMount(roots: readonly WorkspaceRoot[], input: string): string {
  if (typeof input !== 'string' || openFolderRoots(roots).length === roots.length) return input;
  const found = /^(?:\.\/+)*@project(?:\/+|$)/.exec(input);
  return found ? input.slice(found[0].length) || '.' : input;
}

/**
 * Returns the possible spellings relative to the roots. With several open folders, paths begin with the name of a folder; a folder name
 * wins over a subfolder of another root.
 */
function relativeSpellings(
  roots: readonly ResolvedWorkspaceRoot[],
  input: string,
  style: paths.PlatformPath,
): string[] {
  const names = style.normalize(input).split(style.sep);
  const folders = openFolderRoots(roots);
  const isProject = folders.length < roots.length && names[0] === projectName;
  const [first, ...rest] = isProject ? names.slice(1) : names;
  const named = folders.length > 1 ? folders.filter((root) => root.name === first) : [];
  if (named.length > 0) return named.map((root) => style.join(root.realPath, ...rest));
  return folders.map((root) => style.resolve(root.realPath, isProject ? names.slice(1).join(style.sep) : input));
}

function checkSpelling(input: string, platform: string): void {
  if (input.includes('\0')) throw createPathRefusal('PATH_INVALID', 'A path cannot hold a NUL character.');
  if (input.length > 4096) throw createPathRefusal('PATH_INVALID', 'The path is longer than 4,096 characters.');
  if (/^[a-z][a-z0-9+.-]+:[\\/]/i.test(input))
    throw createPathRefusal(
      'PATH_INVALID',
      `${quoteForMessage(input)} is an address, not a path. Paths look like "src/main.ts".`,
    );
  if (platform !== 'win32') return;
  if (/^[\\/]{2}[.?][\\/]|^[\\/]\?\?[\\/]|^[\\/][a-z]:/i.test(input))
    throw createPathRefusal('PATH_INVALID', `${quoteForMessage(input)} is not a file's path.`);
  // Both forms depend on something other than the workspace: the current folder of a drive, or another machine.
  if (/^[a-z]:(?![\\/])/i.test(input) || /^[\\/]{2}/.test(input))
    throw createPathRefusal('OUTSIDE', `${quoteForMessage(input)} is outside the workspace.`);
}

function checkNames(segments: readonly string[], input: string, platform: string): void {
  if (segments.some((segment) => Buffer.byteLength(segment) > 255))
    throw createPathRefusal('PATH_INVALID', 'A name in the path is longer than 255 bytes.');
  const odd =
    platform === 'win32'
      ? segments.find((segment) => isNonPortableFileName(segment) || /~\d/.test(segment))
      : platform === 'darwin'
        ? segments.find((segment) => segment === '..namedfork')
        : undefined;
  if (odd !== undefined)
    throw createPathRefusal('PATH_INVALID', `${quoteForMessage(input)} is not a file's path on this system.`);
}

/** Rejects names with invisible or reordering characters, so that an approval shows the real path. */
export function checkDisplayablePath(segments: readonly string[]): void {
  if (segments.some((segment) => invisible.test(segment)))
    throw createPathRefusal(
      'PATH_INVALID',
      'The path holds control or invisible characters. Spell it with visible ones.',
    );
}

/** Control, format (bidi, zero-width, tags) and lone surrogate characters, and invisible fillers. */
// biome-ignore lint/suspicious/noMisleadingCharacterClass: these are single code points, wanted one by one
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0]/u;

/** Tests for names that vanish, change or mean a device on some system. Existing files of this kind can be read and restored, but never created. */
export const isNonPortableFileName = (segment: string) =>
  /[. ]$|[<>:"|?*\\]/.test(segment) || /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(segment);

export const quoteForMessage = (text: string) =>
  shortenText(JSON.stringify(text).replace(/[^\x20-\x7e\p{L}\p{N}\p{P}\p{S}]/gu, '?'), 160, '…"');
