import { posix } from 'node:path';
import { didYouMean } from '../core/didYouMean.ts';
import { createPathRefusal, quoteForMessage } from '../core/pathSyntax.ts';
import { isLeftoverTempFile } from '../core/tempFiles.ts';
import { ToolError } from '../core/tool.ts';
import type { VirtualFiles, VirtualFolder } from '../core/workspace.ts';
import { secretFileReason } from '../policy/secretFiles.ts';
import type { ResolvedPath } from './paths.ts';

export type VirtualOperation = 'read' | 'list' | 'search';

export const virtualFoldersReadOnlyReason =
  'The folders of this window are virtual, on no disk of this machine: files are read, listed and searched here, and nothing is changed or run.';

/**
 * `resolvePath` for virtual folders: walks segment by segment, and never through a link, whose target is unknown here. The resulting `path`
 * is a URI.
 */
export async function resolveVirtualPath(
  virtual: VirtualFiles,
  input: string,
  operation: VirtualOperation,
): Promise<ResolvedPath> {
  const { folder, names } = locationOf(virtual, input);
  let found = await virtual.look(folder.address);
  let above = folder.address;
  for (const [at, name] of names.entries()) {
    if (found?.kind !== 'folder') throw notFound(input);
    const address = virtual.below(folder.address, names.slice(0, at + 1));
    found = await virtual.look(address);
    if (!found) throw notFound(input, didYouMean(name, (await namesIn(virtual, above)).slice(0, 5000)));
    if (found.kind === 'link')
      throw createPathRefusal(
        'SYMLINK_ESCAPE',
        `${quoteForMessage(input)} goes through a link; in a virtual workspace none is followed.`,
      );
    above = address;
  }
  if (!found) throw notFound(input);
  const { kind, size } = found;
  if (operation === 'read' && kind === 'folder')
    throw createPathRefusal('NOT_A_FILE', `${quoteForMessage(input)} is a folder. Use fs.list for it.`);
  if (kind === 'other') throw createPathRefusal('NOT_A_FILE', `${quoteForMessage(input)} is not a plain file.`);
  if (operation === 'list' && kind !== 'folder')
    throw createPathRefusal(
      'NOT_A_DIRECTORY',
      `${quoteForMessage(input)} is a file, not a folder. Use fs.read for it.`,
    );
  const why = operation === 'list' ? undefined : secretFileReason(names);
  return {
    path: virtual.below(folder.address, names),
    relative: relativeTo(virtual, folder, names),
    kind: kind === 'folder' ? 'folder' : 'file',
    size: kind === 'file' ? size : 0,
    ...(why && { protected: why }),
  };
}

/** Returns the workspace-relative form of a URI; undefined if outside of the folders. */
export function workspacePathOfUri(virtual: VirtualFiles, address: string): string | undefined {
  for (const folder of virtual.folders) {
    const base = virtual.below(folder.address, []);
    if (address === base) return relativeTo(virtual, folder, []);
    const begin = base.endsWith('/') ? base : `${base}/`;
    if (!address.startsWith(begin)) continue;
    const names = address.slice(begin.length).split('/').map(decoded);
    if (virtual.below(folder.address, names) === address) return relativeTo(virtual, folder, names);
  }
  return undefined;
}

function locationOf({ folders }: VirtualFiles, input: string): { folder: VirtualFolder; names: string[] } {
  if (typeof input !== 'string' || input === '') throw new ToolError('TOOL_ARGS_INVALID', 'path: give a path as text.');
  if (input.length > 4096 || /[\0\\]/.test(input) || /^[a-z][a-z0-9+.-]+:/i.test(input))
    throw createPathRefusal(
      'PATH_INVALID',
      `${quoteForMessage(input)} is not a path here. Paths look like "src/main.ts".`,
    );
  const names = posix
    .normalize(input)
    .split('/')
    .filter((name) => name !== '' && name !== '.');
  if (input.startsWith('/') || names.includes('..'))
    throw createPathRefusal(
      'OUTSIDE',
      `${quoteForMessage(input)} is outside the workspace. Paths are relative to it, like "src/main.ts".`,
    );
  const [only] = folders;
  if (folders.length === 1) return { folder: only!, names };
  const folder = folders.find(({ name }) => name === names[0]);
  if (folder) return { folder, names: names.slice(1) };
  const some = folders.map(({ name }) => `"${name}/…"`).join(' or ');
  throw createPathRefusal(
    'AMBIGUOUS_ROOT',
    `${quoteForMessage(input)} could be in several folders. Begin with the folder: ${some}.`,
  );
}

const relativeTo = ({ folders }: VirtualFiles, folder: VirtualFolder, names: readonly string[]): string =>
  [...(folders.length > 1 ? [folder.name] : []), ...names].join('/') || '.';

const namesIn = async (virtual: VirtualFiles, address: string): Promise<string[]> =>
  (await virtual.list(address).catch(() => [])).map(({ name }) => name).filter((name) => !isLeftoverTempFile(name));

const notFound = (input: string, hint = '') =>
  new ToolError('ENOENT', `${quoteForMessage(input)} does not exist.${hint || ' Use fs.find to look for it.'}`);

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
