import * as paths from 'node:path';
import type { RefusalReason } from '../../protocol/text/codes.ts';
import { ToolError } from './tool.ts';
import { foldersOf, type WorkspaceRoot } from './workspace.ts';

/** What a tool wants to do at a path. The first group changes something, the second only looks. */
export type PathOperation = 'write' | 'create' | 'mkdir' | 'delete' | 'rename' | 'read' | 'list' | 'search' | 'stat';
export const changes = (operation: PathOperation) =>
  ['write', 'create', 'mkdir', 'delete', 'rename'].includes(operation);

/** A root with its links resolved. */
export interface RealRoot extends WorkspaceRoot {
  realPath: string;
}

/** Where a spelling points, before the disk is asked: `segments` below `root`, without `.` and `..`. */
export interface PathLocation {
  root: RealRoot;
  segments: string[];
}

/** A refusal. `reason` is for code; the message never says where a refused path leads. */
export function refuse(reason: RefusalReason, message: string): ToolError {
  return new ToolError('E_SANDBOX_VIOLATION', message, { reason });
}

/**
 * All places inside the workspace that an input can mean, from its spelling alone: several only when more than one root
 * is open. Nothing is expanded or decoded: `~`, `$HOME`, `%2e` and backslashes (but on Windows) are ordinary characters.
 * Throws when there is none.
 */
export function pathLocations(
  roots: readonly RealRoot[],
  input: string,
  platform: string = process.platform,
): PathLocation[] {
  if (typeof input !== 'string' || input === '') throw new ToolError('TOOL_ARGS_INVALID', 'path: give a path as text.');
  if (roots.length === 0) throw refuse('NO_WORKSPACE', 'No folder is open. Open a folder first.');
  checkSpelling(input, platform);

  const style = platform === 'win32' ? paths.win32 : paths.posix;
  const [begin, ...below] = style.normalize(input).split(style.sep);
  const mount = roots.find((root) => root.mount && root.name === begin);
  if (mount) {
    checkNames(below, input, platform);
    return [{ root: mount, segments: below.filter(Boolean) }];
  }
  const spelled = style.isAbsolute(input) ? [input] : relativeSpellings(roots, input, style);
  const places = new Map<string, PathLocation>();
  for (const path of spelled) {
    const place = pathInsideRoots(roots, path, platform);
    if (place) places.set(style.join(place.root.realPath, ...place.segments), place);
  }
  if (places.size === 0) {
    const hint = style.isAbsolute(input) ? ' Paths are relative to the workspace folder, like "src/main.ts".' : '';
    throw refuse('OUTSIDE', `${quoted(input)} is outside the workspace.${hint}`);
  }
  const found = [...places.values()];
  for (const { segments } of found) checkNames(segments, input, platform);
  return found;
}

/**
 * The place below a root that an absolute path points at, by its spelling or the root's real one; undefined: outside. Of
 * roots inside of each other the first counts, but a mount inside of a folder is a mount, however it is reached.
 */
export function pathInsideRoots(
  roots: readonly RealRoot[],
  path: string,
  platform: string = process.platform,
): PathLocation | undefined {
  const style = platform === 'win32' ? paths.win32 : paths.posix;
  const folds = platform === 'win32' || platform === 'darwin';
  const split = (text: string) => style.resolve(text).split(style.sep).filter(Boolean);
  const wanted = split(path);
  let found: { root: RealRoot; depth: number } | undefined;
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

/** What the open folders are called together where there are mounts beside them. */
const projectName = '@project';

/** A path as results have it and messages say it: where there are mounts, `@project/x` is x. */
export function withoutProject(roots: readonly WorkspaceRoot[], input: string): string {
  if (typeof input !== 'string' || foldersOf(roots).length === roots.length) return input;
  const found = /^(?:\.\/+)*@project(?:\/+|$)/.exec(input);
  return found ? input.slice(found[0].length) || '.' : input;
}

/** With several folders open, paths begin with the folder's name; a name always wins over a folder inside another root. */
function relativeSpellings(roots: readonly RealRoot[], input: string, style: paths.PlatformPath): string[] {
  const names = style.normalize(input).split(style.sep);
  const folders = foldersOf(roots);
  const isProject = folders.length < roots.length && names[0] === projectName;
  const [first, ...rest] = isProject ? names.slice(1) : names;
  const named = folders.length > 1 ? folders.filter((root) => root.name === first) : [];
  if (named.length > 0) return named.map((root) => style.join(root.realPath, ...rest));
  return folders.map((root) => style.resolve(root.realPath, isProject ? names.slice(1).join(style.sep) : input));
}

function checkSpelling(input: string, platform: string): void {
  if (input.includes('\0')) throw refuse('PATH_INVALID', 'A path cannot hold a NUL character.');
  if (input.length > 4096) throw refuse('PATH_INVALID', 'The path is longer than 4,096 characters.');
  if (/^[a-z][a-z0-9+.-]+:[\\/]/i.test(input))
    throw refuse('PATH_INVALID', `${quoted(input)} is an address, not a path. Paths look like "src/main.ts".`);
  if (platform !== 'win32') return;
  if (/^[\\/]{2}[.?][\\/]|^[\\/]\?\?[\\/]|^[\\/][a-z]:/i.test(input))
    throw refuse('PATH_INVALID', `${quoted(input)} is not a file's path.`);
  // Both would be resolved against something other than the workspace: a current folder per drive, another machine.
  if (/^[a-z]:(?![\\/])/i.test(input) || /^[\\/]{2}/.test(input))
    throw refuse('OUTSIDE', `${quoted(input)} is outside the workspace.`);
}

function checkNames(segments: readonly string[], input: string, platform: string): void {
  if (segments.some((segment) => Buffer.byteLength(segment) > 255))
    throw refuse('PATH_INVALID', 'A name in the path is longer than 255 bytes.');
  const odd =
    platform === 'win32'
      ? segments.find((segment) => notPortable(segment) || /~\d/.test(segment))
      : platform === 'darwin'
        ? segments.find((segment) => segment === '..namedfork')
        : undefined;
  if (odd !== undefined) throw refuse('PATH_INVALID', `${quoted(input)} is not a file's path on this system.`);
}

/** A question must not lie: no name that is drawn as nothing, as something else, or in another order. */
export function checkShowable(segments: readonly string[]): void {
  if (segments.some((segment) => invisible.test(segment)))
    throw refuse('PATH_INVALID', 'The path holds control or invisible characters. Spell it with visible ones.');
}

/** Control, format (bidi, zero-width, tags) and lone surrogate characters, and fillers that are drawn as nothing. */
// biome-ignore lint/suspicious/noMisleadingCharacterClass: these are single code points, wanted one by one
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0]/u;

/** Names that vanish, change or mean a device on some system: fine to read where they exist, never made new. */
export const notPortable = (segment: string) =>
  /[. ]$|[<>:"|?*\\]/.test(segment) || /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(segment);

/** Text of a model inside a message: escaped and short. */
export const quoted = (text: string) => {
  const escaped = JSON.stringify(text).replace(/[^\x20-\x7e\p{L}\p{N}\p{P}\p{S}]/gu, '?');
  return escaped.length > 160 ? `${escaped.slice(0, 160)}…"` : escaped;
};
