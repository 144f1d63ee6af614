import { lstat } from 'node:fs/promises';
import * as paths from 'node:path';
import * as z from 'zod';
import { type PathLocation, pathInsideRoots, pathLocations, type ResolvedWorkspaceRoot } from '../core/pathSyntax.ts';
import type { Tool } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import { isNamedRoot, resolvePath, resolveWorkspaceRoots } from '../sandbox/paths.ts';

/**
 * Normalizes paths in arguments: absolute paths inside of a folder become relative, surrounding blanks are removed if no such file exists,
 * and `/x` becomes `x` if nothing else can be meant. Other paths stay unchanged, and the gate decides.
 */
export async function normalizeArgumentPaths<Arguments>(
  args: Arguments,
  tool: Tool,
  workspace: Workspace,
): Promise<Arguments> {
  if (workspace.virtual) return args;
  const given = args as Record<string, unknown>;
  const changed = new Map<string, string>();
  for (const name of pathNames(tool)) {
    const value = given[name];
    if (typeof value !== 'string') continue;
    const plain = await normalizePath(workspace, value);
    if (plain !== value) changed.set(name, plain);
  }
  return changed.size === 0 ? args : (Object.freeze({ ...args, ...Object.fromEntries(changed) }) as Arguments);
}

function pathNames({ arguments: schema }: Tool): string[] {
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([name, part]) => ((part as z.ZodType).meta()?.path ? [name] : []));
}

export async function normalizePath({ roots }: Pick<Workspace, 'roots'>, input: string): Promise<string> {
  const trimmed = await withoutBlanks(roots, input);
  if (!paths.isAbsolute(trimmed)) return trimmed;
  const real = await resolveWorkspaceRoots(roots);
  const location = pathInsideRoots(real, trimmed);
  if (location) return relativeSpelling(real, location, trimmed) ?? trimmed;
  return (await fromRoot(roots, trimmed)) ?? trimmed;
}

async function withoutBlanks(roots: Workspace['roots'], input: string): Promise<string> {
  const trimmed = input.trim();
  if (trimmed === input || trimmed === '' || input.includes('\0')) return input;
  const [first] = input.split(/[\\/]/);
  const exactExists = (await exists(roots, input)) || (/^\s+[^\s\\/]/.test(input) && (await exists(roots, first!)));
  return exactExists ? input : trimmed;
}

function relativeSpelling(
  roots: readonly ResolvedWorkspaceRoot[],
  location: PathLocation,
  input: string,
): string | undefined {
  const names = [...(isNamedRoot(roots, location.root) ? [location.root.name] : []), ...location.segments];
  const end = names.length > 0 && /[\\/]$/.test(input) ? '/' : '';
  const relative = `${names.join('/') || '.'}${end}`;
  try {
    const [only, ...others] = pathLocations(roots, relative);
    const isSame = only?.root === location.root && only.segments.join('/') === location.segments.join('/');
    return isSame && others.length === 0 ? relative : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns `x` for `/x` if `x` exists in the workspace and nothing exists at `/x`; for a new file, the parent folders are compared. The disk
 * outside is checked only if the workspace has a match.
 */
async function fromRoot(roots: Workspace['roots'], input: string): Promise<string | undefined> {
  if (!/^\/[^/\\]/.test(input) || /(^|[\\/])\.\.([\\/]|$)/.test(input)) return undefined;
  const relative = input.slice(1);
  if (await exists(roots, relative)) return (await isNowhere(input)) ? relative : undefined;
  const folder = paths.posix.dirname(relative);
  if (folder === '.' || !(await exists(roots, folder))) return undefined;
  return (await isNowhere(`/${folder}`)) ? relative : undefined;
}

const exists = (roots: Workspace['roots'], path: string): Promise<boolean> =>
  resolvePath(roots, path, 'stat').then(
    ({ kind }) => kind !== 'missing',
    () => false,
  );

const isNowhere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => false,
    ({ code }: NodeJS.ErrnoException) => code === 'ENOENT' || code === 'ENOTDIR',
  );
